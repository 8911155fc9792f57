// Builds the console if its sources have changed. Without a change this takes a few milliseconds.
//   node dataq/console/scripts/build.mjs [--force]
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "dist");
const stamp = join(out, ".built");
const print = fingerprint();
const isBuilt = existsSync(stamp) && readFileSync(stamp, "utf8") === print;

if (!isBuilt || process.argv.includes("--force")) await build();

async function build() {
  const began = Date.now();
  const { build } = await import("vite");
  // Built beside the old build and then renamed: a service that starts meanwhile finds one complete build.
  const fresh = join(root, `dist.${process.pid}`);
  await build({ root, logLevel: "warn", build: { outDir: fresh, emptyOutDir: true } });
  for (const file of filesBelow(fresh)) compress(file);
  writeFileSync(join(fresh, ".built"), print);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  renameSync(fresh, out);
  console.log(`Console built in ${((Date.now() - began) / 1000).toFixed(1)} s.`);
}

/** Compresses once at build time. Fonts are compressed already. */
function compress(file) {
  if (!/\.(js|css|svg|html|json)$/.test(file) || file.endsWith("index.html")) return;
  const bytes = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  writeFileSync(
    `${file}.br`,
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  );
}

function fingerprint() {
  const hash = createHash("sha256");
  const files = ["index.html", "package.json", "vite.config.ts", "scripts/build.mjs"].map((name) =>
    join(root, name),
  );
  const contract = join(root, "../contract/src");
  for (const file of [...files, ...filesBelow(join(root, "src")).sort(), ...filesBelow(contract).sort()])
    hash.update(relative(root, file)).update("\0").update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

function filesBelow(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}
