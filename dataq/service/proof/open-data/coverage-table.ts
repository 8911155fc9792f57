import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { OperationName } from "@dataq/contract";

/** One operation as `GET /v1/catalog` tells it. */
export interface Entry {
  readonly operation: OperationName;
  readonly data: string;
  readonly coverage: { readonly text: { readonly en: string; readonly zh: string } } | null;
  readonly vendors: readonly string[];
}

const languages = {
  en: {
    page: "open-data.md",
    heads: ["operation", "after `npm start`", "after `data get --all`", "or `dataq connect`"],
    samples: "samples",
    describe: "a vendor that you describe",
    between: ", ",
  },
  zh: {
    page: "open-data.zh.md",
    heads: ["接口", "`npm start` 之后", "`data get --all` 之后", "或 `dataq connect`"],
    samples: "样例",
    describe: "自行描述的供应商",
    between: "、",
  },
} as const;
type Language = keyof typeof languages;

/**
 * Writes the table of operations into both pages on open data: what answers after the first start, after all sets of open data,
 * and which vendors can be connected.
 */
export function writeTables(start: readonly Entry[], after: readonly Entry[]): void {
  for (const language of Object.keys(languages) as Language[]) {
    const path = fileURLToPath(
      new URL(`../../../../docs/dataq/${languages[language].page}`, import.meta.url),
    );
    writeFileSync(path, withTable(readFileSync(path, "utf8"), coverageTable(start, after, language)));
  }
}

/** Operations whose cells are the same share a row. */
export function coverageTable(start: readonly Entry[], after: readonly Entry[], language: Language): string {
  const { heads, samples, describe, between } = languages[language];
  const held = ({ data, coverage }: Entry) =>
    data === "imported" ? short(coverage?.text[language] ?? data) : samples;
  const rows = new Map<string, OperationName[]>();
  for (const entry of after) {
    const first = start.find(({ operation }) => operation === entry.operation);
    const names = entry.vendors.map((name) => `\`${name}\``).join(between);
    const vendors = names === "" && entry.data !== "imported" ? describe : names;
    const cells = [first === undefined ? samples : held(first), held(entry), vendors].join(" | ");
    rows.set(cells, [...(rows.get(cells) ?? []), entry.operation]);
  }
  return [
    `| ${heads.join(" | ")} |`,
    "| --- | --- | --- | --- |",
    ...[...rows].map(
      ([cells, names]) => `| ${names.map((name) => `\`${name}\``).join(between)} | ${cells} |`,
    ),
  ].join("\n");
}

/** Without long lists in brackets: `GET /v1/catalog` tells them. */
function short(text: string): string {
  return text.replace(/ ?[(（][^)）]{40,}[)）]/g, "");
}

/** The page with another table in place of the one whose rows begin with an operation's name. */
export function withTable(page: string, table: string): string {
  const lines = page.split("\n");
  const row = lines.findIndex((line) => line.startsWith("| `legal_"));
  if (row < 2) throw new Error("The page has no table of operations.");
  let end = row;
  while (lines[end]?.startsWith("|")) end++;
  return [...lines.slice(0, row - 2), ...table.split("\n"), ...lines.slice(end)].join("\n");
}
