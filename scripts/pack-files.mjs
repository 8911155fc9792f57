// Copies files from outside a package into it for `npm pack`: the licence and, for the service, the built
// console. Run it in the package's folder, with `copy` before and `remove` after packing.
import { cpSync, existsSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = process.cwd();
const files = [[join(root, "LICENSE"), join(folder, "LICENSE")]];
if (basename(folder) === "service") files.push([join(root, "dataq/console/dist"), join(folder, "console")]);

if (process.argv[2] === "copy") {
  if (files.length > 1) await import("../dataq/console/scripts/build.mjs");
  for (const [from, to] of files) if (existsSync(from)) cpSync(from, to, { recursive: true });
} else for (const [, to] of files) rmSync(to, { recursive: true, force: true });
