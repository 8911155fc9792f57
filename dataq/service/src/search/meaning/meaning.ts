import { createHash } from "node:crypto";
import type { Database } from "../../database/database.ts";
import { Recent } from "../recent.ts";
import type { Question, SearchPage, VectorSpace } from "../search-index.ts";
import type { Place } from "../stored-body.ts";
import type { Embedder } from "./embedder.ts";
import { fusedDepth } from "./fuse.ts";
import { Nearest, type NearestOptions } from "./nearest.ts";
import { blocksOf } from "./vector-blocks.ts";

export interface MeaningOptions extends NearestOptions {
  readonly space: VectorSpace;
  readonly database: Pick<Database, "pool" | "reads">;
  readonly embedder: Embedder;
  /** Generated records have no vectors. */
  readonly withoutDataset: string;
  /** How long a question waits for the model and the comparison. After that, only its words are searched. */
  readonly limitMs?: number;
  readonly now?: () => number;
  /** Called once for each failure, not for each question. */
  readonly onTrouble: (message: string) => void;
}

/** Finds documents that are similar in meaning to a question, if the operator has a model that makes vectors. */
export class Meaning {
  readonly embedder: Embedder;
  readonly withoutDataset: string;
  readonly space: VectorSpace;
  readonly #database: MeaningOptions["database"];
  readonly #nearest: Nearest;
  readonly #limitMs: number;
  readonly #now: () => number;
  readonly #onTrouble: (message: string) => void;
  /** Vectors of recent questions, because each further page repeats its question. */
  readonly #questions = new Recent<string, Float32Array>(questionBytes);
  readonly #coverage = new Map<string, { readonly isComplete: boolean; readonly at: number }>();
  /** The model that makes the vectors now, as `Embedder.identity` names it. */
  #model: string | undefined;
  #pausedUntil = 0;
  #open = 0;

  constructor(options: MeaningOptions) {
    this.embedder = options.embedder;
    this.withoutDataset = options.withoutDataset;
    this.space = options.space;
    this.#database = options.database;
    this.#nearest = new Nearest(options.database.reads.fixed, options);
    this.#limitMs = options.limitMs ?? 400;
    this.#now = options.now ?? Date.now;
    this.#onTrouble = options.onTrouble;
  }

  /** The model that the server has now; undefined if it cannot be reached. */
  use(model: string | undefined): void {
    this.#model = model;
  }

  /**
   * A short name of the model if it takes part in answers from this snapshot: if the server answers and every record has
   * a vector. Otherwise undefined.
   */
  async mark(corpus: string, snapshot?: string): Promise<string | undefined> {
    const model = this.#model;
    if (model === undefined || this.#now() < this.#pausedUntil) return undefined;
    if (!(await this.#isComplete(model, corpus, snapshot))) return undefined;
    return createHash("sha256").update(model).digest("hex").slice(0, 8);
  }

  /**
   * The documents nearest to the text among those that the question allows, nearest first. Undefined if the model fails
   * or is too slow; it is then not asked for a while.
   */
  async near(
    corpus: string,
    text: string,
    question: Pick<Question, "query" | "dates">,
    page: Pick<SearchPage, "snapshot" | "datasets">,
    signal: AbortSignal,
  ): Promise<readonly Place[] | undefined> {
    const model = this.#model;
    if (model === undefined || this.#open >= mostOpen) return undefined;
    const limit = AbortSignal.timeout(this.#limitMs);
    const both = AbortSignal.any([signal, limit]);
    this.#open++;
    try {
      const vector = await this.#vectorOf(model, text, both);
      const allowed = await this.space.allowed(corpus, question, page);
      const segments = allowed.filter(({ dataset }) => dataset !== this.withoutDataset);
      const { near, mean, deviation } = await this.#nearest.find(model, segments, vector, fusedDepth, both);
      return near
        .filter(({ similarity }) => similarity >= mean + leastDeviations * deviation)
        .map((each) => this.space.place(each));
    } catch (error) {
      // A call that the client cancelled says nothing about the model.
      if (!signal.aborted) {
        this.#pausedUntil = this.#now() + pauseMs;
        this.#onTrouble((error as Error).message);
      }
      return undefined;
    } finally {
      this.#open--;
    }
  }

  close(): Promise<void> {
    return this.#nearest.close();
  }

  async #vectorOf(model: string, text: string, signal: AbortSignal): Promise<Float32Array> {
    const key = `${model} ${text}`;
    const known = this.#questions.get(key);
    if (known !== undefined) return known;
    const [vector] = await this.embedder.embed([text], signal);
    this.#questions.put(key, vector!, 2 * key.length + 4 * vector!.length);
    return vector!;
  }

  /** Whether every record of the snapshot has a vector. A snapshot never changes, so `true` is final. */
  async #isComplete(model: string, corpus: string, wanted?: string): Promise<boolean> {
    const found = await this.space.segments(corpus, wanted);
    const segments = found?.segments.filter(({ dataset }) => dataset !== this.withoutDataset) ?? [];
    if (found === undefined || segments.length === 0) return false;
    const key = `${found.snapshot} ${model}`;
    const known = this.#coverage.get(key);
    if (known !== undefined && (known.isComplete || this.#now() - known.at < lookEveryMs))
      return known.isComplete;
    const needed = segments.reduce((sum, segment) => sum + blocksOf(segment), 0);
    const rows = await this.#database.pool.query<{ blocks: number }>({
      name: "search-vector-coverage",
      text: "select count(*)::int as blocks from search_vector_block where segment = any($1) and model = $2",
      values: [segments.map(({ id }) => id), model],
    });
    const isComplete = rows.rows[0]!.blocks >= needed;
    // A replica is asked for vectors only when it has all of them.
    if (isComplete) await this.#database.reads.pin();
    if (this.#coverage.size >= mostCovered) this.#coverage.clear();
    this.#coverage.set(key, { isComplete, at: this.#now() });
    return isComplete;
  }
}

/** How far above the mean similarity of all records a record must be to count as near. */
const leastDeviations = 4;
const pauseMs = 10_000;
const lookEveryMs = 2_000;
const mostOpen = 8;
const mostCovered = 1_000;
const questionBytes = 4 << 20;
