import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { besideServer } from "../../../testing/event-loop-watch.ts";
import type { Database } from "../src/database/database.ts";
import { readRows } from "../src/importer/format/read-rows.ts";
import type { ImportReport } from "../src/importer/import-file.ts";
import { fetchOrigin } from "../src/importer/origin/origin.ts";
import { importAny } from "../src/operations/imports.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { SearchIndex } from "../src/search/search-index.ts";
import { openFolder } from "./data-folder.ts";

/** Imports `<packs>/<name>.jsonl.zst` as `target` into the data folder `folder`: all its rows, or those to keep. */
export async function importPack(
  { database, index, folder, packs }: PackPlace,
  name: string,
  target: string,
  keep?: (fields: Readonly<Record<string, unknown>>, place: number) => boolean,
): Promise<ImportReport> {
  let path = join(packs, `${name}.jsonl.zst`);
  if (keep) {
    const kept: string[] = [];
    let place = 0;
    for await (const row of readRows(path))
      if ("fields" in row && keep(row.fields, place++)) kept.push(JSON.stringify(row.fields));
    path = join(folder, `${name}.jsonl`);
    writeFileSync(path, kept.join("\n"));
  }
  const file = await fetchOrigin(path, { folder });
  return importAny(database, index, target, file, { source: name });
}

export interface PackPlace {
  readonly database: Database;
  readonly index: SearchIndex;
  readonly folder: string;
  /** The folder of the packs. */
  readonly packs: string;
}

/** Imports a file into the database of a data folder, while its service runs. */
export async function importFileInto(
  folder: string,
  target: string,
  path: string,
  source = "test",
): Promise<ImportReport> {
  const database = await openFolder(folder);
  try {
    const file = await fetchOrigin(path, { folder });
    return await besideServer(() => importAny(database, embeddedIndex(database), target, file, { source }));
  } finally {
    await database.close();
  }
}

/** Imports one article of the Civil Code into the database of a data folder, while its service runs. */
export async function importArticleInto(
  folder: string,
  article: { readonly article_no: string; readonly article_text: string },
  source?: string,
): Promise<void> {
  const path = join(folder, "laws.jsonl");
  const law = { law_id: "civil-code", law_name: "中华人民共和国民法典" };
  writeFileSync(path, JSON.stringify({ ...law, ...article }));
  await importFileInto(folder, "legal_laws", path, source);
}

/** Imports rows, by target, into a data folder that no service uses. */
export async function importRowsInto(
  folder: string,
  rows: Readonly<Record<string, readonly object[]>>,
): Promise<void> {
  for (const [target, list] of Object.entries(rows)) {
    const path = join(folder, `${target}.jsonl`);
    writeFileSync(path, list.map((row) => JSON.stringify(row)).join("\n"));
    await importFileInto(folder, target, path);
  }
}
