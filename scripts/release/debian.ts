import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createSmallStore } from "../../locallm/test/model-store.ts";
import { starterName, starterStore } from "../../locallm/test/starter-model.ts";

/** The user in the sandbox. PostgreSQL runs only for users that the system knows. */
export const user = 12_345;

/** Installs, upgrades under load, downgrades, removes and purges the packages on a Debian that systemd runs. */
export async function onDebian(archives: string, print: (line: string) => void): Promise<void> {
  const system = bareSystem();
  const packages = readdirSync(archives).filter((name) => name.endsWith(`_${debianNames[process.arch]}.deb`));
  if (system === null || packages.length < 2) {
    print("\nThe packages were not installed: that needs root, debootstrap, and nfpm to make them.");
    return;
  }
  const place = mkdtempSync("/var/tmp/debian-proof-");
  const root = join(place, "system");
  const small = await createSmallStore();
  let booted: ChildProcess | undefined;
  try {
    execFileSync("cp", ["-a", system, root]);
    const bring =
      "apt-get update -qq && apt-get install -y -qq --no-install-recommends systemd systemd-sysv dbus";
    execFileSync("chroot", [root, "sh", "-c", bring], { stdio: "ignore", env: noQuestions });
    const folder = join(root, "root/packages");
    for (const name of ["old", "new"]) mkdirSync(join(folder, name), { recursive: true });
    for (const name of packages) {
      cpSync(join(archives, name), join(folder, "old", name));
      raiseVersion(join(archives, name), join(folder, "new", name), join(place, "repacked"));
    }
    const starter = await starterStore();
    cpSync(starter ?? small.folder, join(folder, "models"), { recursive: true });
    for (const name of ["load.mjs", "on-debian.sh"])
      cpSync(join(fileURLToPath(new URL(".", import.meta.url)), name), join(folder, name));
    const boot = fileURLToPath(new URL("boot-debian.sh", import.meta.url));
    const own = ["--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--fork", "--kill-child"];
    booted = spawn("unshare", [...own, "sh", boot, root], { stdio: "ignore" });
    const inside = await processOne(booted.pid!, root);
    print("\n| on a Debian with systemd | seen |\n|---|---|");
    const command = [
      "sh",
      "/root/packages/on-debian.sh",
      "/root/packages",
      starter === null ? "small:a" : starterName,
    ];
    const ran = spawnSync("nsenter", [...inside, ...command], { encoding: "utf8", env: noQuestions });
    print(ran.stdout.trimEnd());
    if (ran.status !== 0) throw new Error(`The packages failed:\n${ran.stderr}`);
  } finally {
    if (booted !== undefined) {
      booted.kill("SIGKILL");
      await once(booted, "exit");
    }
    rmSync(place, { recursive: true, force: true });
    await small.remove();
  }
}

const debianNames: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };
const noQuestions = {
  PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  DEBIAN_FRONTEND: "noninteractive",
};

/** The same package as the next version, since there is no earlier release to upgrade from. */
function raiseVersion(from: string, to: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  execFileSync("dpkg-deb", ["-R", from, folder]);
  const control = join(folder, "DEBIAN/control");
  writeFileSync(control, readFileSync(control, "utf8").replace(/^Version: .*$/m, "Version: 99.0.0-1"));
  execFileSync("dpkg-deb", ["-Zgzip", "-z1", "--root-owner-group", "-b", folder, to], { stdio: "ignore" });
}

/** How nsenter reaches the systemd that was booted, when it answers. */
async function processOne(parent: number, root: string): Promise<string[]> {
  for (let tries = 0; tries < 300; tries++) {
    await sleep(200);
    const path = `/proc/${parent}/task/${parent}/children`;
    const [child] = existsSync(path) ? readFileSync(path, "utf8").split(" ") : [];
    if (child === undefined || child === "") continue;
    const inside = [
      "-t",
      child,
      "-m",
      "-p",
      "-n",
      "-u",
      "-i",
      "-C",
      `--root=/proc/${child}/root`,
      "--wd=/root",
    ];
    const state = spawnSync("nsenter", [...inside, "systemctl", "is-system-running"], {
      encoding: "utf8",
      env: noQuestions,
    });
    if (/running|degraded/.test(state.stdout)) return inside;
  }
  throw new Error(`The systemd in ${root} did not start.`);
}

/** A minimal Debian, made once. Null where it cannot be made. */
export function bareSystem(): string | null {
  if (process.getuid?.() !== 0) return null;
  // Not in root's home, which the user of the sandbox may not enter.
  const kept = "/var/cache/locallm-test/debian-bookworm";
  if (existsSync(kept)) return kept;
  mkdirSync(dirname(kept), { recursive: true });
  const partial = `${kept}.${process.pid}`;
  const made = spawnSync("debootstrap", ["--variant=minbase", "bookworm", partial], { stdio: "ignore" });
  if (made.status !== 0) {
    rmSync(partial, { recursive: true, force: true });
    return null;
  }
  execFileSync("chroot", [partial, "useradd", "--uid", String(user), "--create-home", "u"]);
  renameSync(partial, kept);
  return kept;
}
