// Builds the code that users run. It writes each package's src/ as plain JavaScript to dist/ and replaces types by
// blanks, so that lines and columns match the source. Data files are copied unchanged. It writes only changed files,
// which takes a few milliseconds if nothing changed. Then it builds the console, unless only locallm is installed.
//   node scripts/build.mjs             builds all packages and the console
//   node scripts/build.mjs locallm     builds the packages in these folders, with declarations (before npm pack)
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import * as nodeModule from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isConsoleBuilt } from "../dataq/console/scripts/built.mjs";
import { installedLevel, underLock } from "./install.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const packages = [
  "autostart",
  "site-files",
  "package-index",
  "updates",
  "locallm",
  "dataq/contract",
  "dataq/client",
  "dataq/service",
];
const named = process.argv.slice(2);
/** Lists and pages that modules read from their own folders. */
const dataFile = /\.(?:tsv|txt|json|html|css|svg)$/;
/** What only tests and the compiler read. */
const notForUsers = /(?:^|\/)(?:golden\/|tsconfig\.json$)/;
const { stripTypeScriptTypes } = nodeModule;
const scriptMs = statSync(fileURLToPath(import.meta.url)).mtimeMs;

if (stripTypeScriptTypes === undefined) runWithPinnedNode();
else await build();

async function build() {
  // Node prints a warning because type stripping is experimental. We test with the pinned version of Node.
  process.removeAllListeners("warning");
  const isLocallmOnly = named.length === 0 && installedLevel() === "locallm";
  const all = isLocallmOnly ? ["autostart", "site-files", "package-index", "updates", "locallm"] : packages;
  for (const folder of named.length > 0 ? named : all) compile(folder);
  if (named.length > 0) for (const folder of named) declare(folder);
  else {
    if (!isLocallmOnly && !isConsoleBuilt())
      await underLock(() => import("../dataq/console/scripts/build.mjs"));
    // Keep only what users need at run time. Developers have the level "tests" or "everything".
    if (canBePruned()) await underLock(pruneOnce);
  }
}

/** Another start may have pruned while this one waited for the lock. */
async function pruneOnce() {
  const { prune } = await import("./prune.mjs");
  if (canBePruned()) prune();
}

/** prune.mjs removes npm's record of the installed packages. */
function canBePruned() {
  const level = installedLevel();
  return (
    level === "runtime" ||
    (level === "locallm" && existsSync(join(root, "node_modules", ".package-lock.json")))
  );
}

/** The shell that ran the install may still use the machine's own Node, which cannot strip types. */
function runWithPinnedNode() {
  const pinned = join(root, "node_modules", ".bin", "node");
  process.exit(spawnSync(pinned, process.argv.slice(1), { stdio: "inherit" }).status ?? 1);
}

/**
 * Replaces each file atomically, so that a product that starts during a build finds neither a missing nor a
 * partial file.
 */
function compile(folder) {
  const from = join(root, folder, "src");
  const to = join(root, folder, "dist");
  const wanted = new Set();
  for (const name of readdirSync(from, { recursive: true })) {
    const isData = dataFile.test(name) && !notForUsers.test(name);
    if (!isData && (!name.endsWith(".ts") || name.endsWith(".test.ts"))) continue;
    const target = name.replace(/\.ts$/, ".js");
    wanted.add(target);
    compileFile(join(from, name), join(to, target), isData ? (text) => text : plainScript);
  }
  for (const name of readdirSync(to, { recursive: true }))
    if ((name.endsWith(".js") || dataFile.test(name)) && !wanted.has(name)) rmSync(join(to, name));
}

/**
 * Gives the built file the modification time of its source. A file is up to date if that time matches and the
 * file was written after the last change of this script.
 */
function compileFile(source, target, compiled) {
  const sourceMs = Math.floor(statSync(source).mtimeMs);
  const made = statSync(target, { throwIfNoEntry: false });
  if (made !== undefined && made.mtimeMs === sourceMs && made.ctimeMs > scriptMs) return;
  const fresh = `${target}.${process.pid}`;
  mkdirSync(dirname(target), { recursive: true });
  const script = compiled(readFileSync(source, "utf8"));
  writeFileSync(fresh, script, { mode: script.startsWith("#!") ? 0o755 : 0o644 });
  utimesSync(fresh, sourceMs / 1000, sourceMs / 1000);
  renameSync(fresh, target);
}

function plainScript(text) {
  return stripTypeScriptTypes(text).replaceAll(/((?:from |import |import\()"\.[^"\n]*)\.ts"/g, '$1.js"');
}

/**
 * Writes the type declarations of the package, unless they are up to date. Changes `import "./x.ts"` to
 * `"./x.js"`, because older compilers require it.
 */
function declare(folder) {
  const settings = join(root, folder, "tsconfig.build.json");
  if (!existsSync(settings)) return;
  const to = join(root, folder, "dist");
  const stamp = join(root, folder, "declarations.tsbuildinfo");
  if (areDeclared(to, stamp)) return;
  rmSync(stamp, { force: true });
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const tsc = spawnSync(process.execPath, [compiler, "-p", settings], { stdio: "inherit" });
  if (tsc.status !== 0) process.exit(tsc.status ?? 1);
  const declarations = declarationsIn(to);
  for (const path of declarations) {
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replaceAll(/((?:from |import\()"\.[^"\n]*)\.ts"/g, '$1.js"'));
  }
  writeFileSync(stamp, String(declarations.length));
}

/**
 * Whether the declarations are whole and newer than everything that they depend on. A type may come from any package.
 * Compares the time of the last change, because a restored file keeps its old modification time.
 */
function areDeclared(to, stamp) {
  const made = statSync(stamp, { throwIfNoEntry: false });
  const declarations = declarationsIn(to);
  if (made === undefined || Number(readFileSync(stamp, "utf8")) !== declarations.length) return false;
  const shared = ["package-lock.json", "tsconfig.json", "scripts/build.mjs"];
  const own = packages.flatMap((folder) => [
    join(folder, "tsconfig.build.json"),
    join(folder, "src"),
    ...readdirSync(join(root, folder, "src"), { recursive: true }).map((name) => join(folder, "src", name)),
  ]);
  const depended = [...[...shared, ...own].map((name) => join(root, name)), ...declarations];
  return depended.every((path) => (statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0) <= made.mtimeMs);
}

function declarationsIn(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".d.ts"))
    .map((name) => join(folder, name));
}
