import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

/**
 * Sources that break a rule, in a separate folder tree with our rules. One run of the linter checks them all.
 */
const broken = {
  "locallm/src/wire/a.ts": `import "../http/app.ts";`,
  "locallm/src/engine/a.ts": `import "../scheduler/queue.ts";`,
  "locallm/src/library/a.ts": `import "../config.ts";`,
  "dataq/service/src/ledger/a.ts": `import "../query/pipeline.ts";`,
  "dataq/service/src/search/a.ts": `import "../sources/source.ts";`,
  "dataq/service/src/importer/a.ts": `import "../operations/registry.ts";`,
  "dataq/service/src/query/a.ts": `import "../background/sweeper.ts";`,
  "dataq/service/src/webhooks/a.ts": `import "../http/app.ts";`,
  "dataq/service/src/network/a.ts": `import "../accounts/key.ts";`,
  "dataq/service/src/http/a.ts": `import "../cli/main.ts";`,
};
const kept = {
  "locallm/src/http/b.ts": `import "../wire/errors.ts";`,
  "dataq/service/src/query/b.ts": `import "../ledger/hold.ts";`,
};
const environment = `export const home = process.env["HOME"];`;

const root = fileURLToPath(new URL("..", import.meta.url));
const tree = mkdtempSync(join(tmpdir(), "layers-"));
afterAll(() => rmSync(tree, { recursive: true }));

interface Diagnostic {
  readonly category: string;
  readonly location: { readonly path: string };
}

function lint(): Set<string> {
  const { vcs: _, ...rules } = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"));
  write("biome.json", JSON.stringify(rules));
  for (const [path, text] of Object.entries({ ...broken, ...kept })) write(path, `${text}\n`);
  for (const path of ["locallm/src/http/c.ts", "locallm/src/config.ts"]) write(path, `${environment}\n`);
  const { stdout } = spawnSync(join(root, "node_modules/.bin/biome"), ["lint", "--reporter=json", "."], {
    cwd: tree,
    encoding: "utf8",
  });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: Diagnostic[] };
  return new Set(diagnostics.map(({ category, location }) => `${location.path} ${category}`));
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  writeFileSync(join(tree, path), text);
}

describe("the linter", () => {
  const found = lint();

  it.each(Object.entries(broken))("refuses %s: %s", (path) => {
    expect(found).toContain(`${path} lint/style/noRestrictedImports`);
  });

  it.each(Object.entries(kept))("allows %s: %s", (path) => {
    expect(found).not.toContain(`${path} lint/style/noRestrictedImports`);
  });

  it("keeps the environment to config.ts", () => {
    expect(found).toContain("locallm/src/http/c.ts lint/style/noProcessEnv");
    expect(found).not.toContain("locallm/src/config.ts lint/style/noProcessEnv");
  });
});

interface Override {
  readonly includes: readonly string[];
  readonly linter?: {
    readonly rules?: {
      readonly style?: {
        readonly noRestrictedImports?: {
          readonly options?: { readonly patterns: readonly { readonly group: readonly string[] }[] };
        };
      };
    };
  };
}

/** For each folder, the folders that the linter allows it to import and those that ARCHITECTURE.md lists. */
function layersOf(source: string) {
  const folders = readdirSync(join(root, source), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const { overrides } = JSON.parse(readFileSync(join(root, "biome.json"), "utf8")) as {
    overrides: readonly Override[];
  };
  const linted = new Map<string, string[]>();
  for (const { includes, linter } of overrides) {
    const rule = linter?.rules?.style?.noRestrictedImports;
    if (rule?.options === undefined) continue;
    const refused = rule.options.patterns.flatMap(({ group }) => group);
    const allowed = (own: string) =>
      folders.filter((name) => name !== own && !refused.includes(`**/${name}/**`)).sort();
    for (const path of includes)
      for (const own of folders) if (path === `${source}/${own}/**`) linted.set(own, allowed(own));
  }
  const documented = new Map<string, string[]>();
  const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const [, table = ""] = page.split(`| ${source.replace("/src", "")} `);
  for (const line of table.split("\n").slice(2)) {
    const [, names, text] = line.split("|");
    if (names === undefined || text === undefined) break;
    const named = (cell: string) => [...cell.matchAll(/`([a-z]+)`/g)].map(([, name]) => name!);
    const above = [...documented.keys()].filter((name) => !named(text).includes(name));
    const allowed = text.includes("everything above except")
      ? above
      : named(text).filter((name) => folders.includes(name));
    for (const own of named(names)) documented.set(own, allowed.toSorted());
  }
  return { folders, linted, documented };
}

it.each(["locallm/src", "dataq/service/src"])("ARCHITECTURE.md and the linter agree on %s", (source) => {
  const { folders, linted, documented } = layersOf(source);
  expect([...documented.keys()].sort()).toEqual(folders.sort());
  for (const [own, allowed] of documented) expect(linted.get(own), own).toEqual(allowed);
});
