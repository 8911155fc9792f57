// Builds the site if its pages have changed. Without a change this takes a few milliseconds.
//   node site/scripts/build.mjs [--force]
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { filesBelow } from "../../builds/stamp.mjs";
import { isSiteBuilt, markBuilt, out, root } from "./built.mjs";
import { layOut } from "./pages.mjs";

const zip = promisify(gzip);

if (!isSiteBuilt() || process.argv.includes("--force")) await build();

async function build() {
  const began = Date.now();
  // biome-ignore lint/style/noProcessEnv: a run of tests that packs a product sets "test", which gives Vue's development build
  process.env.NODE_ENV = "production";
  const beside = layOut(join(root, ".pages"));
  // Builds next to the old build and then renames, so that a product that starts meanwhile finds a complete build.
  const fresh = join(root, `dist.${process.pid}`);
  const { build } = await import("vitepress");
  await build(root, { outDir: fresh });
  for (const [name, text] of beside) {
    const path = join(fresh, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  rmSync(join(fresh, "hashmap.json"), { force: true });
  await Promise.all(filesBelow(fresh).map(compress));
  markBuilt(fresh);
  rmSync(out, { recursive: true, force: true });
  renameSync(fresh, out);
  rmSync(join(root, ".pages"), { recursive: true, force: true });
  console.log(`Documentation built in ${((Date.now() - began) / 1000).toFixed(1)} s.`);
}

/** Compresses each file once at build time, on all cores. Browsers take Brotli only over HTTPS, gzip everywhere. */
async function compress(file) {
  if (/\.(?:js|css|svg|html|json|md|txt)$/.test(file))
    writeFileSync(`${file}.gz`, await zip(readFileSync(file), { level: 9 }));
}
