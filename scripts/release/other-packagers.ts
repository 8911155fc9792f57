import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { bareSystem, user } from "./debian.ts";
import { manifestsOf } from "./manifests.ts";
import { products } from "./products.ts";

/**
 * Installs, runs and removes the rpm packages with rpm, and those that makepkg builds of our PKGBUILD with pacman, each in
 * a Debian of its own without what they depend on. What this machine has no tool for is said.
 */
export function withOtherPackagers(archives: string, print: (line: string) => void): void {
  const system = bareSystem();
  if (system === null || process.arch !== "x64") {
    print(
      "\nThe packages of others were not installed: that needs root, debootstrap and a processor of x64.",
    );
    return;
  }
  const place = mkdtempSync("/var/tmp/other-packagers-");
  chmodSync(place, 0o755);
  try {
    print("\n| with the tools of others, on a Debian | seen |\n|---|---|");
    for (const [tool, check] of [
      ["rpm", withRpm],
      ["makepkg", withPacman],
    ] as const) {
      const isThere = spawnSync(tool, ["--version"]).status === 0;
      const root = join(place, tool);
      if (isThere) execFileSync("cp", ["-a", system, root]);
      print(`| ${tool} | ${isThere ? check(resolve(archives), root) : "not installed here"} |`);
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function withRpm(archives: string, root: string): string {
  const rpm = (...words: string[]) => execFileSync("rpm", ["--root", root, ...words], { stdio: "ignore" });
  mkdirSync(join(root, "var/lib/rpm"), { recursive: true });
  const seen = products.map(({ name }) => {
    const file = readdirSync(archives).find((each) => each.startsWith(name) && each.endsWith(".x86_64.rpm"));
    if (file === undefined) return `no package of ${name}`;
    rpm("--install", "--nodeps", "--nosignature", join(archives, file));
    const version = versionIn(root, name);
    const hasUser = readFileSync(join(root, "etc/passwd"), "utf8").includes(`\n${name}:`);
    rpm("--erase", "--nodeps", name);
    return `${name} ${version} runs, ${hasUser ? "has its user" : "has no user"}, left after removal: ${left(root, name)}`;
  });
  return seen.join("; ");
}

/** makepkg refuses root, so the user of the bare system builds. */
function withPacman(archives: string, root: string): string {
  const sums = readFileSync(join(archives, "SHA256SUMS"), "utf8").trim().split("\n");
  const digests = new Map(sums.map((line) => [line.slice(66), line.slice(0, 64)]));
  const version = /^locallm-(.+)-linux-x64\.tar\.gz$/m.exec([...digests.keys()].join("\n"))![1]!;
  // Made for both processors; only this one's is built.
  for (const { name } of products) {
    const other = `${name}-${version}-linux-arm64.tar.gz`;
    if (!digests.has(other)) digests.set(other, "0".repeat(64));
  }
  const manifests = manifestsOf({ version, address: "file:///archives", digests });
  const pacman = (...words: string[]) =>
    execFileSync("pacman", ["--root", root, "--dbpath", join(root, "pacman"), "--noconfirm", ...words], {
      stdio: "ignore",
    });
  mkdirSync(join(root, "pacman"));
  const seen = products.map(({ name }) => {
    const folder = join(root, "build", name);
    mkdirSync(folder, { recursive: true });
    const archive = `${name}-${version}-linux-x64.tar.gz`;
    // makepkg takes what lies beside its file.
    cpSync(join(archives, archive), join(folder, archive));
    writeFileSync(join(folder, "PKGBUILD"), manifests.get(`aur/${name}-bin/PKGBUILD`)!);
    execFileSync("chown", ["-R", `${user}:${user}`, folder]);
    execFileSync("setpriv", [`--reuid=${user}`, `--regid=${user}`, "--clear-groups", "makepkg", "--nodeps"], {
      cwd: folder,
      env: { PATH: "/usr/bin:/bin", HOME: folder, PKGEXT: ".pkg.tar" },
      stdio: "ignore",
    });
    pacman("-Udd", join(folder, readdirSync(folder).find((each) => each.endsWith(".pkg.tar"))!));
    const runs = versionIn(root, name);
    pacman("-Rdd", `${name}-bin`);
    rmSync(folder, { recursive: true });
    return `${name} ${runs} runs, left after removal: ${left(root, name)}`;
  });
  return seen.join("; ");
}

function versionIn(root: string, name: string): string {
  const version = execFileSync("chroot", [root, `/usr/bin/${name}`, "--version"], {
    encoding: "utf8",
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  return version.trim();
}

/** Files with the name of the product, but for what root ran and compiled. */
function left(root: string, name: string): string {
  const found = execFileSync(
    "find",
    [root, "-xdev", "-path", `${root}/root`, "-prune", "-o", "-iname", `*${name}*`, "-print"],
    {
      encoding: "utf8",
    },
  );
  const paths = found.split("\n").filter((path) => path !== "" && !path.startsWith(`${root}/build`));
  return paths.length === 0 ? "nothing" : paths.map((path) => path.slice(root.length)).join(", ");
}
