import { readFileSync } from "node:fs";
import { operations } from "@dataq/contract";
import { expect, test } from "vitest";
import { presets } from "../dataq/service/src/connector/preset.ts";
import { errorsDoc, errorsPaths } from "./errors-doc.ts";
import { operationsDoc, operationsPaths } from "./operations-doc.ts";
import { referencePages } from "./routes-doc.ts";

test.each(["en", "zh"] as const)(
  "the pages of operations and errors (%s) are those of the contract",
  (language) => {
    expect(plain(readFileSync(operationsPaths[language], "utf8"))).toBe(plain(operationsDoc(language)));
    expect(plain(readFileSync(errorsPaths[language], "utf8"))).toBe(plain(errorsDoc(language)));
  },
);

test.each(referencePages)("$path has every route", ({ path, table }) => {
  expect(table.split("\n").length).toBeGreaterThan(40);
  expect(plain(readFileSync(path, "utf8"))).toContain(plain(table));
});

/** Ignores differences in alignment and escaping, which the formatter causes, and the mark of a twin. */
function plain(text: string): string {
  return text
    .replace(/\n<!-- twin: \w+ -->\s*$/, "")
    .replace(/ +/g, " ")
    .replace(/-{3,}/g, "---")
    .replace(/\n{2,}/g, "\n\n")
    .trim();
}

test.each(["docs/dataq/open-data.md", "docs/dataq/open-data.zh.md"])(
  "the table in %s has every operation once, with its vendors",
  (page) => {
    const lines = readFileSync(new URL(`../${page}`, import.meta.url), "utf8").split("\n");
    const rows = lines
      .filter((line) => /^\| `\w+_\w+`/.test(line))
      .map((line) =>
        line.split("|").map((cell) => [...cell.matchAll(/`([\w-]+)`/g)].map(([, name]) => name)),
      );
    expect(rows.flatMap(([, names]) => names).sort()).toEqual(operations.map(({ name }) => name).sort());
    for (const [, names, , , vendors] of rows)
      for (const operation of names ?? [])
        expect(vendors, operation).toEqual(
          presets()
            .filter((preset) => operation! in preset.operations)
            .map(({ name }) => name),
        );
  },
);
