// Tells whether dist/ contains a build of the current sources. This file has no dependencies, because the
// installer runs it before it installs any.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
export const out = join(root, "dist");
const stamp = ".built";

export function isConsoleBuilt() {
  const path = join(out, stamp);
  return existsSync(path) && readFileSync(path, "utf8") === fingerprint();
}

export function markBuilt(folder) {
  writeFileSync(join(folder, stamp), fingerprint());
}

function fingerprint() {
  const hash = createHash("sha256");
  const files = [
    "index.html",
    "package.json",
    "vite.config.ts",
    "scripts/build.mjs",
    "scripts/built.mjs",
  ].map((name) => join(root, name));
  const contract = join(root, "../contract/src");
  for (const file of [...files, ...filesBelow(join(root, "src")).sort(), ...filesBelow(contract).sort()])
    hash.update(relative(root, file)).update("\0").update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

export function filesBelow(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}
