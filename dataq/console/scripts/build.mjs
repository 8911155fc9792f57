// Builds the console if its sources have changed. Without a change this takes a few milliseconds.
//   node dataq/console/scripts/build.mjs [--force]
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { filesBelow } from "../../../builds/stamp.mjs";
import { isConsoleBuilt, markBuilt, out, root } from "./built.mjs";

if (!isConsoleBuilt() || process.argv.includes("--force")) await build();

async function build() {
  const began = Date.now();
  // biome-ignore lint/style/noProcessEnv: a run of tests that packs the service sets "test", which gives React's development build
  process.env.NODE_ENV = "production";
  const { build } = await import("vite");
  // Builds next to the old build and then renames, so that a service that starts meanwhile finds a complete
  // build.
  const fresh = join(root, `dist.${process.pid}`);
  await build({ root, logLevel: "warn", build: { outDir: fresh, emptyOutDir: true } });
  await build({ root, mode: "welcome", logLevel: "warn", build: { outDir: fresh } });
  await Promise.all(filesBelow(fresh).map(compress));
  markBuilt(fresh);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  renameSync(fresh, out);
  console.log(`Console built in ${((Date.now() - began) / 1000).toFixed(1)} s.`);
}

/** Compresses each file once at build time, several at once. Fonts are already compressed. */
async function compress(file) {
  if (!/\.(js|css|svg|html|json)$/.test(file) || file.endsWith("index.html")) return;
  const bytes = readFileSync(file);
  // For a file of more than a megabyte the best quality takes seconds and saves two percent.
  const params = { [constants.BROTLI_PARAM_QUALITY]: bytes.length > 1e6 ? 10 : 11 };
  writeFileSync(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }));
  writeFileSync(`${file}.br`, await promisify(brotliCompress)(bytes, { params }));
}
