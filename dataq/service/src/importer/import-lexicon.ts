import type { Database } from "../database/database.ts";
import type { PostingIndex } from "../search/postings/posting-index.ts";
import { datasetOf } from "./datasets.ts";
import { text } from "./field.ts";
import { readRows } from "./format/read-rows.ts";
import { ImportError, saidOf } from "./import-error.ts";
import { Counts, type ImportOptions, type ImportReport, reportOf, runOptionsOf } from "./import-file.ts";
import { say } from "./message.ts";
import type { LocalFile } from "./origin/origin.ts";
import { Run } from "./runs.ts";

export const lexiconName = "lexicon";

/**
 * Adds words to the segmenter's dictionary, which no operation gives back; what is built or replaced from now on is
 * cut with them. Words are only ever added, so the lexicon has no data sets.
 */
export async function importLexicon(
  database: Database,
  index: PostingIndex,
  file: LocalFile,
  options: ImportOptions,
): Promise<ImportReport> {
  const name = { target: lexiconName, name: options.dataset ?? datasetOf(file.name) };
  const counts = new Counts();
  const words: string[] = [];
  for await (const row of readRows(file.path, {
    ...options,
    onEncoding: (encoding) => {
      counts.encoding = encoding;
    },
  })) {
    if ("problem" in row) {
      counts.unread(row.line, row.problem);
      continue;
    }
    counts.row(row.fields);
    const word = text(row.fields, "word");
    if (word === null) counts.bad(row.line, say("row_lacks", { fields: ["word"] }));
    else words.push(word.normalize("NFKC"));
  }
  if (words.length === 0) throw new ImportError("no_word", { file: file.name });
  if (options.dryRun === true) return reportOf("dry_run", name, counts, words.length);
  const { origin, sha256 } = file;
  const run = await Run.start(database, {
    target: lexiconName,
    dataset: name.name,
    origin,
    sha256,
    options: runOptionsOf(options),
  });
  try {
    const version = await index.addWords(words);
    options.progress?.(say("new_dictionary", { version }));
    await run.finish(database.pool, { ...counts.rowCounts, records: words.length, duplicateIds: [] });
    return reportOf("imported", name, counts, words.length, words.length);
  } catch (error) {
    await run.fail(saidOf(error)).catch(() => {});
    throw error;
  }
}
