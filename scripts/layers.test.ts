import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { findFaults, readTables } from "./layers.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
const tables = readTables(page);
const trees: string[] = [];
afterAll(() => {
  for (const tree of trees) rmSync(tree, { recursive: true });
});

/** A tree with a folder for each layer and nothing in it but these files. */
function treeOf(files: Readonly<Record<string, string>>): string {
  const tree = mkdtempSync(join(tmpdir(), "layers-"));
  trees.push(tree);
  for (const name of tables.get("package")!.keys()) mkdirSync(join(tree, name, "src"), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  return tree;
}

function faultsOf(files: Readonly<Record<string, string>>): string[] {
  return findFaults(treeOf(files), tables).map(({ where, what }) => `${where} ${what}`);
}

// That this repository keeps the tables, `npm run check` says.
it("every import between two layers is refused but for those of the tables", () => {
  for (const name of ["locallm", "dataq/service"]) {
    const layers = tables.get(name)!;
    const folders = [...layers.keys()].filter((layer) => !layer.endsWith(".ts"));
    expect(folders.length).toBeGreaterThan(14);
    for (const own of folders) {
      const up = "../".repeat(own.split("/").length);
      const text = folders.map((other) => `import "${up}${other}/b.ts";`).join("\n");
      const refused = faultsOf({ [`${name}/src/${own}/a.ts`]: text }).map((fault) => {
        const [, line, other] = /a\.ts:(\d+) .* may not import (\S+):/.exec(fault) ?? [];
        expect(folders[Number(line) - 1]).toBe(other);
        return other;
      });
      const allowed = folders.filter((other) => !refused.includes(other));
      const inTable = folders.filter(
        (other) => other === own || own.startsWith(`${other}/`) || layers.get(own)!.includes(other),
      );
      expect([own, allowed]).toEqual([own, inTable]);
    }
  }
});

describe("an import that the tables do not allow is refused", () => {
  const what = "locallm/src/wire/a.ts:1 wire may not import http: ARCHITECTURE.md, Layers";
  it.each([
    `import { a } from "../http/app.ts";`,
    `import type { A } from "../http/app.ts";`,
    `import "../http/app.ts";`,
    `import * as a from '../http/native/chat.ts';`,
    `export { a } from "../http/app.ts";`,
    `export type { A } from "../http/app.ts";`,
    `export * from "../http/app.ts";`,
    `const a = await import("../http/app.ts");`,
    `export type A = import("../http/app.ts").A;`,
    `export const a = (x: typeof import( "../http/app.ts" )) => x;`,
    `import a from "./../wire/../http/app.ts";`,
  ])("%s", (text) => {
    expect(faultsOf({ "locallm/src/wire/a.ts": text })).toEqual([what]);
  });

  it.each([
    ["locallm/src/library/a.ts", `import "../config.ts";`, "library may not import config.ts"],
    ["locallm/src/http/a.ts", `import "../server.ts";`, "http may not import server.ts"],
    ["dataq/service/src/http/a.ts", `import "../cli/main.ts";`, "http may not import cli"],
    ["dataq/service/src/http/a.ts", `import "../sample/words.ts";`, "http may not import sample"],
    [
      "dataq/service/src/search/a.ts",
      `import "./postings/rank.ts";`,
      "search may not import search/postings",
    ],
    [
      "dataq/service/src/search/postings/a.ts",
      `import "../opensearch/client.ts";`,
      "search/postings may not import search/opensearch",
    ],
    [
      "dataq/service/src/importer/a.ts",
      `import "../search/opensearch/client.ts";`,
      "importer may not import search/opensearch",
    ],
    [
      "dataq/service/src/server.ts",
      `import "./search/postings/rank.ts";`,
      "server.ts may not import search/postings",
    ],
    ["dataq/service/src/new-room/a.ts", `import "../ledger/hold.ts";`, "new-room may not import ledger"],
    ["dataq/service/src/http/a.ts", `import "../new-room/a.ts";`, "http may not import new-room"],
    ["dataq/contract/src/a.ts", `import "dataq-client/x";`, "dataq/contract may not import dataq/client"],
    ["locallm/src/cli/a.ts", `import "@dataq/contract";`, "locallm may not import dataq/contract"],
    ["locallm/src/cli/a.ts", `import "../../../dataq/contract/src/index.ts";`, "is outside of locallm/src"],
    ["locallm/proof/a.ts", `import "../../bench/decode.ts";`, "packages may not import bench"],
    ["site/scripts/a.mjs", `import "../../scripts/install.mjs";`, "packages may not import scripts"],
    ["locallm/src/http/a.test.ts", `import "../../../scripts/start.ts";`, "packages may not import scripts"],
    ["testing/speed/a.ts", `import "../../locallm/src/server.ts";`, "testing may not import packages"],
    ["builds/a.mjs", `const a = await import("../scripts/a.mjs");`, "builds may not import scripts"],
    ["scripts/release/a.ts", `export * from "../../bench/a.ts";`, "scripts may not import bench"],
    ["bench/a.ts", `import "../scripts/a.ts";`, "bench may not import scripts"],
  ])("%s: %s", (path, text, why) => {
    expect(faultsOf({ [path]: text }).join("\n")).toContain(why);
  });
});

it.each([
  [
    "locallm/src/http/b.ts",
    `import "../wire/errors.ts"; import "../version.ts"; import "node:fs"; import "fastify";`,
  ],
  ["locallm/src/cli/b.ts", `import "../server.ts"; import "../config.ts"; import "@locallm/autostart";`],
  ["locallm/src/server.ts", `import "./http/app.ts"; import "./config.ts"; import "./engine/a.ts";`],
  ["dataq/service/src/search/open-index.ts", `import "./postings/a.ts"; import "./opensearch/a.ts";`],
  ["dataq/service/src/background/b.ts", `import "../search/open-index.ts";`],
  ["dataq/service/src/search/postings/b.ts", `import "../engine.ts"; import "../../database/database.ts";`],
  ["dataq/service/src/ledger/b.test.ts", `import "../query/pipeline.ts"; import "../../../../testing/a.ts";`],
  [
    "locallm/proof/b.ts",
    `import "../test/a.ts"; import "../../testing/speed/a.ts"; import "../../fuzz/a.ts";`,
  ],
  ["bench/b.ts", `import "../locallm/test/a.ts"; import "../testing/speed/a.ts";`],
  ["scripts/release/b.ts", `import "../../builds/a.mjs"; import "../../site/scripts/a.mjs";`],
  ["vitest.config.ts", `import "./scripts/a.ts";`],
])("%s may: %s", (path, text) => {
  expect(faultsOf({ [path]: text })).toEqual([]);
});

it("a folder that no table lists is refused", () => {
  expect(faultsOf({ "locallm/src/common/a.ts": "export {};" })).toEqual([
    "locallm/src/common is in no table: ARCHITECTURE.md, Layers",
  ]);
});

it("a table that is gone is noticed", () => {
  for (const name of ["package", "locallm", "dataq/service", "folder"]) expect(tables.has(name)).toBe(true);
  expect(readTables(page.replaceAll("may import", "uses")).size).toBe(0);
});

it("the linter keeps the environment to config.ts", () => {
  const environment = `export const home = process.env["HOME"];\n`;
  const { vcs: _, ...rules } = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"));
  const tree = treeOf({
    "biome.json": JSON.stringify(rules),
    "locallm/src/http/c.ts": environment,
    "locallm/src/config.ts": environment,
  });
  const { stdout } = spawnSync(join(root, "node_modules/.bin/biome"), ["lint", "--reporter=json", "."], {
    cwd: tree,
    encoding: "utf8",
  });
  const { diagnostics } = JSON.parse(stdout) as {
    diagnostics: readonly { readonly category: string; readonly location: { readonly path: string } }[];
  };
  const found = diagnostics.map(({ category, location }) => `${location.path} ${category}`);
  expect(found).toContain("locallm/src/http/c.ts lint/style/noProcessEnv");
  expect(found).not.toContain("locallm/src/config.ts lint/style/noProcessEnv");
});
