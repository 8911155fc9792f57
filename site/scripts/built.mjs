// Tells whether dist/ contains a build of the current pages. This file has no dependencies, because the installer runs
// it before it installs any.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
export const out = join(root, "dist");
const stamp = ".built";

export function isSiteBuilt() {
  const path = join(out, stamp);
  return existsSync(path) && readFileSync(path, "utf8") === fingerprint();
}

export function markBuilt(folder) {
  writeFileSync(join(folder, stamp), fingerprint());
}

function fingerprint() {
  const hash = createHash("sha256");
  const docs = join(root, "../docs");
  const files = [
    join(root, "package.json"),
    join(root, ".vitepress/config.ts"),
    ...filesBelow(join(root, ".vitepress/theme")).sort(),
    ...filesBelow(join(root, "scripts")).sort(),
    ...filesBelow(docs).sort(),
  ];
  for (const file of files)
    hash.update(relative(root, file)).update("\0").update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

export function filesBelow(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}
