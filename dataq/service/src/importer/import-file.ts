import type { Database } from "../database/database.ts";
import type { IndexDocument, SearchIndex } from "../search/search-index.ts";
import { type DatasetName, defaultName, documentIn, recordImport, seriesOf } from "./datasets.ts";
import { FieldCounts } from "./field-counts.ts";
import { foldChanged } from "./fold.ts";
import type { Encoding } from "./format/encoding.ts";
import { type ReadOptions, readRows } from "./format/read-rows.ts";
import { ImportError, saidOf } from "./import-error.ts";
import { inChinese, inEnglish, type Message, say } from "./message.ts";
import { wantedRow } from "./open-data/rows.ts";
import type { LocalFile } from "./origin/local-file.ts";
import { type PublisherTerms, provenanceOf, publicationOf } from "./provenance.ts";
import { Run, type RunCounts, type RunOptions, type RunPublisher } from "./runs.ts";
import type { Draft, RowListener, Target } from "./target.ts";

export interface ImportOptions extends Partial<PublisherTerms> {
  /** Name of the data set; an import of the same name replaces it. Default: see `defaultName`. */
  readonly dataset?: string | undefined;
  /** Adds to the data set and replaces only records with the same id. */
  readonly update?: boolean;
  /** Reads and checks everything, writes nothing. */
  readonly dryRun?: boolean;
  /** Imports a file again that was already imported. */
  readonly again?: boolean;
  /** Replaces the data set even if less than half of its records remain. */
  readonly yes?: boolean;
  readonly table?: string | undefined;
  /** Accepts the versions of laws in the file, even if they omit many articles. */
  readonly acceptVersions?: boolean;
  readonly signal?: AbortSignal;
  readonly progress?: (message: Message) => void;
}

/** The options in the form that a run stores. */
export function runOptionsOf(options: ImportOptions): RunOptions {
  return {
    mode: options.update === true ? "update" : "replace",
    source: options.source ?? null,
    kind: options.kind ?? "third_party",
    licence: options.licence ?? null,
    retrieved: options.retrieved ?? null,
    table: options.table ?? null,
    acceptVersions: options.acceptVersions === true,
  };
}

export interface ImportReport {
  readonly target: string;
  readonly dataset: string;
  /** `unchanged`: this file was already imported with these options. */
  readonly outcome: "imported" | "unchanged" | "dry_run";
  readonly rows: number;
  readonly records: number;
  /** Rows that belong to another target of the same file. */
  readonly passedOver: number;
  readonly badRows: number;
  /** Records of the file that are not served, because their ID occurs again; null if nothing was written. */
  readonly duplicates: number | null;
  /** The first of their IDs. */
  readonly duplicateIds: readonly string[];
  /** The first bad rows, with their problems. */
  readonly problems: readonly RowProblem[];
  /** Encoding of a text file; null for SQLite and pure ASCII. */
  readonly encoding: Encoding | null;
  /** What was held back until the operator decides. */
  readonly notes: readonly { readonly note: string; readonly noteZh: string }[];
  /** The fields of the file, and the number of rows in which each is filled. */
  readonly fields: Readonly<Record<string, number>>;
  /** Records of the operation that are served now, in all data sets. */
  readonly size: number | null;
}

export interface RowProblem {
  readonly line: number;
  readonly problem: string;
  readonly problemZh: string;
}

/**
 * Imports a file row by row. Bad rows are reported and do not stop the import. A file without a good row changes
 * nothing.
 */
export async function importFile(
  database: Database,
  index: SearchIndex,
  target: Target,
  file: LocalFile,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const name = {
    target: target.name,
    name: options.dataset ?? (await defaultName(database, target.name, file)),
  };
  const terms = runOptionsOf(options);
  if (options.dryRun === true) {
    const counts = new Counts();
    let records = 0;
    for await (const _ of draftsOf(target, file, counts, terms, options)) records++;
    return reportOf("dry_run", name, counts, records);
  }
  if (options.again !== true && (await isWhatItHolds(database, name, file, options))) {
    // That import may have been interrupted before its records were served.
    const notes = await foldIn(database, index, target, options);
    const state = await index.state(servedIn(target));
    return { ...reportOf("unchanged", name, new Counts(), 0, state?.size ?? null), notes };
  }
  const made = await importSeries(database, index, target, name, [{ file, terms }], options);
  const [{ counts, records }] = made.steps as [Step];
  return {
    ...reportOf("imported", name, counts, records, made.size),
    duplicates: made.duplicates,
    duplicateIds: made.duplicateIds,
    notes: made.notes,
  };
}

interface Step {
  readonly run: Run;
  readonly counts: Counts;
  records: number;
}

/**
 * Makes a data set from the records of several files, where later files override earlier ones, and switches to it at
 * once. A refresh uses it to repeat an import and its updates.
 */
export async function importSeries(
  database: Database,
  index: SearchIndex,
  target: Target,
  name: DatasetName,
  series: readonly { readonly file: LocalFile; readonly terms: RunOptions }[],
  options: Pick<ImportOptions, "signal" | "progress" | "yes" | "update">,
): Promise<{
  readonly steps: readonly Step[];
  readonly size: number;
  readonly duplicates: number;
  readonly duplicateIds: readonly string[];
  readonly notes: ImportReport["notes"];
}> {
  const steps: Step[] = [];
  for (const { file, terms } of series) {
    const { origin, sha256 } = file;
    const run = await Run.start(database, {
      target: target.name,
      dataset: name.name,
      origin,
      sha256,
      options: terms,
    });
    steps.push({ run, counts: new Counts(), records: 0 });
  }
  const mode = options.update === true ? "update" : "replace";
  const last = steps.at(-1) as Step;
  let share = 0;
  const documents = async function* (): AsyncGenerator<IndexDocument> {
    for (const [place, { file, terms }] of series.entries()) {
      const step = steps[place] as Step;
      const drafts = draftsOf(target, file, step.counts, terms, {
        ...options,
        // Records that combine rows are complete only when all rows have been read.
        ...("map" in target &&
          target.gather === undefined && {
            onShare: (read: number) => {
              share = (place + read) / series.length;
            },
          }),
      });
      const importedAt = new Date();
      for await (const { draft, own } of drafts) {
        step.records++;
        const publication = publicationOf(file, terms, importedAt, own);
        step.counts.addPublisher(publication);
        yield documentIn(target, name.name, {
          ...draft,
          source: provenanceOf(publication, draft, draft.id),
        });
      }
      if (step.records === 0) throw emptyFile(target, step.counts);
    }
  };
  let duplicateIds: readonly string[] = [];
  let served = { before: 0, after: 0 };
  try {
    const { size } = await index.refresh(target.corpus, documents(), {
      dataset: name.name,
      mode,
      resumeKey: `${series.map(({ file }) => file.sha256).join(" ")} ${formVersion}`,
      ...(target.fill !== undefined && { fill: target.fill }),
      ...(options.signal && { signal: options.signal }),
      progress: (done) => {
        last.run.progress(done, share > 0 ? Math.round(done / share) : null);
        if (done % 5_000 === 0) options.progress?.(say("indexed", { done }));
      },
      atSwitch: async (change) => {
        served = change;
        duplicateIds = await recordImport(change, name, target.corpus, {
          runs: steps.map(({ run, counts, records }) => ({ run, counts: { ...counts.rowCounts, records } })),
          mode,
          yes: options.yes === true,
        });
      },
    });
    const notes = await foldIn(database, index, target, options);
    const records = steps.reduce((sum, step) => sum + step.records, 0);
    const added = mode === "update" ? served.after - served.before : served.after;
    const serving = target.fold === undefined ? size : ((await index.state(servedIn(target)))?.size ?? 0);
    return { steps, size: serving, duplicates: records - added, duplicateIds, notes };
  } catch (error) {
    for (const { run } of steps) await run.fail(saidOf(error)).catch(() => {});
    throw error;
  }
}

/** The corpus that serves the records of a target. */
function servedIn({ servedIn, name, fold, corpus }: Target): string {
  return fold === undefined ? corpus : (servedIn ?? name);
}

async function foldIn(
  database: Database,
  index: SearchIndex,
  { fold }: Target,
  options: Pick<ImportOptions, "signal" | "progress">,
): Promise<ImportReport["notes"]> {
  const notes = fold === undefined ? [] : await foldChanged(database, index, fold, options);
  return notes.map((note) => ({ note: inEnglish(note), noteZh: inChinese(note) }));
}

/** Increase this when rows are read differently, so that a resumed import does not mix two versions. */
const formVersion = "3";

/** Whether the data set was last imported from exactly this file with the same options. */
async function isWhatItHolds(
  database: Database,
  name: DatasetName,
  file: LocalFile,
  options: ImportOptions,
): Promise<boolean> {
  const last = (await seriesOf(database, name)).at(-1);
  if (last === undefined || last.sha256 !== file.sha256) return false;
  const { mode, acceptVersions } = runOptionsOf(options);
  if (last.options.mode !== mode || (acceptVersions && !last.options.acceptVersions)) return false;
  return (["source", "kind", "licence", "retrieved", "table"] as const).every(
    (name) => options[name] === undefined || options[name] === last.options[name],
  );
}

function emptyFile(target: Target, { first }: Counts): ImportError {
  return first === undefined
    ? new ImportError("no_row", { target: target.name })
    : new ImportError("no_row_since", { target: target.name, ...first });
}

export function reportOf(
  outcome: ImportReport["outcome"],
  { target, name }: DatasetName,
  counts: Counts,
  records: number,
  size: number | null = null,
): ImportReport {
  const { rows, badRows, passedOver } = counts.rowCounts;
  const { problems, fields, encoding } = counts;
  return {
    target,
    dataset: name,
    outcome,
    rows,
    records,
    passedOver,
    badRows,
    duplicates: null,
    duplicateIds: [],
    notes: [],
    problems,
    encoding,
    fields: fields.report(),
    size,
  };
}

async function* draftsOf(
  target: Target,
  file: LocalFile,
  counts: Counts,
  terms: RunOptions,
  options: Pick<ImportOptions, "signal"> & Pick<ReadOptions, "onShare">,
): AsyncGenerator<SourcedDraft> {
  if ("read" in target) {
    for await (const draft of target.read(file, counts.listener, terms)) yield { draft };
    return;
  }
  const gatherer = target.gather?.();
  const onEncoding = (encoding: Encoding) => {
    counts.encoding = encoding;
  };
  const table = terms.table ?? undefined;
  const wanted = file.rows && wantedRow(file.rows);
  const header = file.rows?.header;
  for await (const row of readRows(file.path, { ...options, table, onEncoding, ...(header && { header }) })) {
    options.signal?.throwIfAborted();
    if ("problem" in row) {
      counts.unread(row.line, row.problem);
      continue;
    }
    const fields = wanted === undefined ? row.fields : wanted(row.fields);
    if (fields === null) {
      counts.passedOver++;
      continue;
    }
    counts.row(fields);
    const mapped = target.map(fields);
    if (mapped === null) counts.passedOver++;
    else if ("problem" in mapped) counts.bad(row.line, mapped.problem);
    else if (gatherer === undefined) yield { draft: mapped.record, own: fields["source"] };
    else gatherer.add(mapped.record);
  }
  for (const draft of gatherer?.records() ?? []) yield { draft };
}

interface SourcedDraft {
  readonly draft: Draft;
  /** The row's statement about its source. */
  readonly own?: unknown;
}

/** The outcome for the rows of a file. */
export class Counts {
  first: { readonly line: number; readonly problem: Message } | undefined;
  readonly problems: RowProblem[] = [];
  readonly fields = new FieldCounts();
  passedOver = 0;
  encoding: Encoding | null = null;
  #rows = 0;
  #badRows = 0;
  readonly #publishers = new Map<string, RunPublisher>();

  row(fields: Readonly<Record<string, unknown>>): void {
    this.#rows++;
    this.fields.add(fields);
  }

  /** Adds a publisher. Only the first ones are kept, because a file may name another one in every row. */
  addPublisher({ name, licence }: RunPublisher): void {
    if (this.#publishers.size < mostPublishers && !this.#publishers.has(name))
      this.#publishers.set(name, { name, licence });
  }

  /** Counts a row that could not be read at all. */
  unread(line: number, problem: Message): void {
    this.#rows++;
    this.bad(line, problem);
  }

  bad(line: number, problem: Message): void {
    this.#badRows++;
    this.first ??= { line, problem };
    if (this.problems.length < mostProblems)
      this.problems.push({ line, problem: inEnglish(problem), problemZh: inChinese(problem) });
  }

  get listener(): RowListener {
    return {
      row: (fields) => this.row(fields),
      bad: (row, problem) => this.bad(Number(/\d+/.exec(row)?.[0] ?? 0), problem),
      passOver: () => {
        this.passedOver++;
      },
    };
  }

  get rowCounts(): Pick<RunCounts, "rows" | "badRows" | "passedOver" | "publishers"> {
    return {
      rows: this.#rows,
      badRows: this.#badRows,
      passedOver: this.passedOver,
      publishers: [...this.#publishers.values()],
    };
  }
}

const mostProblems = 50;
const mostPublishers = 20;
