import koffi from "koffi";
import { LocallmError } from "../wire/errors.ts";
import type { Batch, Functions, Pointer } from "./libllama/functions.ts";
import type { Threadpool } from "./libllama/threadpool.ts";

/** What became of a step: done, no room in the cache for it, or ended by `abort`. */
export type StepOutcome = "done" | "no_room" | "aborted";

type ContextFunctions = Pick<
  Functions,
  | "llama_context_default_params"
  | "llama_init_from_model"
  | "llama_free"
  | "llama_n_ctx_seq"
  | "llama_get_memory"
  | "llama_decode"
  | "llama_encode"
  | "llama_memory_clear"
  | "llama_memory_seq_rm"
  | "llama_memory_seq_cp"
  | "llama_memory_seq_add"
  | "llama_state_seq_get_size"
  | "llama_state_seq_get_data"
  | "llama_state_seq_set_data"
  | "llama_memory_can_shift"
  | "llama_attach_threadpool"
  | "llama_set_n_threads"
>;

export interface ContextRequest {
  readonly sequences: number;
  readonly contextPerSequence: number;
  readonly batch: number;
  readonly microBatch: number;
  /** Outputs of one step; the engine's buffers grow with it. 0: as many as the batch. */
  readonly outputs: number;
  readonly threads: number;
  readonly threadpool: Threadpool | null;
  readonly flashAttention: "auto" | "on" | "off";
  readonly kvCacheType: "f16" | "q8_0" | "q4_0";
  readonly embeddings: boolean;
  /** -1: the model's own. */
  readonly pooling: number;
  readonly unified: boolean;
}

const flashAttention = { auto: -1, on: 1, off: 0 };
const mostBufferedBytes = 4 * 2 ** 20;
const cacheType = { f16: 1, q8_0: 8, q4_0: 2 };

/**
 * One of the engine's contexts: the cache of all sequences, and the batch that the next step computes.
 * The batch's arrays are our memory, written in place; the library reads them through their addresses.
 */
export class Context {
  readonly #library: ContextFunctions;
  readonly pointer: Pointer;
  readonly contextPerSequence: number;
  readonly capacity: number;
  readonly canShift: boolean;
  readonly #memory: Pointer | null;
  readonly #compute: Functions["llama_decode"];
  readonly #batch: Batch;
  readonly #tokens: Int32Array<ArrayBuffer>;
  readonly #positions: Int32Array<ArrayBuffer>;
  readonly #sequences: BigUint64Array<ArrayBuffer>;
  readonly #sequenceAddresses: readonly bigint[];
  readonly #outputs: Int8Array<ArrayBuffer>;
  readonly #abortFlag = new Uint8Array(new ArrayBuffer(64));
  readonly #threadpool: Threadpool | null;
  #count = 0;
  #copiesWait = false;
  #threads: number;

  constructor(library: ContextFunctions, model: Pointer, request: ContextRequest) {
    this.#library = library;
    this.capacity = request.batch;
    this.#threads = request.threads;
    this.#threadpool = request.threadpool;
    const pointer = library.llama_init_from_model(model, {
      ...library.llama_context_default_params(),
      n_ctx: request.contextPerSequence * request.sequences,
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
      abort_callback: abortFunction(),
      abort_callback_data: koffi.address(this.#abortFlag),
    });
    if (pointer === null) {
      throw new LocallmError("model_load_failed", {
        reason: `no context of ${request.sequences} × ${request.contextPerSequence} tokens could be made (too little memory, or a cache type that the model does not allow)`,
      });
    }
    this.pointer = pointer;
    if (request.threadpool !== null) {
      const pool = request.threadpool.pointer;
      library.llama_attach_threadpool(pointer, pool, pool);
    }
    this.contextPerSequence = library.llama_n_ctx_seq(pointer);
    this.#memory = library.llama_get_memory(pointer);
    this.#compute = this.#memory === null ? library.llama_encode : library.llama_decode;
    this.canShift = this.#memory !== null && library.llama_memory_can_shift(this.#memory);

    const { batch, sequences } = request;
    // One block for all arrays: what holds one of them holds the memory behind every address.
    const block = new ArrayBuffer(batch * 21 + sequences * 4);
    this.#sequences = new BigUint64Array(block, 0, batch);
    this.#tokens = new Int32Array(block, batch * 8, batch);
    this.#positions = new Int32Array(block, batch * 12, batch);
    const counts = new Int32Array(block, batch * 16, batch).fill(1);
    const ids = new Int32Array(block, batch * 20, sequences);
    for (let index = 0; index < sequences; index++) ids[index] = index;
    this.#outputs = new Int8Array(block, batch * 20 + sequences * 4, batch);
    const idsAddress = koffi.address(ids);
    this.#sequenceAddresses = Array.from(ids, (id) => idsAddress + BigInt(id * 4));
    this.#batch = {
      n_tokens: 0,
      token: koffi.address(this.#tokens),
      embd: null,
      pos: koffi.address(this.#positions),
      n_seq_id: koffi.address(counts),
      seq_id: koffi.address(this.#sequences),
      logits: koffi.address(this.#outputs),
    };
  }

  /** Tokens in the batch. */
  get count(): number {
    return this.#count;
  }

  get room(): number {
    return this.capacity - this.#count;
  }

  clearBatch(): void {
    this.#count = 0;
  }

  /** Returns the token's index in the batch, by which its output is asked for after the step. */
  add(token: number, position: number, sequence: number, output: boolean): number {
    const index = this.#count++;
    this.#tokens[index] = token;
    this.#positions[index] = position;
    this.#sequences[index] = this.#sequenceAddresses[sequence]!;
    this.#outputs[index] = output ? 1 : 0;
    return index;
  }

  /** Threads of the steps to come, at most those of the pool. */
  useThreads(threads: number): void {
    if (threads === this.#threads) return;
    this.#threads = threads;
    this.#library.llama_set_n_threads(this.pointer, threads, threads);
  }

  /** Nothing is left to compute for now. */
  rest(): void {
    this.#threadpool?.rest();
  }

  /** Computes the batch on this thread: quickest, and blind to everything until it is done. */
  step(): StepOutcome {
    this.#batch.n_tokens = this.#count;
    this.#abortFlag[0] = 0;
    this.#copiesWait = false;
    return outcome(this.#compute(this.pointer, this.#batch));
  }

  /** Computes the batch on another thread, so that this one hears an abort. */
  stepAside(): Promise<StepOutcome> {
    this.#batch.n_tokens = this.#count;
    this.#abortFlag[0] = 0;
    this.#copiesWait = false;
    return new Promise((resolve, reject) => {
      this.#compute.async(this.pointer, this.#batch, (error, status) => {
        try {
          if (error) throw error;
          resolve(outcome(status));
        } catch (failure) {
          reject(failure);
        }
      });
    });
  }

  /** Ends a step that runs aside, within some milliseconds. */
  abort(): void {
    this.#abortFlag[0] = 1;
  }

  /** Drops a sequence from a position on. False: this kind of memory cannot, and all of it is gone. */
  truncate(sequence: number, from: number): boolean {
    if (this.#memory === null) return from === 0;
    if (this.#library.llama_memory_seq_rm(this.#memory, sequence, from, -1)) return true;
    this.#library.llama_memory_seq_rm(this.#memory, sequence, -1, -1);
    return false;
  }

  /**
   * All that one sequence holds, in place of what the other did; false where it could not be copied and the other
   * holds nothing now. By way of a buffer of what is held; where that is big, by the library's own copy, which takes
   * the whole cache as it is and waits for the next step.
   */
  copy(source: number, target: number): boolean {
    const library = this.#library;
    if (this.#memory === null) return false;
    library.llama_memory_seq_rm(this.#memory, target, -1, -1);
    const size = Number(library.llama_state_seq_get_size(this.pointer, source));
    // Behind a copy that waits, others wait too: it may be what they copy, or copy what they would overwrite.
    if (size > mostBufferedBytes || this.#copiesWait) {
      library.llama_memory_seq_cp(this.#memory, source, target, -1, -1);
      this.#copiesWait = true;
      return true;
    }
    const held = new Uint8Array(size);
    const got = Number(library.llama_state_seq_get_data(this.pointer, held, size, source));
    return got > 0 && Number(library.llama_state_seq_set_data(this.pointer, held, got, target)) > 0;
  }

  /** Drops the positions [from, to) and moves what follows up to their place. */
  cutOut(sequence: number, from: number, to: number): void {
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

/**
 * The engine asks `bool f(void *data)` from its own threads, where no JavaScript can answer. The C library's
 * `strlen` can: of the flag's bytes, "" is 0, go on, and "\x01" is 1, stop.
 */
function abortFunction(): Pointer {
  return koffi.load(null).symbol("strlen") as Pointer;
}
