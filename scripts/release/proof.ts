import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createSmallStore } from "../../locallm/test/model-store.ts";
import { starterName, starterStore } from "../../locallm/test/starter-model.ts";
import { bareSystem, onDebian, user } from "./debian.ts";
import { withOtherPackagers } from "./other-packagers.ts";
import { newSecretKey, publicKeyOf, signatureOf } from "./signature.ts";

export const title =
  "The release: archives of all platforms, twice the same bytes, and a bare system that runs them";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** Somebody may commit while this runs. */
const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
type Print = (line: string) => void;

/**
 * Makes a release in two clones of this commit and runs it on a Debian that has nothing else. With `--archives FOLDER`,
 * runs a release that is there.
 */
export async function run(print: Print, _results: string, options: readonly string[]): Promise<void> {
  const { archives } = parseArgs({ args: [...options], options: { archives: { type: "string" } } }).values;
  if (archives !== undefined) {
    await onBareSystem(archives, print);
    await onDebian(archives, print);
    withOtherPackagers(archives, print);
    return;
  }
  // Not in the repository, where compilers and linters would read the clones.
  const folder = mkdtempSync(join(tmpdir(), "release-"));
  const [first, second] = [join(folder, "first"), join(folder, "第二 个")];
  try {
    for (const line of release(first)) print(line);
    print("");
    const here = `linux-${process.arch}`;
    release(second, "--platform", here);
    print("| made again in another folder | the same bytes |");
    print("|---|---|");
    for (const file of readdirSync(join(second, "release")).filter((name) => name.includes(here))) {
      const same = digest(join(first, "release", file)) === digest(join(second, "release", file));
      print(`| ${file} | ${same ? "yes" : "no"} |`);
      if (!same) throw new Error(`${file} differs between two folders.`);
    }
    print("");
    await onBareSystem(join(first, "release"), print);
    await onDebian(join(first, "release"), print);
    withOtherPackagers(join(first, "release"), print);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Clones this commit, makes the release there, and returns what it says. */
function release(clone: string, ...options: string[]): string[] {
  execFileSync("git", ["clone", "--quiet", root, clone]);
  execFileSync("git", ["checkout", "--quiet", commit], { cwd: clone });
  const output = execFileSync("npm", ["run", "release", "--", ...options], {
    cwd: clone,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return output
    .split("\n")
    .filter((line) => /^(?:locallm|dataq)-|^ {2}more/.test(line))
    .map((line) => `- ${line.trim()}`);
}

function digest(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

async function onBareSystem(archives: string, print: Print): Promise<void> {
  const system = bareSystem();
  if (system === null) {
    print("Not run on a bare system: that needs root, debootstrap and bubblewrap, and Debian's packages.");
    return;
  }
  const place = join("/var/tmp", `release-proof-${process.pid}`);
  const small = await createSmallStore();
  try {
    const [programs, home, models] = ["programs", "home", "models"].map((name) => join(place, name));
    for (const path of [programs!, home!]) mkdirSync(path, { recursive: true });
    for (const file of readdirSync(archives).filter((name) => name.endsWith(`linux-${process.arch}.tar.gz`)))
      execFileSync("tar", ["-xzf", join(archives, file), "-C", programs!]);
    const key = makeNewer(programs!, join(place, "newer"));
    const starter = await starterStore();
    cpSync(starter ?? small.folder, models!, { recursive: true });
    for (const name of ["on-bare-system.sh", "with-installer.sh"])
      cpSync(join(root, "scripts/release", name), join(place, name));
    mkdirSync(join(place, "release"));
    const wanted = new RegExp(`linux-${process.arch}\\.tar\\.|^SHA256SUMS$|^install\\.sh$`);
    for (const name of readdirSync(archives).filter((each) => wanted.test(each)))
      cpSync(join(archives, name), join(place, "release", name));
    execFileSync("chmod", ["-R", "a+rX", place]);
    execFileSync("chown", [`${user}:${user}`, home!]);
    print("| on a Debian without Node, npm and Python, without a network, as a user without rights | seen |");
    print("|---|---|");
    const model = starter === null ? "small:a" : starterName;
    const places = { programs: programs!, home: home!, models: models!, place };
    print(inSandbox(system, places, ["on-bare-system.sh", "/opt/a b 中文", model, key]));
    rmSync(home!, { recursive: true });
    mkdirSync(home!);
    execFileSync("chown", [`${user}:${user}`, home!]);
    print(inSandbox(system, places, ["with-installer.sh", model]));
  } finally {
    rmSync(place, { recursive: true, force: true });
    await small.remove();
  }
}

/** A release of the next version, since there is none to update to. Returns the key that signed it. */
function makeNewer(programs: string, release: string): string {
  mkdirSync(release);
  const secret = newSecretKey();
  const sums = readdirSync(programs).map((name) => {
    const newer = name.replace(/-\d+\.\d+\.\d+-/, "-99.0.0-");
    const folder = join(release, newer);
    execFileSync("cp", ["-a", join(programs, name), folder]);
    const product = name.split("-")[0] as string;
    for (const path of ["release.json", `lib/${product}/package.json`]) {
      const text = readFileSync(join(folder, path), "utf8");
      writeFileSync(join(folder, path), text.replace(/("version": ")[^"]*/, "$199.0.0"));
    }
    const kinds = ["tar.gz", "tar.xz"];
    for (const kind of kinds)
      execFileSync("tar", ["-caf", `${folder}.${kind}`, "-C", release, newer], {
        env: { ...process.env, GZIP: "-1", XZ_OPT: "-1" },
        stdio: "ignore",
      });
    rmSync(folder, { recursive: true });
    return kinds.map((kind) => `${digest(`${folder}.${kind}`)}  ${newer}.${kind}\n`).join("");
  });
  const bytes = Buffer.from(sums.join(""));
  writeFileSync(join(release, "SHA256SUMS"), bytes);
  writeFileSync(join(release, "SHA256SUMS.minisig"), signatureOf(bytes, secret, "a release for a proof"));
  return publicKeyOf(secret);
}

interface Places {
  readonly programs: string;
  readonly home: string;
  readonly models: string;
  /** It has the scripts, the release and a newer one. */
  readonly place: string;
}

function inSandbox(
  system: string,
  { programs, home, models, place }: Places,
  [script, ...words]: readonly [script: string, ...words: string[]],
): string {
  const sandbox = [
    ["--unshare-all", "--die-with-parent", "--clearenv"],
    ["--ro-bind", system, "/", "--proc", "/proc", "--dev", "/dev"],
    ["--tmpfs", "/tmp", "--tmpfs", "/home", "--bind", home, "/home/u"],
    ["--tmpfs", "/opt", "--ro-bind", programs, "/opt/a b 中文"],
    ["--tmpfs", "/srv", "--ro-bind", models, "/srv/models", "--ro-bind", join(place, script), "/srv/run.sh"],
    ["--ro-bind", join(place, "newer"), "/srv/newer", "--ro-bind", join(place, "release"), "/srv/release"],
    // A minimal Debian has the library of xz and not its program.
    ["--ro-bind-try", "/usr/bin/xz", "/srv/bin/xz"],
    ["--setenv", "HOME", "/home/u", "--setenv", "PATH", "/srv/bin:/usr/bin:/bin"],
    ["--setenv", "LOCALLM_MODELS", "/srv/models"],
  ].flat();
  const asUser = [`--reuid=${user}`, `--regid=${user}`, "--clear-groups"];
  const command = ["sh", "/srv/run.sh", ...words];
  const ran = spawnSync("setpriv", [...asUser, "bwrap", ...sandbox, ...command], { encoding: "utf8" });
  if (ran.status !== 0)
    throw new Error(`The bare system failed (${ran.status ?? ran.error}):\n${ran.stdout}${ran.stderr}`);
  return ran.stdout.trimEnd();
}
