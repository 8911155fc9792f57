import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { importsOf } from "./layers.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { reachable, removeSourceMaps } = (await import(`${root}scripts/prune.mjs`)) as {
  reachable(packages: Record<string, unknown>): ReadonlySet<string>;
  removeSourceMaps(folder: string): void;
};
const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, "utf8"));
const needed = reachable(packages);

it.each([
  "autostart",
  "site-files",
  "package-index",
  "updates",
  "locallm",
  "dataq/contract",
  "dataq/client",
  "dataq/service",
])("pruning keeps every package that %s imports", (folder) => {
  const imported = importsBelow(`${root}${folder}/src`);
  for (const name of imported)
    expect(
      [`node_modules/${name}`, `${folder}/node_modules/${name}`].some((path) => needed.has(path)),
      name,
    ).toBe(true);
});

it("pruning removes the console's tools, types for compilers, and packages that are optional peers alone", () => {
  for (const name of [
    "vite",
    "@iconify-json/lucide",
    "react-dom",
    "vitest",
    "@biomejs/biome",
    "@types/node",
  ]) {
    expect(packages).toHaveProperty([`node_modules/${name}`]);
    expect(needed).not.toContain(`node_modules/${name}`);
  }
});

it("pruning removes source maps and nothing else", () => {
  const folder = mkdtempSync(join(tmpdir(), "prune-"));
  const names = ["a.js", "a.js.map", "a.d.ts", "a.d.ts.map", "map.js", "roads.map.json"];
  mkdirSync(join(folder, "@scope", "deep.map"), { recursive: true });
  for (const name of names) writeFileSync(join(folder, "@scope", "deep.map", name), "");
  removeSourceMaps(folder);
  expect(readdirSync(join(folder, "@scope", "deep.map")).sort()).toEqual([
    "a.d.ts",
    "a.js",
    "map.js",
    "roads.map.json",
  ]);
  rmSync(folder, { recursive: true });
});

/** Returns the names of the packages that a folder's production files import. */
function importsBelow(folder: string): Set<string> {
  const names = new Set<string>();
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!/(?<!\.test)\.ts$/.test(file)) continue;
    const text = readFileSync(`${folder}/${file}`, "utf8");
    // Imports in texts, such as the programs that `launch` prints, are not ours.
    for (const { specifier } of importsOf(file, text)) {
      // Pages import by address.
      if (/^[./]/.test(specifier)) continue;
      const name = specifier
        .split("/")
        .slice(0, specifier.startsWith("@") ? 2 : 1)
        .join("/");
      if (!isBuiltin(specifier) && !isBuiltin(name)) names.add(name);
    }
  }
  return names;
}
