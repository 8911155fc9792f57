import koffi from "koffi";
import { LocallmError } from "../wire/errors.ts";
import type { StatePart } from "../wire/inference/kept-state.ts";
import type { EncodedPicture } from "../wire/inference/picture.ts";
import { Batch, check } from "./batch.ts";
import type { SharedMemory } from "./kept/shared-memory.ts";
import type { CopyState, Functions, Pointer } from "./libllama/functions.ts";
import type { Threadpool } from "./libllama/threadpool.ts";
import { newPulse, type Pulse } from "./pulse.ts";

/** How a step ended: it completed, the cache had no room, or `abort` ended it. */
export type StepOutcome = "done" | "no_room" | "aborted";

type ContextFunctions = Pick<
  Functions,
  | "llama_context_default_params"
  | "llama_init_from_model"
  | "llama_free"
  | "llama_n_ctx_seq"
  | "llama_n_batch"
  | "llama_get_memory"
  | "llama_decode"
  | "llama_encode"
  | "llama_memory_clear"
  | "llama_memory_seq_rm"
  | "llama_memory_seq_cp"
  | "llama_memory_seq_add"
  | "llama_state_seq_get_size_ext"
  | "llama_state_seq_get_data_ext"
  | "llama_state_seq_set_data_ext"
  | "llama_memory_seq_pos_min"
  | "llama_memory_seq_pos_max"
  | "llama_memory_can_shift"
  | "llama_attach_threadpool"
  | "llama_set_n_threads"
  | "llama_set_causal_attn"
  | "llama_get_embeddings_seq"
>;

/** What a model remembers of the tokens it has seen. */
export interface MemoryKind {
  /** Whether it has a cache, which holds something for each token. */
  readonly hasCache: boolean;
  /** Whether it has a recurrent state, which each token changes. It cannot be taken back. */
  readonly hasState: boolean;
  /** The number of tokens that layers with a sliding window see. 0 if there are none. */
  readonly slidingWindow: number;
}

export interface ContextRequest {
  readonly sequences: number;
  readonly contextPerSequence: number;
  readonly vocabSize: number;
  /** How many numbers a row has that stands in place of a token. */
  readonly inputLength: number;
  /** Whether positions have four dimensions. */
  readonly hasGrids: boolean;
  readonly batch: number;
  readonly microBatch: number;
  /**
   * The maximum number of outputs of one step. The engine's buffers grow with it. 0 means one output per row
   * of the batch.
   */
  readonly outputs: number;
  readonly threads: number;
  readonly threadpool: Threadpool | null;
  readonly flashAttention: "auto" | "on" | "off";
  readonly kvCacheType: "f16" | "q8_0" | "q4_0";
  readonly embeddings: boolean;
  /** -1 selects the model's default. */
  readonly pooling: number;
  /** Whether all sequences take what they hold from one cache. */
  readonly unified: boolean;
  /** The size of that cache, if it is not the windows of all sequences. */
  readonly cells?: number;
  readonly memory: MemoryKind;
}

/** Which part of a state the library copies. */
const wholeState = 0;
/** Recurrent states, and the caches of layers with a sliding window. */
const uncuttablePart = 1;

const flashAttention = { auto: -1, on: 1, off: 0 };
const mostBufferedBytes = 4 * 2 ** 20;
const cacheType = { f16: 1, q8_0: 8, q4_0: 2 };

/** A llama.cpp context: the cache of all sequences, and the batch that the next step computes. */
export class Context {
  readonly #library: ContextFunctions;
  readonly pointer: Pointer;
  readonly batch: Batch;
  readonly contextPerSequence: number;
  /** The cells of the cache that all sequences share. Null if each has its own. */
  readonly sharedCells: number | null;
  /** The maximum number of rows in one step. */
  readonly capacity: number;
  readonly #canShift: boolean;
  readonly kind: MemoryKind;
  readonly #sequences: number;
  readonly #memory: Pointer | null;
  readonly #compute: Functions["llama_decode"];
  readonly #pulse: Pulse = newPulse();
  readonly #threadpool: Threadpool | null;
  #copiesWait = false;
  #threads: number;
  #isCausal = true;
  readonly #inputLength: number;
  readonly #hasGrids: boolean;

  constructor(library: ContextFunctions, model: Pointer, request: ContextRequest) {
    this.#library = library;
    this.#sequences = request.sequences;
    this.kind = request.memory;
    this.#threads = request.threads;
    this.#inputLength = request.inputLength;
    this.#hasGrids = request.hasGrids;
    this.#threadpool = request.threadpool;
    const pointer = library.llama_init_from_model(model, {
      ...library.llama_context_default_params(),
      n_ctx: request.cells ?? request.contextPerSequence * request.sequences,
      n_batch: request.batch,
      n_ubatch: request.microBatch,
      n_seq_max: request.sequences,
      n_outputs_max: request.outputs,
      n_threads: request.threads,
      n_threads_batch: request.threads,
      pooling_type: request.pooling,
      flash_attn_type: flashAttention[request.flashAttention],
      type_k: cacheType[request.kvCacheType],
      type_v: cacheType[request.kvCacheType],
      embeddings: request.embeddings,
      kv_unified: request.unified,
      // Layers with a sliding window have cells for the window and one step, not for the whole context.
      swa_full: false,
      abort_callback: this.#pulse.callback,
      abort_callback_data: this.#pulse.data,
    });
    if (pointer === null) {
      throw new LocallmError("model_load_failed", {
        reason: `cannot allocate a context of ${request.sequences} × ${request.contextPerSequence} tokens: too little memory, or a cache type that the model does not support`,
      });
    }
    this.pointer = pointer;
    if (request.threadpool !== null) {
      const pool = request.threadpool.pointer;
      library.llama_attach_threadpool(pointer, pool, pool);
    }
    const most = library.llama_n_ctx_seq(pointer);
    this.sharedCells = request.unified ? most : null;
    // The library rounds a window of its own up in the same way.
    const window = Math.ceil(request.contextPerSequence / 256) * 256;
    this.contextPerSequence = request.cells === undefined ? most : Math.min(window, most);
    this.#memory = library.llama_get_memory(pointer);
    this.#compute = this.#memory === null ? library.llama_encode : library.llama_decode;
    const { hasCache, hasState } = request.memory;
    this.#canShift =
      this.#memory !== null && !(hasCache && hasState) && library.llama_memory_can_shift(this.#memory);
    // The library may accept less than requested.
    this.capacity = Math.min(request.batch, library.llama_n_batch(pointer));
    this.batch = new Batch({
      rows: this.capacity,
      sequences: request.sequences,
      positions: this.contextPerSequence,
      vocabSize: request.vocabSize,
      inputLength: request.inputLength,
      hasGrids: request.hasGrids,
      outputs: request.outputs === 0 ? this.capacity : request.outputs,
    });
  }

  /** A number that grows while a step makes progress; see `Pulse`. */
  get progress(): number {
    return this.#pulse.count;
  }

  /** Sets the number of threads for the next steps, at most the size of the pool. */
  useThreads(threads: number): void {
    if (threads === this.#threads) return;
    this.#threads = threads;
    this.#library.llama_set_n_threads(this.pointer, threads, threads);
  }

  /** Sets whether the cells of the next steps see only those before them, or all of their step. */
  useCausal(isCausal: boolean): void {
    if (isCausal === this.#isCausal) return;
    this.#isCausal = isCausal;
    this.#library.llama_set_causal_attn(this.pointer, isCausal);
  }

  /** Throws `batch_too_small`, or `decode_failed` if the picture is not one for this model. */
  checkPicture({ cells, positions, rows, layout, causal }: EncodedPicture): void {
    const grid = layout === "line" ? null : layout;
    const isGrid = (side: number) => Number.isInteger(side) && side > 0;
    const wrong =
      (!(Number.isInteger(cells) && cells > 0) && `it has ${cells} cells`) ||
      (rows.length > 0 &&
        rows.length !== cells * this.#inputLength &&
        `it has ${rows.length} numbers, and ${cells} cells of ${this.#inputLength} need ${cells * this.#inputLength}`) ||
      (grid !== null && !this.#hasGrids && "the model's positions have no grids") ||
      (grid !== null &&
        !(isGrid(grid.width) && isGrid(grid.height) && grid.width * grid.height === cells) &&
        `${cells} cells are no grid of ${grid.width} × ${grid.height}`) ||
      (positions !== (grid === null ? cells : Math.max(grid.width, grid.height)) &&
        `it moves on by ${positions} positions`);
    if (wrong !== false) throw new LocallmError("decode_failed", { reason: `a picture is wrong: ${wrong}` });
    if (!causal && cells > this.capacity)
      throw new LocallmError("batch_too_small", { cells, rows: this.capacity });
  }

  /** Puts the threads to sleep until the next step. */
  rest(): void {
    this.#threadpool?.rest();
  }

  /**
   * Computes the batch on this thread. This is fastest, but the process reads no messages until the step is
   * done.
   */
  step(): StepOutcome {
    this.#arm();
    return outcome(this.#compute(this.pointer, this.batch.native));
  }

  /** Computes the batch on another thread, so that this one can receive an abort. */
  stepAside(): Promise<StepOutcome> {
    this.#arm();
    return new Promise((resolve, reject) => {
      this.#compute.async(this.pointer, this.batch.native, (error, status) => {
        try {
          if (error) throw error;
          resolve(outcome(status));
        } catch (failure) {
          reject(failure);
        }
      });
    });
  }

  #arm(): void {
    this.#pulse.arm();
    this.#copiesWait = false;
  }

  /** Ends a step that runs on another thread. This takes a few milliseconds. */
  abort(): void {
    this.#pulse.abort();
  }

  /** The vector of a sequence after the last step; null if there is none. */
  vector(sequence: number, length: number): Float32Array | null {
    check("sequence", sequence, this.#sequences);
    const address = this.#library.llama_get_embeddings_seq(this.pointer, sequence);
    return address === null ? null : new Float32Array(koffi.view(address, length * 4).slice(0));
  }

  /** Whether a sequence of this many tokens can be cut to any beginning, even after it was restored from a state. */
  cutsAnywhere(tokens = Number.POSITIVE_INFINITY): boolean {
    const { hasState, slidingWindow } = this.kind;
    return !hasState && (slidingWindow === 0 || tokens <= slidingWindow);
  }

  /**
   * Whether a sequence can be cut before a position. Layers with a sliding window reuse the cells of tokens that
   * the next token does not see, so they may lack what the token after a shorter beginning sees. `spare` is how many
   * more tokens they must still have.
   */
  canCutTo(sequence: number, position: number, spare = 0): boolean {
    check("sequence", sequence, this.#sequences);
    if (position === 0 || this.cutsAnywhere()) return true;
    if (this.kind.hasState || this.#memory === null) return false;
    const first = this.#library.llama_memory_seq_pos_min(this.#memory, sequence);
    return first <= Math.max(0, position - this.kind.slidingWindow + 1 - spare);
  }

  /**
   * Removes a sequence's tokens from a position on. Returns false if this kind of memory cannot be truncated;
   * the whole sequence is then removed.
   */
  truncate(sequence: number, from: number): boolean {
    check("sequence", sequence, this.#sequences);
    if (this.#memory === null) return from === 0;
    if (this.#library.llama_memory_seq_rm(this.#memory, sequence, from, -1)) return true;
    this.#library.llama_memory_seq_rm(this.#memory, sequence, -1, -1);
    return false;
  }

  /**
   * Replaces the target sequence by a copy of the source. Returns false if that failed; the target is then
   * empty. A small state is copied through a buffer. A large one is copied by the library, which copies the
   * whole cache during the next step. So is one with a sliding window, because a state contains only what the next
   * token sees, and then the target could not be cut. In a shared cache, both sequences then have the same cells.
   */
  copy(source: number, target: number): boolean {
    check("sequence", source, this.#sequences);
    check("sequence", target, this.#sequences);
    const library = this.#library;
    if (this.#memory === null) return false;
    library.llama_memory_seq_rm(this.#memory, target, -1, -1);
    if (this.sharedCells !== null) {
      library.llama_memory_seq_cp(this.#memory, source, target, -1, -1);
      return true;
    }
    const size = this.stateBytes(source);
    // If a copy waits for the next step, later copies must wait too, because they may read or overwrite its
    // data.
    if (size > mostBufferedBytes || this.#copiesWait || this.kind.slidingWindow > 0) {
      library.llama_memory_seq_cp(this.#memory, source, target, -1, -1);
      this.#copiesWait = true;
      return true;
    }
    const held = new Uint8Array(size);
    const got = Number(library.llama_state_seq_get_data_ext(this.pointer, held, size, source, wholeState));
    if (got === 0) return false;
    return Number(library.llama_state_seq_set_data_ext(this.pointer, held, got, target, wholeState)) > 0;
  }

  /**
   * Makes a copy that waits for the next step, so that it cannot overwrite a checkpoint that is restored before that.
   * The copied sequence gets one more token. Returns false if the step failed.
   */
  finishCopy(sequence: number): boolean {
    if (!this.#copiesWait) return true;
    this.useCausal(true);
    this.batch.clear();
    this.batch.add(0, this.lastPosition(sequence) + 1, sequence, false);
    const isDone = this.step() === "done";
    this.batch.clear();
    return isDone;
  }

  /** The size of a sequence's complete state. */
  stateBytes(sequence: number): number {
    check("sequence", sequence, this.#sequences);
    return Number(this.#library.llama_state_seq_get_size_ext(this.pointer, sequence, wholeState));
  }

  /**
   * Copies a sequence's complete state to `memory`. Returns false if the size does not match, or if a copy
   * into the sequence still waits for a step.
   */
  async saveState(sequence: number, memory: SharedMemory, part: StatePart): Promise<boolean> {
    if (this.#copiesWait || this.stateBytes(sequence) !== part.bytes) return false;
    return await this.#copyState(this.#library.llama_state_seq_get_data_ext, sequence, memory, part);
  }

  /**
   * Replaces a sequence's complete state. Returns false if the library rejected it; the sequence may then
   * hold anything.
   */
  async loadState(sequence: number, memory: SharedMemory, part: StatePart): Promise<boolean> {
    check("sequence", sequence, this.#sequences);
    return await this.#copyState(this.#library.llama_state_seq_set_data_ext, sequence, memory, part);
  }

  /** Runs on another thread, because a state may have gigabytes. */
  #copyState(copy: CopyState, sequence: number, memory: SharedMemory, part: StatePart): Promise<boolean> {
    const address = memory.address(part.offset, part.bytes);
    return new Promise((resolve, reject) => {
      copy.async(this.pointer, address, part.bytes, sequence, wholeState, (error, bytes) => {
        if (error) reject(error);
        else resolve(Number(bytes) === part.bytes);
      });
    });
  }

  /** Returns the last position of a sequence, or -1 if it is empty. */
  lastPosition(sequence: number): number {
    check("sequence", sequence, this.#sequences);
    return this.#memory === null ? -1 : this.#library.llama_memory_seq_pos_max(this.#memory, sequence);
  }

  /** The size of the part of a sequence's state that cannot be cut. */
  checkpointBytes(sequence: number): number {
    check("sequence", sequence, this.#sequences);
    return Number(this.#library.llama_state_seq_get_size_ext(this.pointer, sequence, uncuttablePart));
  }

  /** Copies the part of a sequence's state that cannot be cut. Returns false if the size does not match. */
  saveCheckpoint(sequence: number, into: Uint8Array): boolean {
    check("sequence", sequence, this.#sequences);
    const { length } = into;
    const library = this.#library;
    return (
      Number(library.llama_state_seq_get_data_ext(this.pointer, into, length, sequence, uncuttablePart)) ===
      length
    );
  }

  /** Restores a checkpoint of the sequence's first `tokens`. Returns false if the library rejected it. */
  goBack(sequence: number, bytes: Uint8Array): boolean {
    check("sequence", sequence, this.#sequences);
    const { length } = bytes;
    const library = this.#library;
    return (
      Number(library.llama_state_seq_set_data_ext(this.pointer, bytes, length, sequence, uncuttablePart)) ===
      length
    );
  }

  /**
   * Whether tokens from a position on can be removed from a sequence's middle. The layers with a sliding window may
   * lack the ones before, which the next token sees again when the ones after them are removed.
   */
  canCutOut(sequence: number, from: number): boolean {
    return this.#canShift && (this.kind.slidingWindow === 0 || this.canCutTo(sequence, from));
  }

  /** Removes the positions [from, to) and moves the following ones into their place. */
  cutOut(sequence: number, from: number, to: number): void {
    check("sequence", sequence, this.#sequences);
    if (this.#memory === null) return;
    this.#library.llama_memory_seq_rm(this.#memory, sequence, from, to);
    this.#library.llama_memory_seq_add(this.#memory, sequence, to, -1, from - to);
  }

  clearMemory(): void {
    if (this.#memory !== null) this.#library.llama_memory_clear(this.#memory, false);
  }

  free(): void {
    this.#library.llama_free(this.pointer);
  }
}

function outcome(status: number): StepOutcome {
  if (status === 0) return "done";
  if (status === 1) return "no_room";
  if (status === 2) return "aborted";
  throw new LocallmError("decode_failed", { reason: `status ${status}` });
}
