import { products } from "./products.ts";

/** A release: where its files are, and the digest of each archive by its name. */
export interface Published {
  readonly version: string;
  /** Without a slash at its end. */
  readonly address: string;
  readonly digests: ReadonlyMap<string, string>;
}

/** Texts for the package managers of others, by their paths. What has no archive is left out. */
export function manifestsOf(release: Published): Map<string, string> {
  const made = new Map<string, string>();
  for (const product of products) {
    const archive = (platform: string, kind = "tar.gz") => {
      const file = `${product.name}-${release.version}-${platform}.${kind}`;
      const sha256 = release.digests.get(file);
      return sha256 === undefined ? null : { file, url: `${release.address}/${file}`, sha256 };
    };
    const known = { ...product, version: release.version, address: release.address, archive };
    const texts: Record<string, string | null> = {
      [`homebrew/${product.name}.rb`]: homebrew(known),
      [`aur/${product.name}-bin/PKGBUILD`]: pkgbuild(known),
      [`nix/${product.name}/flake.nix`]: flake(known),
      [`scoop/${product.name}.json`]: scoop(known),
      ...winget(known),
    };
    for (const [path, text] of Object.entries(texts)) if (text !== null) made.set(path, text);
  }
  return made;
}

interface Known {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly address: string;
  archive(platform: string, kind?: string): { file: string; url: string; sha256: string } | null;
}

function homebrew({ name, description, version, address, archive }: Known): string {
  const className = `${name[0]!.toUpperCase()}${name.slice(1)}`;
  const systems = [
    ["macos", "darwin"],
    ["linux", "linux"],
  ].flatMap(([on, system]) => {
    const processors = [
      ["arm", "arm64"],
      ["intel", "x64"],
    ].flatMap(([processor, cpu]) => {
      const found = archive(`${system}-${cpu}`);
      return found === null
        ? []
        : [`    on_${processor} do\n      url "${found.url}"\n      sha256 "${found.sha256}"\n    end`];
    });
    return processors.length === 0 ? [] : [`  on_${on} do\n${processors.join("\n")}\n  end`];
  });
  return `class ${className} < Formula
  desc "${description}"
  homepage "${address}/"
  version "${version}"
  license "MIT"

${systems.join("\n\n")}

  def install
    libexec.install Dir["*"]
    bin.install_symlink libexec/"bin/${name}"
  end

  service do
    run [opt_bin/"${name}", "serve"]
    keep_alive true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/${name} --version")
  end
end
`;
}

function pkgbuild({ name, description, version, archive }: Known): string | null {
  const [x64, arm64] = [archive("linux-x64"), archive("linux-arm64")];
  if (x64 === null || arm64 === null) return null;
  return `# Not published yet.
pkgname=${name}-bin
pkgver=${version.replaceAll("-", "_")}
pkgrel=1
pkgdesc="${description}"
arch=('x86_64' 'aarch64')
license=('MIT')
depends=('glibc' 'gcc-libs')
provides=('${name}')
conflicts=('${name}')
options=('!strip')
source_x86_64=("${x64.url}")
sha256sums_x86_64=('${x64.sha256}')
source_aarch64=("${arm64.url}")
sha256sums_aarch64=('${arm64.sha256}')

package() {
  install -d "$pkgdir/usr/lib/${name}" "$pkgdir/usr/bin"
  cp -a "$srcdir"/${name}-${version}-linux-*/. "$pkgdir/usr/lib/${name}/"
  ln -s /usr/lib/${name}/bin/${name} "$pkgdir/usr/bin/${name}"
  install -Dm644 "$pkgdir/usr/lib/${name}/LICENSE" "$pkgdir/usr/share/licenses/$pkgname/LICENSE"
}
`;
}

function flake({ name, description, version, archive }: Known): string | null {
  const systems = [
    ["x86_64-linux", "linux-x64"],
    ["aarch64-linux", "linux-arm64"],
  ].flatMap(([system, platform]) => {
    const found = archive(platform!);
    return found === null
      ? []
      : [`        ${system} = { url = "${found.url}"; sha256 = "${found.sha256}"; };`];
  });
  if (systems.length === 0) return null;
  return `{
  description = "${description}";
  inputs.nixpkgs.url = "nixpkgs";
  outputs = { self, nixpkgs }:
    let
      archives = {
${systems.join("\n")}
      };
    in {
      packages = builtins.mapAttrs (system: archive:
        let pkgs = nixpkgs.legacyPackages.\${system}; in {
          default = pkgs.stdenv.mkDerivation {
            pname = "${name}";
            version = "${version}";
            src = pkgs.fetchurl archive;
            nativeBuildInputs = [ pkgs.autoPatchelfHook ];
            buildInputs = [ pkgs.stdenv.cc.cc.lib ];
            autoPatchelfIgnoreMissingDeps = true;
            dontStrip = true;
            installPhase = ''
              mkdir -p $out/lib/${name} $out/bin
              cp -a . $out/lib/${name}/
              ln -s $out/lib/${name}/bin/${name} $out/bin/${name}
            '';
          };
        }) archives;
    };
}
`;
}

function scoop({ name, description, version, address, archive }: Known): string | null {
  const found = archive("win-x64", "zip");
  if (found === null) return null;
  const manifest = {
    version,
    description,
    homepage: address,
    license: "MIT",
    architecture: {
      "64bit": { url: found.url, hash: found.sha256, extract_dir: found.file.replace(/\.zip$/, "") },
    },
    bin: `bin\\${name}.cmd`,
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** JSON is YAML. */
function winget({ name, description, version, address, archive }: Known): Record<string, string> {
  const found = archive("win-x64", "zip");
  if (found === null) return {};
  const common = { PackageIdentifier: `${name}.${name}`, PackageVersion: version, ManifestVersion: "1.6.0" };
  const parts: Record<string, object> = {
    "": { DefaultLocale: "en-US", ManifestType: "version" },
    ".locale.en-US": {
      PackageLocale: "en-US",
      Publisher: `The ${name} authors`,
      PackageName: name,
      License: "MIT",
      ShortDescription: description,
      PackageUrl: address,
      ManifestType: "defaultLocale",
    },
    ".installer": {
      InstallerType: "zip",
      NestedInstallerType: "portable",
      NestedInstallerFiles: [
        {
          RelativeFilePath: `${found.file.replace(/\.zip$/, "")}\\bin\\${name}.cmd`,
          PortableCommandAlias: name,
        },
      ],
      Installers: [
        { Architecture: "x64", InstallerUrl: found.url, InstallerSha256: found.sha256.toUpperCase() },
      ],
      ManifestType: "installer",
    },
  };
  return Object.fromEntries(
    Object.entries(parts).map(([part, more]) => [
      `winget/${name}/${name}.${name}${part}.yaml`,
      `${JSON.stringify({ ...common, ...more }, null, 2)}\n`,
    ]),
  );
}
