import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const { reachable } = (await import(`${root}scripts/prune.mjs`)) as {
  reachable(packages: Record<string, unknown>): ReadonlySet<string>;
};
const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, "utf8"));
const needed = reachable(packages);

it.each(["autostart", "locallm", "dataq/contract", "dataq/client", "dataq/service"])(
  "pruning keeps every package that %s imports",
  (folder) => {
    const imported = importsBelow(`${root}${folder}/src`);
    for (const name of imported)
      expect(
        [`node_modules/${name}`, `${folder}/node_modules/${name}`].some((path) => needed.has(path)),
        name,
      ).toBe(true);
  },
);

it("pruning removes the console's tools and packages that are optional peers alone", () => {
  for (const name of ["vite", "lucide-react", "react-dom", "vitest", "@biomejs/biome"]) {
    expect(packages).toHaveProperty([`node_modules/${name}`]);
    expect(needed).not.toContain(`node_modules/${name}`);
  }
});

/** Returns the names of the packages that a folder's production files import. */
function importsBelow(folder: string): Set<string> {
  const names = new Set<string>();
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!/(?<!\.test)\.ts$/.test(file)) continue;
    const text = readFileSync(`${folder}/${file}`, "utf8");
    for (const [, specifier] of text.matchAll(/^(?:import|export|\} from|.* from) ?"([^".][^"]*)";$/gm)) {
      const name = specifier!
        .split("/")
        .slice(0, specifier!.startsWith("@") ? 2 : 1)
        .join("/");
      if (!isBuiltin(specifier!) && !isBuiltin(name)) names.add(name);
    }
  }
  return names;
}
