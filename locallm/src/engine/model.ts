import koffi from "koffi";
import { LocallmError } from "../wire/errors.ts";
import { elsewherePattern, type LoadRequest, type Overflow, type Placement } from "../wire/inference/load.ts";
import type { ContextRequest, MemoryKind } from "./context.ts";
import { deviceAddresses } from "./libllama/devices.ts";
import type { Functions, Pointer } from "./libllama/functions.ts";
import type { Library } from "./libllama/library.ts";
import { Vocabulary } from "./vocabulary.ts";

/** The values of `llama_rope_type` for M-RoPE, and for M-RoPE with interleaved dimensions. */
const multiRope: readonly number[] = [8, 40];

const poolings = ["none", "mean", "cls", "last", "rank"] as const;
export type Pooling = (typeof poolings)[number];

/** The weights (one file, or several files of split weights) and their adapters. */
export class Model {
  readonly #library: Functions;
  readonly pointer: Pointer;
  readonly vocabulary: Vocabulary;
  readonly adapters: readonly { readonly pointer: Pointer; readonly scale: number }[];

  private constructor(library: Functions, pointer: Pointer, adapters: Model["adapters"]) {
    this.#library = library;
    this.pointer = pointer;
    this.adapters = adapters;
    this.vocabulary = new Vocabulary(library, library.llama_model_get_vocab(pointer));
  }

  /**
   * Blocks until the weights are loaded and calls `onProgress` meanwhile. A dry load reads the header and
   * vocabulary and allocates nothing. The resulting model can be measured but not computed with. A load of the
   * vocabulary allows nothing but tokenizing.
   */
  static load(
    library: Library,
    request: LoadRequest,
    onProgress: (fraction: number) => void,
    kind: "whole" | "dry" | "vocabulary" = "whole",
  ): Model {
    const gpus = devicesOf(library, request.placement);
    const callback = koffi.register(
      (fraction: number) => {
        onProgress(fraction);
        return true;
      },
      koffi.pointer(koffi.proto("bool", ["float", "void *"])),
    );
    try {
      const params = {
        ...library.llama_model_default_params(),
        ...gpus.params,
        load_mode: kind === "dry" ? loadMode(false) : loadMode(request.useMmap),
        no_alloc: kind === "dry",
        vocab_only: kind === "vocabulary",
        progress_callback: callback,
      };
      const paths = [request.modelPath, ...(request.furtherPaths ?? [])];
      const pointer =
        paths.length === 1
          ? library.llama_model_load_from_file(request.modelPath, params)
          : library.llama_model_load_from_splits(paths, paths.length, params);
      if (pointer === null) {
        throw new LocallmError("model_load_failed", { reason: "the engine rejected the file" });
      }
      return new Model(library, pointer, loadAdapters(library, pointer, request.adapters));
    } finally {
      koffi.unregister(callback);
      // The engine reads the list of GPUs while it loads, so it must not be collected earlier.
      gpus.release();
    }
  }

  get trainContext(): number {
    return this.#library.llama_model_n_ctx_train(this.pointer);
  }

  /** How many numbers a row has that stands in a sequence in place of a token. */
  get inputLength(): number {
    return this.#library.llama_model_n_embd_inp(this.pointer);
  }

  /** Whether a position has four dimensions (M-RoPE), so that the cells of pictures can stand in a grid. */
  get hasGrids(): boolean {
    return multiRope.includes(this.#library.llama_model_rope_type(this.pointer));
  }

  get embeddingLength(): number {
    return this.#library.llama_model_n_embd_out(this.pointer);
  }

  get sizeBytes(): number {
    return this.#library.llama_model_size(this.pointer);
  }

  get description(): string {
    const buffer = Buffer.alloc(256);
    this.#library.llama_model_desc(this.pointer, buffer, buffer.length);
    return cString(buffer);
  }

  /** The pooling that the model's file specifies, or null. */
  get pooling(): Pooling | null {
    const value = this.#metadata("pooling_type");
    return value === null ? null : (poolings[Number(value)] ?? null);
  }

  /** How many numbers a rank head gives for one sequence. */
  get rankLength(): number {
    return Math.max(1, this.#library.llama_model_n_cls_out(this.pointer));
  }

  /** The file's own template for a query and a document, or null. */
  get rankTemplate(): string | null {
    return this.#library.llama_model_chat_template(this.pointer, "rerank");
  }

  /** Whether the engine turns what the rank head gives into probabilities; see llama.cpp's `build_pooling`. */
  get ranksInProbabilities(): boolean {
    const architecture = this.#value("general.architecture");
    return architecture === "qwen3" || architecture === "qwen3vl";
  }

  /** Whether the model can generate text: it reads from left to right and has a decoder. */
  get canGenerate(): boolean {
    const causal = this.#metadata("attention.causal") !== "false";
    const embedder = this.pooling !== null && this.pooling !== "none";
    return causal && !embedder && this.#library.llama_model_has_decoder(this.pointer);
  }

  /** What every context of the model has to know of it. */
  get shape(): Pick<ContextRequest, "vocabSize" | "inputLength" | "hasGrids" | "memory"> {
    const { vocabulary, inputLength, hasGrids, memory } = this;
    return { vocabSize: vocabulary.size, inputLength, hasGrids, memory };
  }

  /** What the model remembers of the tokens it has seen. */
  get memory(): MemoryKind {
    const { pointer } = this;
    const isHybrid = this.#library.llama_model_is_hybrid(pointer);
    return {
      hasCache: isHybrid || !this.#library.llama_model_is_recurrent(pointer),
      hasState: isHybrid || this.#library.llama_model_is_recurrent(pointer),
      slidingWindow: Math.max(0, this.#library.llama_model_n_swa(pointer)),
    };
  }

  /**
   * Whether the model scales positions by the length of the window, so that a cache fits only its own window.
   */
  get dependsOnWindow(): boolean {
    return this.#metadata("rope.scaling.original_context_length") !== null;
  }

  applyAdapters(context: Pointer, scales: readonly number[] = this.adapters.map(({ scale }) => scale)): void {
    if (this.adapters.length === 0) return;
    const status = this.#library.llama_set_adapters_lora(
      context,
      BigUint64Array.from(this.adapters, (adapter) => adapter.pointer),
      this.adapters.length,
      Float32Array.from(scales),
    );
    if (status !== 0) {
      throw new LocallmError("model_load_failed", { reason: "the adapters do not fit the model" });
    }
  }

  free(): void {
    this.#library.llama_model_free(this.pointer);
  }

  /** Returns a metadata value of the file's architecture as text. */
  #metadata(key: string): string | null {
    const architecture = this.#value("general.architecture");
    return architecture === null ? null : this.#value(`${architecture}.${key}`);
  }

  #value(key: string): string | null {
    const buffer = Buffer.alloc(256);
    const length = this.#library.llama_model_meta_val_str(this.pointer, key, buffer, buffer.length);
    return length < 0 ? null : cString(buffer);
  }
}

/** The engine assigns the first layers to the first device, in proportion to the shares. */
function devicesOf(library: Library, { library: folder, devices, overflows = [] }: Placement) {
  const ordered = devices.toReversed();
  const names = ordered.map(({ name }) => name);
  const addresses = deviceAddresses(library, names);
  if (addresses === null) {
    throw new LocallmError("model_load_failed", {
      reason: `one of the devices ${names.join(", ")} was not found`,
    });
  }
  const shares = new Float32Array(mostDevices);
  for (const [index, { layers }] of ordered.entries()) shares[index] = layers;
  const overrides = overridesOf(library, overflows);
  const held = [addresses, shares, overrides];
  return {
    params: {
      n_gpu_layers: ordered.reduce((sum, { layers }) => sum + layers, 0),
      // An empty list keeps a GPU build from using every GPU it finds.
      ...(folder === null ? {} : { devices: koffi.address(addresses), tensor_split: koffi.address(shares) }),
      ...(overrides === null ? {} : { tensor_buft_overrides: koffi.address(overrides.table) }),
    },
    release: () => held.splice(0),
  };
}

/**
 * The engine's table of tensors that are not on their layer's device: pairs of a pattern and a kind of buffer, which end
 * with two zeros. Returns null if there are none.
 */
function overridesOf(library: Library, overflows: readonly Overflow[]) {
  if (overflows.length === 0) return null;
  const patterns = overflows.map(({ layer, kept }) => Buffer.from(`${elsewherePattern(layer, kept)}\0`));
  const table = new BigUint64Array(2 * overflows.length + 2);
  for (const [index, { device }] of overflows.entries()) {
    const pointer = device === null ? null : library.ggml_backend_dev_by_name(device);
    table[2 * index] = koffi.address(patterns[index]!);
    table[2 * index + 1] =
      pointer === null
        ? library.ggml_backend_cpu_buffer_type()
        : library.ggml_backend_dev_buffer_type(pointer);
  }
  return { table, patterns };
}

/** More devices than the engine supports. */
const mostDevices = 128;

export function poolingValue(name: Pooling): number {
  return poolings.indexOf(name);
}

function loadMode(useMmap: boolean | null): number {
  if (useMmap === null) return -1;
  return useMmap ? 1 : 0;
}

function loadAdapters(
  library: Functions,
  model: Pointer,
  adapters: LoadRequest["adapters"],
): Model["adapters"] {
  return adapters.map(({ path, scale }, index) => {
    const pointer = library.llama_adapter_lora_init(model, path);
    if (pointer !== null) return { pointer, scale };
    throw new LocallmError("model_load_failed", {
      reason: `adapter ${index + 1} is not an adapter for this model`,
    });
  });
}

function cString(buffer: Buffer): string {
  return buffer.toString("utf8", 0, Math.max(0, buffer.indexOf(0)));
}
