// Installs only missing packages. It has no dependencies, because it runs before any are installed. It runs on any
// Node, because a new machine may have an old one and Node 24 is one of the packages.
//   node scripts/install.mjs            installs everything, including tests and checks
//   node scripts/install.mjs tests      installs everything but the tools of the documentation
//   node scripts/install.mjs runtime    installs what the products need, and the tools that build the console if it is stale
//   node scripts/install.mjs locallm    installs what locallm needs
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isConsoleBuilt } from "../dataq/console/scripts/built.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const lock = join(root, ".install.lock");
const stamp = join(root, "node_modules", ".installed");
/** Without the second option npm installs TypeScript and vitest too, because packages name them as optional peers. */
export const forUsers = ["--omit=dev", "--legacy-peer-deps"];
const products = [
  "autostart",
  "dataq/client",
  "dataq/console",
  "dataq/contract",
  "dataq/service",
  "locallm",
  "package-index",
  "site-files",
  "updates",
];
/** The tools of the documentation are not among them: documentation.mjs installs those in a tree of its own. */
const workspaces = {
  locallm: ["autostart", "locallm", "package-index", "site-files", "updates"],
  runtime: products,
  tests: products,
};
/** Each has the packages of those before it. "lean" has fewer than "runtime", but is never asked for. */
const levels = ["locallm", "runtime", "tests", "everything"];

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  await main(levels.includes(process.argv[2]) ? process.argv[2] : "everything");

async function main(level) {
  refuseOldNode();
  if (isInstalled(level)) return;
  // An installation with more packages keeps them when only versions change.
  const wanted = rank(readStamp().level) > rank(level) ? readStamp().level : level;
  await underLock(() => isInstalled(wanted) || install(wanted));
}

/**
 * Runs `change` under a lock, because only one process at a time may change the installed packages or build
 * with them.
 */
export async function underLock(change) {
  takeLock();
  try {
    await change();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function refuseOldNode() {
  const hasPinnedNode = process.platform === "linux" && ["x64", "arm64"].includes(process.arch);
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (hasPinnedNode || major > 24 || (major === 24 && minor >= 12)) return;
  console.error(
    `This machine (${process.platform} ${process.arch}) needs its own Node 24.12 or newer; it has ${process.versions.node}. Install it from your package manager and run the command again.`,
  );
  process.exit(1);
}

function fingerprint() {
  const hash = createHash("sha256");
  for (const file of ["package-lock.json", "package.json"]) hash.update(readFileSync(join(root, file)));
  return `${hash.digest("hex")} ${process.platform} ${process.arch}`;
}

function rank(level) {
  return levels.indexOf(level);
}

/**
 * Returns "everything", "tests", "runtime", "locallm", or "lean", which is "runtime" without what prune.mjs removes. Returns
 * null if the packages are outdated.
 */
export function installedLevel() {
  const { level, print } = readStamp();
  return print === fingerprint() ? level : null;
}

function readStamp() {
  if (!existsSync(stamp)) return { level: null, print: null };
  const [level, ...print] = readFileSync(stamp, "utf8").trim().split(" ");
  return { level, print: print.join(" ") };
}

export function markInstalled(level) {
  writeFileSync(stamp, `${level} ${fingerprint()}\n`);
}

function isInstalled(level) {
  const installed = installedLevel();
  if (installed === "lean") return level === "locallm" || (level === "runtime" && isConsoleBuilt());
  return installed !== null && rank(installed) >= rank(level);
}

function install(level) {
  const begin = Date.now();
  console.log(`Installing packages (${level}); the first time takes about half a minute …`);
  const chosen = (workspaces[level] ?? []).map((name) => `--workspace=${name}`);
  const { status } = npmInstall([
    ...(rank(level) >= rank("tests") ? ["--include=dev"] : forUsers),
    ...(chosen.length > 0 ? ["--include-workspace-root", ...chosen] : []),
  ]);
  if (status !== 0) {
    console.error("npm install failed; see its message above. Fix the cause and run the command again.");
    process.exitCode = 1;
    return;
  }
  markInstalled(level);
  console.log(`Packages installed in ${((Date.now() - begin) / 1000).toFixed(0)} s.`);
}

/**
 * Installs in `folder` what its lock file says of `what`, npm's options that choose. Returns how npm ended, with its
 * messages if `stdio` is "pipe".
 */
export function npmInstall(what, folder = root, stdio = "inherit") {
  // `npm ci` would reject a lock file that was written without access to the builds for other platforms.
  // `npm pack --json` passes its setting on to the scripts that it runs.
  const options = ["install", "--loglevel=error", "--no-save", "--json=false", ...what];
  // What the cache knows need not be asked again: this saves a request for each package. But the cache may be older
  // than a version in the lock file.
  const quick = npm([...options, "--prefer-offline"], folder, stdio);
  if (quick.status === 0) return quick;
  console.error("The installation from npm's cache failed; trying again without it …");
  return npm(options, folder, stdio);
}

function npm(options, cwd, stdio) {
  const own = process.env.npm_execpath;
  return own
    ? spawnSync(process.execPath, [own, ...options], { cwd, stdio, encoding: "utf8" })
    : spawnSync("npm", options, { cwd, stdio, encoding: "utf8", shell: process.platform === "win32" });
}

/** Waits while another process holds the lock. Takes the lock over if that process has died. */
function takeLock() {
  let told = false;
  for (;;) {
    try {
      mkdirSync(lock);
      writeFileSync(join(lock, "pid"), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (isAbandoned()) {
      rmSync(lock, { recursive: true, force: true });
      continue;
    }
    if (!told) console.log("Another install is running in this folder; waiting for it …");
    told = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
  }
}

function isAbandoned() {
  try {
    return !isAlive(Number(readFileSync(join(lock, "pid"), "utf8")));
  } catch {
    // The other process may have created the folder but not yet written its pid, so wait a moment.
    try {
      return Date.now() - statSync(lock).mtimeMs > 5_000;
    } catch {
      return true;
    }
  }
}

/** Whether a process runs, also one of another user. */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (error.code === "EPERM") return true;
    if (error.code === "ESRCH") return false;
    throw error;
  }
}
