import type { PostingIndex } from "../search/postings/posting-index.ts";
import { text } from "./field.ts";
import { FieldCounts } from "./field-counts.ts";
import { readRows } from "./format/read-rows.ts";
import { ImportError } from "./import-error.ts";
import type { WholeImport } from "./import-whole.ts";
import { type Message, say } from "./message.ts";
import type { LocalFile } from "./origin/origin.ts";

/** Words for the segmenter, which no operation gives back. */
export const lexiconImport: WholeImport = {
  name: "lexicon",
  async run(index, file, _publication, options) {
    const { version, ...read } = await importLexicon(index, file, options);
    if (version !== null) options.progress?.(say("new_dictionary", { version }));
    return { ...read, size: read.rows };
  },
};

/** Adds words to the segmenter's dictionary; what is built or replaced from now on is cut with them. */
async function importLexicon(
  index: PostingIndex,
  file: LocalFile,
  options: { readonly dryRun?: boolean } = {},
): Promise<LexiconImport> {
  const fields = new FieldCounts();
  const words: string[] = [];
  const badRows: { row: string; problem: Message }[] = [];
  for await (const row of readRows(file.path)) {
    if ("fields" in row) fields.add(row.fields);
    const word = "fields" in row ? text(row.fields, "word") : null;
    if (word === null)
      badRows.push({
        row: `line ${row.line}`,
        problem: "problem" in row ? row.problem : say("row_lacks", { fields: ["word"] }),
      });
    else words.push(word.normalize("NFKC"));
  }
  if (words.length === 0) throw new ImportError("no_word", { file: file.name });
  const version = options.dryRun === true ? null : await index.addWords(words);
  return { rows: words.length, version, badRows, fields: fields.report() };
}

interface LexiconImport {
  readonly rows: number;
  /** Of the dictionary with these words; null where nothing was written. */
  readonly version: string | null;
  readonly badRows: readonly { readonly row: string; readonly problem: Message }[];
  /** Fields that the file has, and in how many rows they are filled. */
  readonly fields: Readonly<Record<string, number>>;
}
