/** All parameters of a load. The runner's memory depends on nothing else. */
export interface LoadRequest {
  readonly modelPath: string;
  /** The remaining files of a split model, in order. */
  readonly furtherPaths?: readonly string[];
  readonly adapters: readonly { readonly path: string; readonly scale: number }[];
  /** Context window of one slot, in tokens; capped at the model's training context. */
  readonly numCtx: number;
  readonly slots: number;
  /**
   * The size in tokens of the cache from which all slots take what they use, at least one window. Missing if each slot
   * has a window of its own; models with a sliding window or a recurrent state have that in any case.
   */
  readonly cells?: number;
  /** The maximum number of tokens per step over all slots. Null means the engine's default of 512. */
  readonly numBatch: number | null;
  /**
   * The cells of the largest picture of which one step must compute all, because its cells see each other. A step then
   * has room for them. Missing if the model sees no such pictures.
   */
  readonly wholePicture?: number;
  /** Null means one thread per physical core. */
  readonly numThread: number | null;
  readonly placement: Placement;
  /** The CPU library that an earlier load chose. If it is missing, the engine chooses one. */
  readonly processorFile?: string | null;
  /** Null means that the engine decides. */
  readonly useMmap: boolean | null;
  readonly flashAttention: "auto" | "on" | "off";
  readonly kvCacheType: "f16" | "q8_0" | "q4_0";
  /**
   * Whether answers are guessed ahead by their own text, and the guesses computed with the next step. `auto`: where a
   * GPU computes. Missing means `off`. Models that cannot take a token back are never guessed.
   */
  readonly drafts?: DraftSetting;
  /** The file of a smaller model with the same tokens, which guesses where the text does not. Used only with `drafts`. */
  readonly draftPath?: string;
}

/** Vocabularies of one family may end with different spare tokens, at most so many. */
export const mostFurtherTokens = 128;

export type DraftSetting = "auto" | "on" | "off";

/** The GPUs that run parts of a model. */
export interface Placement {
  /** The folder of a GPU build of the engine. Null means the CPU build. */
  readonly library: string | null;
  /**
   * The devices by the engine's names. The first device gets the model's last layers. An empty list means the
   * CPU only.
   */
  readonly devices: readonly { readonly name: string; readonly layers: number }[];
  /** Layers of which a part runs elsewhere. Missing means none. */
  readonly overflows?: readonly Overflow[];
}

/** Which tensors of a layer stay on its device. `dense`: all but those of the experts. */
export type Kept = "attention" | "up" | "gate" | "dense";

/** The tensors of a layer that are not kept on its device run on another one, by its name, or on the processor (null). */
export interface Overflow {
  readonly layer: number;
  readonly kept: Kept;
  readonly device: string | null;
}

/** The names of a layer's tensors that run elsewhere, as a regular expression of C++ and JavaScript. */
export function elsewherePattern(layer: number, kept: Kept): string {
  return `blk\\.${layer}\\.${elsewhere[kept]}`;
}

const elsewhere: Readonly<Record<Kept, string>> = {
  attention: "ffn_(gate|up|gate_up|down).*",
  up: "ffn_(gate|gate_up|down).*",
  gate: "ffn_down.*",
  dense: "ffn_(up|down|gate_up|gate)_(ch|)exps",
};

export const onlyProcessor: Placement = { library: null, devices: [] };

/** A GPU as reported by the engine. */
export interface Device {
  /** The engine's name for the device, such as `CUDA0` or `Vulkan1`. */
  readonly name: string;
  readonly description: string;
  /** `integrated` means that the GPU uses the host's memory, as those of Apple do. */
  readonly kind: "gpu" | "integrated";
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The engine's limit for the sequences of one context, `LLAMA_MAX_SEQ`. */
export const mostSlots = 256;

/** The maximum number of checkpoints that a slot keeps; see `engine/checkpoints.ts`. */
export const mostCheckpoints = 3;

/** What may be chosen when the vocabulary is loaded. */
export type WindowChoice = Pick<LoadRequest, "numCtx" | "cells" | "placement">;

/** What is known of a model as soon as its vocabulary is loaded. */
export type VocabularyInfo = Pick<ModelInfo, "addBos" | "markers" | "longestToken">;

/** What the engine read from the model, and the memory that it allocated. */
export interface ModelInfo {
  readonly description: string;
  readonly trainContext: number;
  /** The actual window of one slot. */
  readonly contextLength: number;
  readonly slots: number;
  /** The size in tokens of the cache that the slots share. Missing if each has its own. */
  readonly cells?: number;
  readonly vocabSize: number;
  readonly embeddingLength: number;
  /** How many numbers each row of a picture has. */
  readonly inputLength: number;
  /** Whether the tokenizer adds a BOS token before every text. */
  readonly addBos: boolean;
  /** Texts that mark turns or end answers and that the tokenizer reads as one token. */
  readonly markers: readonly string[];
  /** Most bytes of text that one token represents; null if the tokenizer normalises text first. */
  readonly longestToken: number | null;
  readonly pooling: "none" | "mean" | "cls" | "last" | "rank";
  readonly canGenerate: boolean;
  readonly canEmbed: boolean;
  readonly canRank: boolean;
  /** Sizes as allocated by the engine. Checkpoints are in host memory, allocated when a prompt needs them. */
  readonly sizeBytes: {
    readonly weights: number;
    readonly context: number;
    readonly compute: number;
    readonly checkpoints: number;
  };
  /** The part of these sizes on each GPU. An empty list means that the model runs on the CPU only. */
  readonly devices: readonly {
    readonly name: string;
    readonly description: string;
    readonly layers: number;
    readonly bytes: number;
  }[];
  readonly engine: {
    readonly version: string;
    readonly threads: number;
    readonly library: string;
    /** The engine build picked for this CPU; null if the system does not report it. */
    readonly processorFile: string | null;
  };
}
