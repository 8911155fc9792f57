// Builds the documentation while the products run, in a tree of its own. The generator takes 100 MB and some ten seconds,
// which nobody should wait for before the first answer, and its installation must not touch packages that are in use.
//   node scripts/documentation.mjs           builds it now, if its pages have changed
//   node scripts/documentation.mjs --quiet   waits until the machine has time, and takes only time that nobody else wants
import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import { cpus, setPriority } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isSiteBuilt, out } from "../site/scripts/built.mjs";
import { forUsers, isAlive, npmInstall } from "./install.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const treePrefix = ".tree-";
const longestWaitMs = 60_000;

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  await main(process.argv.includes("--quiet"));

/** Starts the build beside the program of this process. It ends with this process, and npm with it. */
export function buildBeside() {
  const isGroup = process.platform !== "win32";
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "--quiet"], {
    stdio: ["ignore", "ignore", "inherit"],
    // A group of its own, so that npm and the generator can be ended with it.
    detached: isGroup,
    windowsHide: true,
  });
  child.unref();
  process.on("exit", () => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    try {
      process.kill(isGroup ? -child.pid : child.pid);
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  });
}

async function main(isQuiet) {
  if (isSiteBuilt()) return;
  if (isQuiet) {
    setPriority(19);
    await idleMachine();
    if (isSiteBuilt()) return;
  }
  removeDeadTrees();
  if (isBeingBuilt()) return;
  const began = Date.now();
  const failure = existsSync(join(root, "node_modules", "vitepress")) ? buildAt(root) : buildInTree();
  if (failure === null)
    console.error(`Documentation built in ${((Date.now() - began) / 1000).toFixed(0)} s; it is at /docs.`);
  else {
    console.error(`The documentation was not built: ${failure}. Run: node scripts/documentation.mjs`);
    process.exitCode = 1;
  }
}

/** Waits until half of the processors' time is free for two seconds, but no longer than a minute. */
async function idleMachine() {
  const end = Date.now() + longestWaitMs;
  for (let free = 0, before = times(); free < 2 && Date.now() < end; ) {
    await delay(1_000);
    const now = times();
    free = (now.idle - before.idle) / (now.all - before.all) > 0.5 ? free + 1 : 0;
    before = now;
  }
}

function times() {
  const sum = { idle: 0, all: 0 };
  for (const { times } of cpus()) {
    sum.idle += times.idle;
    for (const time of Object.values(times)) sum.all += time;
  }
  return sum;
}

/** With the packages that are installed there. Returns what went wrong, or null. */
function buildAt(folder) {
  const script = join(folder, "site/scripts/build.mjs");
  return failureOf(
    spawnSync(process.execPath, [script], { cwd: folder, encoding: "utf8", windowsHide: true }),
  );
}

/** The lock file and the manifests give the tree the versions that the repository names. */
function buildInTree() {
  const tree = join(root, "site", `${treePrefix}${process.pid}`);
  try {
    const { workspaces } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const parts = [
      "package.json",
      "package-lock.json",
      ...workspaces.map((name) => `${name}/package.json`),
      "docs",
      "builds/stamp.mjs",
      "site/.vitepress",
      "site/scripts",
    ];
    mkdirSync(tree);
    for (const part of parts) cpSync(join(root, part), join(tree, part), { recursive: true });
    const installed = failureOf(npmInstall([...forUsers, "--workspace=site"], tree, "pipe"));
    if (installed !== null) return installed;
    const built = buildAt(tree);
    if (built !== null) return built;
    rmSync(out, { recursive: true, force: true });
    renameSync(join(tree, "site/dist"), out);
    return null;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** The last lines that a program wrote before it failed, or null if it did not. */
function failureOf({ status, stderr, error }) {
  if (status === 0) return null;
  const lines = (stderr ?? "").split("\n").filter((line) => line.trim() !== "");
  return lines.slice(-3).join("; ") || error?.message || `exit code ${status}`;
}

function trees() {
  return readdirSync(join(root, "site"))
    .filter((name) => name.startsWith(treePrefix))
    .map((name) => ({ path: join(root, "site", name), pid: Number(name.slice(treePrefix.length)) }));
}

/** A tree names the process that builds in it. */
function removeDeadTrees() {
  for (const { path, pid } of trees())
    if (pid !== process.pid && !isAlive(pid)) rmSync(path, { recursive: true, force: true });
}

function isBeingBuilt() {
  return trees().some(({ pid }) => pid !== process.pid);
}
