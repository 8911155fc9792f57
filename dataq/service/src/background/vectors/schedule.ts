import type { Database } from "../../database/database.ts";
import { documentOf } from "../../operations/registry.ts";
import type { Meaning } from "../../search/meaning/meaning.ts";
import type { VectorSpace } from "../../search/search-index.ts";
import { buildVectors, type VectorCounts } from "./build-vectors.ts";

export interface VectorOptions {
  readonly database: Database;
  readonly space: VectorSpace;
  readonly meaning: Meaning;
  /** The corpora that are searched by meaning. */
  readonly corpora: readonly string[];
  readonly lookEveryMs?: number;
  /** One line for each step. */
  readonly progress: (line: string) => void;
  readonly onTrouble: (message: string) => void;
}

/** The progress of the vectors of a corpus. */
export interface VectorState extends Pick<VectorCounts, "done" | "total"> {
  /** Whether the last check failed; the log says why. */
  readonly isFailing: boolean;
}

/** Makes missing vectors in the background and reports the progress. */
export class VectorSchedule {
  readonly #options: VectorOptions;
  readonly #states = new Map<string, VectorCounts>();
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #trouble: string | undefined;

  constructor(options: VectorOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#turn(), options.lookEveryMs ?? 5_000);
    this.#timer.unref();
    this.#turn();
  }

  /** Undefined for a corpus that is not searched by meaning. */
  state(corpus: string): VectorState | undefined {
    if (!this.#options.corpora.includes(corpus)) return undefined;
    const { done, total } = this.#states.get(corpus) ?? { done: 0, total: 0 };
    return { done, total, isFailing: this.#trouble !== undefined };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort();
    await this.#running;
  }

  #turn(): void {
    this.#running ??= this.#look().finally(() => {
      this.#running = undefined;
    });
  }

  async #look(): Promise<void> {
    const { meaning, corpora, onTrouble } = this.#options;
    try {
      const limit = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(answerLimitMs)]);
      const model = await meaning.embedder.identity(limit);
      meaning.use(model);
      for (const corpus of corpora) await this.#build(corpus, model);
      this.#trouble = undefined;
    } catch (error) {
      meaning.use(undefined);
      const { message } = error as Error;
      if (this.#stop.signal.aborted || this.#trouble === message) return;
      this.#trouble = message;
      onTrouble(message);
    }
  }

  async #build(corpus: string, model: string): Promise<void> {
    const { database, space, meaning, progress } = this.#options;
    const document = documentOf(corpus);
    if (document === undefined) return;
    let toldTenth = -1;
    const tell = (counts: VectorCounts) => {
      this.#states.set(corpus, counts);
      const { done, total, made } = counts;
      const tenth = Math.floor((10 * done) / Math.max(1, total));
      const isNews = made > 0 || (toldTenth === -1 && done < total);
      if (!isNews || tenth === toldTenth) return;
      toldTenth = tenth;
      progress(`Vectors of ${corpus}: ${done.toLocaleString("en")}/${total.toLocaleString("en")}.`);
    };
    await buildVectors({
      database,
      space,
      embedder: meaning.embedder,
      model,
      corpus,
      document,
      withoutDataset: meaning.withoutDataset,
      signal: this.#stop.signal,
      progress: tell,
      onRejected: (id) => progress(`The model rejects the text of ${corpus} ${id}; it gets no vector.`),
    });
  }
}

const answerLimitMs = 5_000;
