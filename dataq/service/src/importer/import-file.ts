import { basename } from "node:path";
import type { Database } from "../database/database.ts";
import type { PostingIndex } from "../search/postings/posting-index.ts";
import type { IndexDocument } from "../search/search-index.ts";
import { FieldCounts } from "./field-counts.ts";
import { type ReadOptions, readRows } from "./format/read-rows.ts";
import { ImportError, saidOf } from "./import-error.ts";
import { inEnglish, type Message, say } from "./message.ts";
import type { LocalFile } from "./origin/origin.ts";
import { type Publication, provenanceOf } from "./provenance.ts";
import { isImported, Run } from "./runs.ts";
import type { Draft, Target } from "./target.ts";

export interface ImportOptions {
  /** Name of the dataset; an import of the same name replaces it. Default: the file's name without endings. */
  readonly dataset?: string | undefined;
  /** Adds to the dataset and replaces only records with the same id. */
  readonly update?: boolean;
  /** Reads and checks everything, writes nothing. */
  readonly dryRun?: boolean;
  /** Imports a file again that is already in. */
  readonly again?: boolean;
  readonly table?: string | undefined;
  readonly signal?: AbortSignal;
  readonly progress?: (message: Message) => void;
}

export interface ImportReport {
  readonly target: string;
  readonly dataset: string;
  /** `unchanged`: this very file is in already. */
  readonly outcome: "imported" | "unchanged" | "dry_run";
  readonly rows: number;
  readonly records: number;
  /** Rows that belong to another target of the same file. */
  readonly passedOver: number;
  readonly badRows: number;
  /** The first bad rows, with what is wrong. */
  readonly problems: readonly { readonly line: number; readonly problem: string }[];
  /** Fields that the file has, and in how many rows they are filled. */
  readonly fields: Readonly<Record<string, number>>;
  /** Documents that serve now. */
  readonly size: number | null;
}

/** Imports a file row by row. Bad rows are reported and stop nothing; a file without a good row changes nothing. */
export async function importFile(
  database: Database,
  index: PostingIndex,
  target: Target,
  file: LocalFile,
  publication: Publication,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const dataset = options.dataset ?? datasetOf(file.name);
  const counts = new Counts(target.name, dataset);
  let share = 0;
  const drafts = draftsOf(target, file, counts, {
    ...options,
    // Records that are gathered from rows come when all rows are read.
    ...(target.gather === undefined && {
      onShare: (read: number) => {
        share = read;
      },
    }),
  });
  if (options.dryRun === true) {
    let records = 0;
    for await (const _ of drafts) records++;
    return counts.report("dry_run", records, null);
  }
  if (
    options.again !== true &&
    options.update !== true &&
    (await isImported(database, target.name, dataset, file.sha256))
  ) {
    const state = await index.state(target.corpus);
    return counts.report("unchanged", 0, state?.size ?? null);
  }
  const run = await Run.start(database, {
    target: target.name,
    dataset,
    origin: file.origin,
    sha256: file.sha256,
  });
  let records = 0;
  try {
    const report = await index.refresh(target.corpus, documentsOf(target, drafts, publication, counts), {
      dataset,
      mode: options.update === true ? "update" : "replace",
      resumeKey: `${file.sha256} ${formVersion}`,
      ...(target.fill !== undefined && { fill: target.fill }),
      ...(options.signal && { signal: options.signal }),
      progress: (done) => {
        records = done;
        run.progress(done, share > 0 ? Math.round(done / share) : null);
        if (done % 5_000 === 0) options.progress?.(say("indexed", { done }));
      },
    });
    await run.finish("done", records, counts.badRows, null);
    return counts.report("imported", records, report.size);
  } catch (error) {
    await run.finish("failed", records, counts.badRows, saidOf(error)).catch(() => {});
    throw error;
  }
}

/** Changes when rows are read in another way, so that a resumed import does not mix two ways. */
const formVersion = "1";

export function datasetOf(name: string): string {
  return (
    basename(name).replace(/(?:\.(?:jsonl|ndjson|json|csv|tsv|db|sqlite3?|gz|zst|zip|whl))+$/i, "") || name
  );
}

async function* draftsOf(
  target: Target,
  file: LocalFile,
  counts: Counts,
  options: ImportOptions & ReadOptions,
): AsyncGenerator<Draft> {
  const gatherer = target.gather?.();
  for await (const row of readRows(file.path, options)) {
    options.signal?.throwIfAborted();
    if ("problem" in row) {
      counts.bad(row.line, row.problem);
      continue;
    }
    counts.row(row.fields);
    const mapped = target.map(row.fields);
    if (mapped === null) counts.passedOver++;
    else if ("problem" in mapped) counts.bad(row.line, mapped.problem);
    else if (gatherer === undefined) yield mapped.record;
    else gatherer.add(mapped.record);
  }
  if (gatherer !== undefined) yield* gatherer.records();
}

async function* documentsOf(
  target: Target,
  drafts: AsyncIterable<Draft>,
  publication: Publication,
  counts: Counts,
): AsyncGenerator<IndexDocument> {
  let records = 0;
  for await (const draft of drafts) {
    records++;
    yield target.document({ ...draft, source: provenanceOf(publication, draft, draft.id) });
  }
  if (records === 0) {
    const { first } = counts;
    if (first === undefined) throw new ImportError("no_row", { target: target.name });
    throw new ImportError("no_row_since", { target: target.name, ...first });
  }
}

class Counts {
  rows = 0;
  badRows = 0;
  passedOver = 0;
  first: { readonly line: number; readonly problem: Message } | undefined;
  readonly problems: { line: number; problem: string }[] = [];
  readonly #target: string;
  readonly #dataset: string;
  readonly #fields = new FieldCounts();

  constructor(target: string, dataset: string) {
    this.#target = target;
    this.#dataset = dataset;
  }

  row(fields: Readonly<Record<string, unknown>>): void {
    this.rows++;
    this.#fields.add(fields);
  }

  bad(line: number, problem: Message): void {
    this.badRows++;
    this.first ??= { line, problem };
    if (this.problems.length < mostProblems) this.problems.push({ line, problem: inEnglish(problem) });
  }

  report(outcome: ImportReport["outcome"], records: number, size: number | null): ImportReport {
    return {
      target: this.#target,
      dataset: this.#dataset,
      outcome,
      rows: this.rows,
      records,
      passedOver: this.passedOver,
      badRows: this.badRows,
      problems: this.problems,
      fields: this.#fields.report(),
      size,
    };
  }
}

const mostProblems = 50;
