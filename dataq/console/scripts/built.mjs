// Tells whether dist/ contains a build of the current sources; the installer runs it, see builds/stamp.mjs.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as stamp from "../../../builds/stamp.mjs";

export const root = fileURLToPath(new URL("..", import.meta.url));
export const out = join(root, "dist");

export function isConsoleBuilt() {
  return stamp.isBuilt(out, root, sources());
}

export function markBuilt(folder) {
  stamp.markBuilt(folder, root, sources());
}

function sources() {
  const own = ["index.html", "package.json", "vite.config.ts", "scripts/build.mjs", "scripts/built.mjs"];
  return [
    ...own.map((name) => join(root, name)),
    ...["src", "../contract/src"].flatMap((folder) => stamp.filesBelow(join(root, folder))),
  ];
}
