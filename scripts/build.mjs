// What runs for users: each package's src/ as plain JavaScript in its dist/, types replaced by blanks, so that
// lines and columns stay those of the source; lists (.tsv, .txt) as they are. Only what changed is written; without changes it takes a few
// milliseconds. Then it builds the console.
//   node scripts/build.mjs             all packages and the console
//   node scripts/build.mjs locallm     the packages in these folders, with declarations (before npm pack)
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
import { underLock } from "./install.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const packages = ["locallm", "dataq/contract", "dataq/client", "dataq/service"];
const named = process.argv.slice(2);
/** Lists and pages that a module reads from its own folder. */
const dataFile = /\.(?:tsv|txt|html|css|svg)$/;
const { stripTypeScriptTypes } = nodeModule;
const scriptMs = statSync(fileURLToPath(import.meta.url)).mtimeMs;

if (stripTypeScriptTypes === undefined) runWithPinnedNode();
else await build();

async function build() {
  // Stripping is marked experimental; the pinned Node's is the one that is tested.
  process.removeAllListeners("warning");
  for (const folder of named.length > 0 ? named : packages) compile(join(root, folder));
  if (named.length > 0) for (const folder of named) declare(join(root, folder));
  else if (!isConsoleBuilt()) await underLock(() => import("../dataq/console/scripts/build.mjs"));
}

/** The shell that has just run the install may still hold the machine's own Node, which knows no types. */
function runWithPinnedNode() {
  const pinned = join(root, "node_modules", ".bin", "node");
  process.exit(spawnSync(pinned, process.argv.slice(1), { stdio: "inherit" }).status ?? 1);
}

/** Files are replaced whole, one by one: a product that starts meanwhile finds no gap and no half file. */
function compile(folder) {
  const from = join(folder, "src");
  const to = join(folder, "dist");
  const wanted = new Set();
  for (const name of readdirSync(from, { recursive: true })) {
    const isData = dataFile.test(name);
    if (!isData && (!name.endsWith(".ts") || name.endsWith(".test.ts"))) continue;
    const target = name.replace(/\.ts$/, ".js");
    wanted.add(target);
    compileFile(join(from, name), join(to, target), isData ? (text) => text : plainScript);
  }
  for (const name of readdirSync(to, { recursive: true }))
    if ((name.endsWith(".js") || dataFile.test(name)) && !wanted.has(name)) rmSync(join(to, name));
}

/** A built file carries its source's time; it is right when it was made after this script last changed. */
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

/** Declarations for users of the package; `import "./x.ts"` becomes `"./x.js"`, which older compilers need. */
function declare(folder) {
  const settings = join(folder, "tsconfig.build.json");
  if (!existsSync(settings)) return;
  const tsc = spawnSync(join(root, "node_modules", ".bin", "tsc"), ["-p", settings], { stdio: "inherit" });
  if (tsc.status !== 0) process.exit(tsc.status ?? 1);
  for (const name of readdirSync(join(folder, "dist"), { recursive: true })) {
    if (!name.endsWith(".d.ts")) continue;
    const path = join(folder, "dist", name);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replaceAll(/((?:from |import\()"\.[^"\n]*)\.ts"/g, '$1.js"'));
  }
}
