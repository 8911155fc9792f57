// Tells whether dist/ contains a build of the current pages; the installer runs it, see builds/stamp.mjs.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as stamp from "../../builds/stamp.mjs";

export const root = fileURLToPath(new URL("..", import.meta.url));
export const out = join(root, "dist");

export function isSiteBuilt() {
  return stamp.isBuilt(out, root, sources());
}

export function markBuilt(folder) {
  stamp.markBuilt(folder, root, sources());
}

function sources() {
  return [
    join(root, "package.json"),
    join(root, ".vitepress/config.ts"),
    ...[".vitepress/theme", "scripts", "../docs"].flatMap((folder) => stamp.filesBelow(join(root, folder))),
  ];
}
