import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { Failure } from "@dataq/contract";
import { WORK_CONNECTIONS } from "../../database/connections.ts";
import type { Database } from "../../database/database.ts";
import { lawEntriesCorpus } from "../../operations/legal/law-catalog/corpus.ts";
import { lawArticlesCorpus } from "../../operations/legal/laws/corpus.ts";
import { sampleCorpora, sampleCorpus, sampleDataset } from "../../operations/sample-corpora.ts";
import type { SearchEngine } from "../../search/open-index.ts";

export interface FirstDataOptions {
  readonly databaseUrl: string | undefined;
  readonly databaseDirectUrl: string | undefined;
  readonly search: SearchEngine | undefined;
  readonly dataFolder: string;
  /** Whether live keys get samples. If not, the samples are generated when the first test key needs them. */
  readonly samples: boolean;
  /** Where the first laws come from; undefined for none. */
  readonly laws: string | undefined;
  readonly progress: (line: string) => void;
  /** Called with a corpus that is finished, built or not, before the calls that wait for it go on. */
  readonly onSettled?: (corpus: string) => void;
  /** How long a call waits for data that is being built; 25 s by default. */
  readonly longestWaitMs?: number;
}

/** What the worker has to build. */
export interface FirstDataTask {
  readonly databaseUrl: string | undefined;
  readonly databaseDirectUrl: string | undefined;
  readonly search: SearchEngine | undefined;
  readonly dataFolder: string;
  readonly corpora: readonly string[];
  readonly laws: string | undefined;
}

/** A message of the worker: a line for the terminal, or corpora that are finished, built or not. */
export type FirstDataNews = { readonly line: string } | { readonly settled: readonly string[] };

/**
 * The data of a first start: samples, and real laws if a package index can be reached. A thread of low priority
 * builds what is missing while the service answers calls. A call that needs it waits.
 */
export class FirstData {
  /** Settled when everything is built or has failed. Never rejects. */
  readonly done: Promise<void>;
  /** Settled when the laws are imported or could not be imported. */
  readonly laws: Promise<void>;
  readonly #database: Database;
  readonly #options: FirstDataOptions;
  readonly #looked = Promise.withResolvers<void>();
  readonly #waiting = new Map<string, { promise: Promise<void>; settle: () => void }>();
  readonly #notMade = new Set<string>();
  #worker: Worker | undefined;
  #samples: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(database: Database, options: FirstDataOptions) {
    this.#database = database;
    this.#options = options;
    this.done = this.#bring().catch((error: Error) => options.progress(`First data: ${error.message}`));
    this.laws = this.#looked.promise.then(() => this.#waiting.get(lawArticlesCorpus)?.promise);
    void this.done.then(() => this.#settleAll());
  }

  /** Resolves at once unless the corpus is still being built. */
  async ready(corpus: string): Promise<void> {
    await this.#looked.promise;
    if (this.#notMade.has(corpus)) this.#makeSamples();
    const waiting = this.#waiting.get(corpus);
    if (waiting === undefined) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<"late">((resolve) => {
      timer = setTimeout(resolve, this.#options.longestWaitMs ?? longestWaitMs, "late");
    });
    const ended = await Promise.race([waiting.promise, late]);
    clearTimeout(timer);
    if (ended === "late") throw await this.#preparing(corpus);
  }

  /** Says how far the corpus is, and when it will be there if it goes on like this. */
  async #preparing(corpus: string): Promise<Failure> {
    const found = await this.#database.pool.query<{ done: number; total: number | null; seconds: number }>(
      `select done, total, extract(epoch from now() - started_at)::float8 as seconds
         from import_run where target = $1 and state = 'running' order by id desc limit 1`,
      [corpus],
    );
    const { done, total, seconds } = found.rows[0] ?? { done: 0, total: null, seconds: 0 };
    const share = total === null || total === 0 ? 0 : Math.min(1, done / total);
    const left = share === 0 ? soonestS : Math.ceil((seconds * (1 - share)) / share);
    return new Failure("preparing", {
      operation: corpus,
      percent: Math.floor(100 * share),
      retry_after: Math.min(latestS, Math.max(soonestS, left)),
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#worker?.postMessage("stop");
    const timer = setTimeout(() => void this.#worker?.terminate(), stopLimitMs);
    await Promise.all([this.done, this.#samples]);
    clearTimeout(timer);
  }

  async #bring(): Promise<void> {
    const { samples, laws } = this.#options;
    try {
      const found = await this.#database.pool.query<{ corpus: string; dataset: string }>(
        `select c.corpus, s.dataset from search_corpus c
           join search_snapshot_segment p on p.snapshot = c.snapshot join search_segment s on s.id = p.segment`,
      );
      const has = (corpus: string, dataset?: string) =>
        found.rows.some((row) => row.corpus === corpus && (dataset === undefined || row.dataset === dataset));
      const missing = sampleCorpora
        .map(({ corpus }) => sampleCorpus(corpus))
        .filter((corpus) => !has(corpus, sampleDataset));
      const corpora = samples ? missing : [];
      if (!samples) for (const corpus of missing) this.#notMade.add(corpus);
      const wanted = has(lawArticlesCorpus) ? undefined : laws;
      for (const corpus of corpora) this.#expect(corpus);
      if (wanted !== undefined) for (const corpus of lawCorpora) this.#expect(corpus);
      this.#looked.resolve();
      if ((corpora.length === 0 && wanted === undefined) || this.#isClosed) return;
      await this.#work({ corpora, laws: wanted });
    } finally {
      this.#looked.resolve();
    }
  }

  #makeSamples(): void {
    const { progress } = this.#options;
    const corpora = [...this.#notMade];
    this.#notMade.clear();
    if (this.#isClosed) return;
    for (const corpus of corpora) this.#expect(corpus);
    this.#samples = this.#work({ corpora, laws: undefined })
      .catch((error: Error) => progress(`Samples: ${error.message}`))
      .finally(() => this.#settleAll());
  }

  async #work(wanted: Pick<FirstDataTask, "corpora" | "laws">): Promise<void> {
    let takeBack = await this.#database.lend(WORK_CONNECTIONS);
    while (takeBack === undefined && !this.#isClosed) {
      await sleep(askAgainMs);
      takeBack = await this.#database.lend(WORK_CONNECTIONS);
    }
    if (!this.#isClosed) await this.#run(wanted);
    takeBack?.();
  }

  #run(wanted: Pick<FirstDataTask, "corpora" | "laws">): Promise<void> {
    const { databaseUrl, databaseDirectUrl, search, dataFolder } = this.#options;
    const task: FirstDataTask = { databaseUrl, databaseDirectUrl, search, dataFolder, ...wanted };
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const worker = new Worker(new URL(`./worker.${extension}`, import.meta.url), { workerData: task });
    this.#worker = worker;
    return new Promise((resolve, reject) => {
      worker.on("message", (news: FirstDataNews) => {
        if ("line" in news) this.#options.progress(news.line);
        else for (const corpus of news.settled) this.#waiting.get(corpus)?.settle();
      });
      worker.once("error", reject);
      worker.once("exit", () => resolve());
    });
  }

  #expect(corpus: string): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const settle = () => {
      this.#waiting.delete(corpus);
      this.#options.onSettled?.(corpus);
      resolve();
    };
    this.#waiting.set(corpus, { promise, settle });
  }

  #settleAll(): void {
    for (const { settle } of this.#waiting.values()) settle();
  }
}

const longestWaitMs = 25_000;
/** Bounds of `retry_after`. */
const soonestS = 5;
const latestS = 60;
const stopLimitMs = 5_000;
const askAgainMs = 500;
export const lawCorpora = [lawArticlesCorpus, lawEntriesCorpus];
