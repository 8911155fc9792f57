import type { PostingIndex } from "../search/postings/posting-index.ts";
import { text } from "./field.ts";
import { readRows } from "./format/read-rows.ts";
import { ImportError } from "./import-error.ts";
import type { LocalFile } from "./origin/origin.ts";

/** Adds words to the segmenter's dictionary; what is built or replaced from now on is cut with them. */
export async function importLexicon(
  index: PostingIndex,
  file: LocalFile,
): Promise<{ rows: number; version: string; badRows: { row: string; problem: string }[] }> {
  const words: string[] = [];
  const badRows: { row: string; problem: string }[] = [];
  for await (const row of readRows(file.path)) {
    const word = "fields" in row ? text(row.fields, "word") : null;
    if (word === null)
      badRows.push({ row: `line ${row.line}`, problem: "problem" in row ? row.problem : "word: missing" });
    else words.push(word.normalize("NFKC"));
  }
  if (words.length === 0) throw new ImportError(`${file.name} holds no word.`);
  return { rows: words.length, version: await index.addWords(words), badRows };
}
