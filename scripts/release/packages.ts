import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { packagedService } from "@locallm/autostart";
import { maintainerScripts } from "./maintainer-scripts.ts";
import type { Platform } from "./platforms.ts";
import type { Product } from "./products.ts";
import { NotAvailable } from "./registry.ts";
import { serviceAt } from "./share.ts";
import { foldersOf, type Tree } from "./tree.ts";

export const packagers = ["deb", "rpm"] as const;
type Packager = (typeof packagers)[number];

/** The release of nfpm that the packages are made with. Newer ones need modules that not every Go proxy has. */
const nfpmVersion = "v2.43.4";

/**
 * Makes a package of a system from the files of an archive. It puts them into /usr/lib/<product>, as they are, and adds
 * links, the service, its settings and its user. Returns the path. Throws `NotAvailable` without nfpm.
 */
export function packageOf(
  packager: Packager,
  product: Product,
  platform: Platform,
  tree: Tree,
  version: string,
  time: Date,
  out: string,
): string {
  const nfpm = findNfpm();
  const stage = join(out, `stage.${process.pid}`);
  try {
    const contents = [
      ...installed(stage, packager, product, tree),
      ...service(stage, product),
      {
        src: `/usr/lib/${product.name}/bin/${product.name}`,
        dst: `/usr/bin/${product.name}`,
        type: "symlink",
      },
    ];
    const scripts = Object.entries(maintainerScripts(product)).map(([name, content]) => {
      const path = join(stage, name);
      writeFileSync(path, content, { mode: 0o755 });
      return [name, path] as const;
    });
    const settings = {
      name: product.name,
      arch: platform.cpu === "x64" ? "amd64" : "arm64",
      platform: "linux",
      version,
      release: "1",
      section: "net",
      maintainer: "The locallm and dataq authors <packages@localhost>",
      description: product.description,
      license: "MIT",
      mtime: time.toISOString(),
      depends:
        packager === "deb"
          ? [`libc6 (>= ${product.glibc})`, "libstdc++6"]
          : [`glibc >= ${product.glibc}`, "libstdc++"],
      scripts: Object.fromEntries(scripts),
      contents,
      deb: { compression: "gzip" },
      rpm: { compression: "gzip:9", buildhost: "localhost" },
    };
    const config = join(stage, "nfpm.yaml");
    // JSON is YAML.
    writeFileSync(config, JSON.stringify(settings));
    const target = join(out, nameOf(packager, product, platform, version));
    rmSync(target, { force: true });
    execFileSync(nfpm, ["package", "--config", config, "--packager", packager, "--target", target], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(time.getTime() / 1000) },
      stdio: ["ignore", "ignore", "inherit"],
    });
    return target;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function nameOf(packager: Packager, { name }: Product, { cpu }: Platform, version: string): string {
  return packager === "deb"
    ? `${name}_${version}_${cpu === "x64" ? "amd64" : "arm64"}.deb`
    : `${name}-${version}-1.${cpu === "x64" ? "x86_64" : "aarch64"}.rpm`;
}

interface Content {
  readonly src?: string;
  readonly dst: string;
  readonly type?: string;
  readonly file_info?: { readonly mode?: number; readonly owner: string; readonly group: string };
}

const asRoot = { owner: "root", group: "root" };

/** The files of the archive; `share/` goes where the system looks for manuals and completions. */
function installed(stage: string, packager: Packager, { name }: Product, tree: Tree): Content[] {
  const placeOf = (path: string) =>
    path.startsWith("share/") ? `/usr/${path.replace(...zshFolder(packager))}` : `/usr/lib/${name}/${path}`;
  const folders = foldersOf([...tree.keys()].filter((path) => !path.startsWith("share/")));
  const contents: Content[] = ["", ...folders.map((path) => `/${path}`)].map((path) => ({
    dst: `/usr/lib/${name}${path}`,
    type: "dir",
    file_info: { ...asRoot, mode: 0o755 },
  }));
  for (const [path, entry] of tree) {
    if ("link" in entry) {
      contents.push({ src: entry.link, dst: placeOf(path), type: "symlink" });
      continue;
    }
    const file = join(stage, "files", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, entry.bytes);
    contents.push({
      src: file,
      dst: placeOf(path),
      file_info: { ...asRoot, mode: entry.isProgram ? 0o755 : 0o644 },
    });
  }
  return contents;
}

/** Debian's zsh looks for completions of packages in a folder of its own. */
function zshFolder(packager: Packager): [string, string] {
  return ["zsh/site-functions", packager === "deb" ? "zsh/vendor-completions" : "zsh/site-functions"];
}

/** The service runs from the copy that `maintainerScripts` makes. Settings are the user's once they are installed: an upgrade keeps changes. */
function service(stage: string, product: Product): Content[] {
  return packagedService(serviceAt(product, `/usr/lib/${product.name}/run/now`)).map(
    ({ path, text, mode }) => {
      const file = join(stage, "service", path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return {
        src: file,
        dst: path,
        ...(path.startsWith("/etc/") && { type: "config|noreplace" }),
        file_info: { ...asRoot, mode },
      };
    },
  );
}

function findNfpm(): string {
  for (const nfpm of ["nfpm", join(homedir(), "go", "bin", "nfpm")])
    if (spawnSync(nfpm, ["--version"]).status === 0) return nfpm;
  throw new NotAvailable(
    `nfpm is not installed; install it with: go install github.com/goreleaser/nfpm/v2/cmd/nfpm@${nfpmVersion}`,
  );
}
