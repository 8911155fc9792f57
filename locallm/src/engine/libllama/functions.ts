import koffi, { type LibraryHandle, type TypeObject } from "koffi";
import type { ContextParams, layout as Layout, ModelParams, QuantizeParams } from "./layout-0.5.0.ts";

/** An address in the library's memory. C's NULL is represented by null. */
export type Pointer = bigint;

/** A `llama_batch`: the addresses of its arrays, and the number of entries. */
export interface NativeBatch {
  n_tokens: number;
  /** A batch has either tokens or rows. */
  token: Pointer | null;
  embd: Pointer | null;
  pos: Pointer;
  n_seq_id: Pointer;
  seq_id: Pointer;
  logits: Pointer;
}

export interface Decode {
  (context: Pointer, batch: NativeBatch): number;
  async(context: Pointer, batch: NativeBatch, done: (error: unknown, status: number) => void): void;
}

type TokenizeArguments = [
  vocab: Pointer,
  text: Buffer,
  textBytes: number,
  tokens: Int32Array,
  max: number,
  addSpecial: boolean,
  parseSpecial: boolean,
];

/** Returns the number of tokens, negative if `max` is too small for them. */
export interface Tokenize {
  (...given: TokenizeArguments): number;
  async(...given: [...TokenizeArguments, done: (error: unknown, count: number) => void]): void;
}

type CopyStateArguments = [
  context: Pointer,
  bytes: Uint8Array | Pointer,
  size: number,
  seq: number,
  flags: number,
];

/** Returns the number of copied bytes; 0 if it failed. */
export interface CopyState {
  (...given: CopyStateArguments): number | bigint;
  async(...given: [...CopyStateArguments, done: (error: unknown, bytes: number | bigint) => void]): void;
}

/**
 * The library functions that we call, by their C names. A returned pointer is null if the library returns
 * NULL.
 */
export interface Functions {
  ggml_backend_load_all_from_path(folder: string): void;
  ggml_backend_load(file: string): Pointer | null;
  ggml_backend_dev_count(): number;
  ggml_backend_dev_get(index: number): Pointer;
  ggml_backend_dev_by_name(name: string): Pointer | null;
  ggml_backend_dev_name(device: Pointer): string;
  ggml_backend_dev_description(device: Pointer): string;
  /**
   * Returns 0 for a CPU, 1 for a GPU, 2 for an integrated GPU that shares the CPU's memory, 3 for an
   * accelerator of the CPU.
   */
  ggml_backend_dev_type(device: Pointer): number;
  /** The kinds of memory of a device, and of the processor. */
  ggml_backend_dev_buffer_type(device: Pointer): Pointer;
  ggml_backend_cpu_buffer_type(): Pointer;
  deviceMemory(device: Pointer): { freeBytes: number; totalBytes: number };
  llama_backend_init(): void;
  llama_version(): string;
  llama_log_set(callback: Pointer | null, data: null): void;
  llama_model_default_params(): ModelParams;
  llama_context_default_params(): ContextParams;
  llama_model_quantize_default_params(): QuantizeParams;
  /** Returns 0 if the new file was written. */
  llama_model_quantize(from: string, to: string, params: QuantizeParams): number;
  llama_model_load_from_file(path: string, params: object): Pointer | null;
  /** Takes the files of split weights, in order. */
  llama_model_load_from_splits(paths: readonly string[], count: number, params: object): Pointer | null;
  llama_model_free(model: Pointer): void;
  llama_init_from_model(model: Pointer, params: object): Pointer | null;
  llama_free(context: Pointer): void;
  llama_n_ctx_seq(context: Pointer): number;
  llama_n_batch(context: Pointer): number;
  llama_get_memory(context: Pointer): Pointer | null;
  llama_model_get_vocab(model: Pointer): Pointer;
  llama_model_n_ctx_train(model: Pointer): number;
  /** How many numbers a row has that stands in a batch in place of a token. */
  llama_model_n_embd_inp(model: Pointer): number;
  llama_model_n_embd_out(model: Pointer): number;
  llama_model_size(model: Pointer): number;
  /** How many tokens the layers with a sliding window see; 0 or less if the model has none. */
  llama_model_n_swa(model: Pointer): number;
  /** Returns 8 or 40 if the model has M-RoPE; see `llama_rope_type` for other values. */
  llama_model_rope_type(model: Pointer): number;
  llama_model_has_decoder(model: Pointer): boolean;
  /** Whether the model has a state instead of a cache. */
  llama_model_is_recurrent(model: Pointer): boolean;
  /** Whether the model has both a state and a cache. */
  llama_model_is_hybrid(model: Pointer): boolean;
  llama_model_desc(model: Pointer, buffer: Buffer, size: number): number;
  /** The length of what a rank head gives. */
  llama_model_n_cls_out(model: Pointer): number;
  /** Returns null if the file has no template of this name. */
  llama_model_chat_template(model: Pointer, name: string): string | null;
  llama_model_meta_val_str(model: Pointer, key: string, buffer: Buffer, size: number): number;
  llama_adapter_lora_init(model: Pointer, path: string): Pointer | null;
  llama_set_adapters_lora(
    context: Pointer,
    adapters: BigUint64Array,
    count: number,
    scales: Float32Array,
  ): number;
  llama_vocab_n_tokens(vocab: Pointer): number;
  /** Returns 1 for SentencePiece, 2 for BPE, 3 for WordPiece; see `llama_vocab_type` for other values. */
  llama_vocab_type(vocab: Pointer): number;
  llama_vocab_get_text(vocab: Pointer, token: number): string;
  /** Returns bits of `llama_token_attr`. */
  llama_vocab_get_attr(vocab: Pointer, token: number): number;
  llama_vocab_is_eog(vocab: Pointer, token: number): boolean;
  llama_vocab_bos(vocab: Pointer): number;
  llama_vocab_get_add_bos(vocab: Pointer): boolean;
  /** The end and the separator are -1 if the vocabulary has none. */
  llama_vocab_eos(vocab: Pointer): number;
  llama_vocab_sep(vocab: Pointer): number;
  llama_vocab_get_add_eos(vocab: Pointer): boolean;
  llama_vocab_get_add_sep(vocab: Pointer): boolean;
  llama_tokenize: Tokenize;
  llama_token_to_piece(
    vocab: Pointer,
    token: number,
    buffer: Buffer,
    size: number,
    lstrip: number,
    special: boolean,
  ): number;
  llama_decode: Decode;
  /** Used for models without a cache. `llama_decode` would do the same but log a warning. */
  llama_encode: Decode;
  llama_get_logits_ith(context: Pointer, index: number): Pointer | null;
  llama_get_embeddings_seq(context: Pointer, seq: number): Pointer | null;
  llama_memory_clear(memory: Pointer, data: boolean): void;
  llama_memory_seq_rm(memory: Pointer, seq: number, from: number, to: number): boolean;
  llama_memory_seq_cp(memory: Pointer, source: number, target: number, from: number, to: number): void;
  /** `flags` 1 selects only recurrent states and the caches of layers with a sliding window. */
  llama_state_seq_get_size_ext(context: Pointer, seq: number, flags: number): number | bigint;
  llama_state_seq_get_data_ext: CopyState;
  llama_state_seq_set_data_ext: CopyState;
  /** Returns the first position of which all layers still hold what they computed; -1 if the sequence is empty. */
  llama_memory_seq_pos_min(memory: Pointer, seq: number): number;
  /** Returns -1 if the sequence is empty. */
  llama_memory_seq_pos_max(memory: Pointer, seq: number): number;
  llama_memory_seq_add(memory: Pointer, seq: number, from: number, to: number, delta: number): void;
  llama_memory_can_shift(memory: Pointer): boolean;
  llama_set_n_threads(context: Pointer, threads: number, threadsBatch: number): void;
  /** Whether the cells of a step see only those before them. It is true at first. */
  llama_set_causal_attn(context: Pointer, causal: boolean): void;
  llama_attach_threadpool(context: Pointer, pool: Pointer, poolBatch: Pointer): void;
  llama_sampler_chain_init(params: { no_perf: boolean }): Pointer;
  llama_sampler_chain_add(chain: Pointer, sampler: Pointer): void;
  llama_sampler_sample(chain: Pointer, context: Pointer, index: number): number;
  llama_sampler_accept(chain: Pointer, token: number): void;
  llama_sampler_apply(sampler: Pointer, candidates: BigInt64Array): void;
  llama_sampler_free(chain: Pointer): void;
  llama_sampler_init_greedy(): Pointer;
  llama_sampler_init_dist(seed: number): Pointer;
  llama_sampler_init_top_k(k: number): Pointer;
  llama_sampler_init_top_p(p: number, minKeep: number): Pointer;
  llama_sampler_init_min_p(p: number, minKeep: number): Pointer;
  llama_sampler_init_typical(p: number, minKeep: number): Pointer;
  llama_sampler_init_xtc(probability: number, threshold: number, minKeep: number, seed: number): Pointer;
  llama_sampler_init_dry(
    vocab: Pointer,
    multiplier: number,
    base: number,
    allowedLength: number,
    lastN: number,
    breakers: readonly string[],
    count: number,
  ): Pointer;
  /** Copies a sampler with its history. */
  llama_sampler_clone(sampler: Pointer): Pointer;
  llama_sampler_init_temp(temperature: number): Pointer;
  llama_sampler_init_mirostat(vocab: number, seed: number, tau: number, eta: number, m: number): Pointer;
  llama_sampler_init_mirostat_v2(seed: number, tau: number, eta: number): Pointer;
  llama_sampler_init_penalties(
    vocab: number,
    lastN: number,
    repeat: number,
    frequency: number,
    presence: number,
  ): Pointer;
  llama_sampler_init_logit_bias(
    vocab: number,
    count: number,
    biases: readonly { readonly token: number; readonly bias: number }[],
  ): Pointer;
  /** Calls `ggml_threadpool_params_default`. */
  defaultThreadpoolParams(threads: number): Record<string, unknown>;
}

/** The signatures in koffi's syntax: the type of the result, then those of the parameters. */
function signatures(layout: typeof Layout): Record<string, (TypeObject | string)[]> {
  const { modelParams, contextParams, batch, samplerChainParams } = layout;
  return {
    llama_backend_init: ["void"],
    llama_version: ["str"],
    llama_log_set: ["void", "void *", "void *"],
    llama_model_default_params: [modelParams],
    llama_context_default_params: [contextParams],
    llama_model_quantize_default_params: [layout.quantizeParams],
    llama_model_quantize: ["uint32_t", "str", "str", koffi.pointer(layout.quantizeParams)],
    llama_model_load_from_file: ["void *", "str", modelParams],
    llama_model_load_from_splits: ["void *", "const char **", "size_t", modelParams],
    llama_model_free: ["void", "void *"],
    llama_init_from_model: ["void *", "void *", contextParams],
    llama_free: ["void", "void *"],
    llama_n_ctx_seq: ["uint32_t", "void *"],
    llama_n_batch: ["uint32_t", "void *"],
    llama_get_memory: ["void *", "void *"],
    llama_model_get_vocab: ["void *", "void *"],
    llama_model_n_ctx_train: ["int32_t", "void *"],
    llama_model_n_embd_inp: ["int32_t", "void *"],
    llama_model_n_embd_out: ["int32_t", "void *"],
    llama_model_size: ["uint64_t", "void *"],
    llama_model_n_swa: ["int32_t", "void *"],
    llama_model_rope_type: ["int32_t", "void *"],
    llama_model_has_decoder: ["bool", "void *"],
    llama_model_is_recurrent: ["bool", "void *"],
    llama_model_is_hybrid: ["bool", "void *"],
    llama_model_n_cls_out: ["uint32_t", "void *"],
    llama_model_chat_template: ["str", "void *", "str"],
    llama_model_desc: ["int32_t", "void *", "void *", "size_t"],
    llama_model_meta_val_str: ["int32_t", "void *", "str", "void *", "size_t"],
    llama_adapter_lora_init: ["void *", "void *", "str"],
    llama_set_adapters_lora: ["int32_t", "void *", "void *", "size_t", "void *"],
    llama_vocab_n_tokens: ["int32_t", "void *"],
    llama_vocab_type: ["int32_t", "void *"],
    llama_vocab_get_text: ["str", "void *", "int32_t"],
    llama_vocab_get_attr: ["int32_t", "void *", "int32_t"],
    llama_vocab_is_eog: ["bool", "void *", "int32_t"],
    llama_vocab_bos: ["int32_t", "void *"],
    llama_vocab_get_add_bos: ["bool", "void *"],
    llama_vocab_eos: ["int32_t", "void *"],
    llama_vocab_sep: ["int32_t", "void *"],
    llama_vocab_get_add_eos: ["bool", "void *"],
    llama_vocab_get_add_sep: ["bool", "void *"],
    llama_tokenize: ["int32_t", "void *", "void *", "int32_t", "void *", "int32_t", "bool", "bool"],
    llama_token_to_piece: ["int32_t", "void *", "int32_t", "void *", "int32_t", "int32_t", "bool"],
    llama_decode: ["int32_t", "void *", batch],
    llama_encode: ["int32_t", "void *", batch],
    llama_get_logits_ith: ["void *", "void *", "int32_t"],
    llama_get_embeddings_seq: ["void *", "void *", "int32_t"],
    llama_memory_clear: ["void", "void *", "bool"],
    llama_memory_seq_rm: ["bool", "void *", "int32_t", "int32_t", "int32_t"],
    llama_memory_seq_cp: ["void", "void *", "int32_t", "int32_t", "int32_t", "int32_t"],
    llama_state_seq_get_size_ext: ["size_t", "void *", "int32_t", "uint32_t"],
    llama_state_seq_get_data_ext: ["size_t", "void *", "void *", "size_t", "int32_t", "uint32_t"],
    llama_state_seq_set_data_ext: ["size_t", "void *", "void *", "size_t", "int32_t", "uint32_t"],
    llama_memory_seq_pos_min: ["int32_t", "void *", "int32_t"],
    llama_memory_seq_pos_max: ["int32_t", "void *", "int32_t"],
    llama_memory_seq_add: ["void", "void *", "int32_t", "int32_t", "int32_t", "int32_t"],
    llama_memory_can_shift: ["bool", "void *"],
    llama_set_n_threads: ["void", "void *", "int32_t", "int32_t"],
    llama_set_causal_attn: ["void", "void *", "bool"],
    llama_attach_threadpool: ["void", "void *", "void *", "void *"],
    llama_sampler_chain_init: ["void *", samplerChainParams],
    llama_sampler_chain_add: ["void", "void *", "void *"],
    llama_sampler_sample: ["int32_t", "void *", "void *", "int32_t"],
    llama_sampler_accept: ["void", "void *", "int32_t"],
    llama_sampler_apply: ["void", "void *", "void *"],
    llama_sampler_free: ["void", "void *"],
    llama_sampler_init_greedy: ["void *"],
    llama_sampler_init_dist: ["void *", "uint32_t"],
    llama_sampler_init_top_k: ["void *", "int32_t"],
    llama_sampler_init_top_p: ["void *", "float", "size_t"],
    llama_sampler_init_min_p: ["void *", "float", "size_t"],
    llama_sampler_init_typical: ["void *", "float", "size_t"],
    llama_sampler_init_xtc: ["void *", "float", "float", "size_t", "uint32_t"],
    llama_sampler_init_dry: [
      ...["void *", "void *", "float", "float", "int32_t", "int32_t", "const char **", "size_t"],
    ],
    llama_sampler_clone: ["void *", "void *"],
    llama_sampler_init_temp: ["void *", "float"],
    llama_sampler_init_mirostat: ["void *", "int32_t", "uint32_t", "float", "float", "int32_t"],
    llama_sampler_init_mirostat_v2: ["void *", "uint32_t", "float", "float"],
    llama_sampler_init_penalties: ["void *", "int32_t", "int32_t", "float", "float", "float"],
    llama_sampler_init_logit_bias: ["void *", "int32_t", "int32_t", koffi.pointer(layout.logitBias)],
  };
}

/** The libraries of ggml. On Windows a function is found only in the library that has it. */
export interface GgmlLibraries {
  /** Finds backends and their devices. */
  readonly registry: LibraryHandle;
  /** What backends and devices are. */
  readonly base: LibraryHandle;
}

const registrySignatures: Readonly<Record<string, string[]>> = {
  ggml_backend_load_all_from_path: ["void", "str"],
  ggml_backend_load: ["void *", "str"],
  ggml_backend_dev_count: ["size_t"],
  ggml_backend_dev_get: ["void *", "size_t"],
  ggml_backend_dev_by_name: ["void *", "str"],
};

const baseSignatures: Readonly<Record<string, string[]>> = {
  ggml_backend_dev_name: ["str", "void *"],
  ggml_backend_dev_description: ["str", "void *"],
  ggml_backend_dev_type: ["int32_t", "void *"],
  ggml_backend_dev_buffer_type: ["void *", "void *"],
  ggml_backend_cpu_buffer_type: ["void *"],
};

export function declareFunctions(
  llama: LibraryHandle,
  { registry, base }: GgmlLibraries,
  layout: typeof Layout,
): Functions {
  const declare = (library: LibraryHandle, table: Record<string, readonly (TypeObject | string)[]>) =>
    Object.entries(table).map(([name, [result = "void", ...parameters]]) => [
      name,
      library.func(name, result, parameters),
    ]);
  const memory = base.func("ggml_backend_dev_memory", "void", [
    "void *",
    koffi.out("size_t *"),
    koffi.out("size_t *"),
  ]);
  const defaultThreadpoolParams = base.func("ggml_threadpool_params_default", layout.threadpoolParams, [
    "int32_t",
  ]);
  return {
    ...(Object.fromEntries([
      ...declare(llama, signatures(layout)),
      ...declare(registry, registrySignatures),
      ...declare(base, baseSignatures),
    ]) as Functions),
    deviceMemory(device) {
      const [free, total] = [[0], [0]];
      memory(device, free, total);
      return { freeBytes: Number(free[0]), totalBytes: Number(total[0]) };
    },
    defaultThreadpoolParams: (threads) => defaultThreadpoolParams(threads) as Record<string, unknown>,
  };
}
