import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRows } from "../src/importer/format/read-rows.ts";
import { catalogImport } from "../src/operations/legal/law-catalog/import.ts";
import type { StoredArticle } from "../src/operations/legal/laws/corpus.ts";
import { type FoldedLaws, foldLaws } from "../src/operations/legal/laws/import/fold.ts";
import { readLawRows } from "../src/operations/legal/laws/import/law-rows.ts";
import type { CataloguePack, LawPack } from "../src/operations/legal/laws/import/law-version.ts";
import type { OfficialLaw } from "../src/operations/legal/laws/official/official-law.ts";

/** The rows of a pack of laws, with the reasons why others were refused. */
export interface ReadPack {
  readonly laws: readonly LawPack[];
  readonly catalogue: readonly CataloguePack[];
  readonly refused: readonly { readonly row: string; readonly code: string }[];
}

/**
 * Reads a pack as the import does, from rows or from a file. Rows without text or article belong to a catalogue.
 */
export async function readPack(
  name: string,
  rows: readonly object[] | string,
  options: { readonly accepted?: true } = {},
): Promise<ReadPack> {
  const source = {
    name,
    kind: "third_party" as const,
    retrieved_at: "2026-01-01T08:00:00+08:00",
    content_sha256: "",
  };
  const folder = await mkdtemp(join(tmpdir(), "dataq-laws-"));
  try {
    const refused: { row: string; code: string }[] = [];
    const path = typeof rows === "string" ? rows : join(folder, "laws.jsonl");
    if (typeof rows !== "string") await writeFile(path, rows.map((row) => JSON.stringify(row)).join("\n"));
    const catalogue: CataloguePack[] = [];
    for await (const row of readRows(path)) {
      if (!("fields" in row) || "text" in row.fields || "article_text" in row.fields) break;
      const mapped = catalogImport.map(row.fields);
      if (mapped !== null && "record" in mapped)
        catalogue.push({ ...(mapped.record as unknown as CataloguePack), source });
    }
    if (catalogue.length > 0) return { laws: [], catalogue, refused };
    const versions = await readLawRows(path, {
      row: () => {},
      passOver: () => {},
      bad: (row, { code }) => refused.push({ row, code }),
    });
    const laws = versions.map((version, place) => ({
      ...version,
      id: `${name} ${place}`,
      source,
      ...options,
    }));
    return { laws, catalogue: [], refused };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export function foldPacks(packs: readonly ReadPack[], official: readonly OfficialLaw[] = []): FoldedLaws {
  return foldLaws(
    packs.flatMap(({ laws }) => laws),
    packs.flatMap(({ catalogue }) => catalogue),
    official,
  );
}

export function articleOf({ articles }: FoldedLaws, id: string): StoredArticle {
  const found = articles.find((article) => article.id === id);
  if (found === undefined) throw new Error(`${id} is not there`);
  return found;
}

export function inEveryOrder<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, place) =>
    inEveryOrder(items.filter((_, at) => at !== place)).map((rest) => [item, ...rest]),
  );
}
