/** What a model is loaded with. The runner's memory depends on nothing else. */
export interface LoadRequest {
  readonly modelPath: string;
  /** The other files of split weights, in order. */
  readonly furtherPaths?: readonly string[];
  readonly adapters: readonly { readonly path: string; readonly scale: number }[];
  /** Context window of one slot, in tokens; cut to what the model was trained on. */
  readonly numCtx: number;
  readonly slots: number;
  /** Tokens of one step, all slots together; null: the engine's default of 512. */
  readonly numBatch: number | null;
  /** null: as many as the machine has physical cores. */
  readonly numThread: number | null;
  readonly placement: Placement;
  /** The processor's build that an earlier load picked; only for loads without GPUs. */
  readonly processorFile?: string | null;
  /** null: the engine decides. */
  readonly useMmap: boolean | null;
  readonly flashAttention: "auto" | "on" | "off";
  readonly kvCacheType: "f16" | "q8_0" | "q4_0";
}

/** Which devices compute a model, besides the processor. */
export interface Placement {
  /** Folder of a GPU build of the engine; null: the build for the processor. */
  readonly library: string | null;
  /** By the engine's names; the first one takes the last layers of the model. Empty: only the processor. */
  readonly devices: readonly { readonly name: string; readonly layers: number }[];
}

export const onlyProcessor: Placement = { library: null, devices: [] };

/** A GPU as the engine sees it. */
export interface Device {
  /** The engine's name for it: `CUDA0`, `Vulkan1`. */
  readonly name: string;
  readonly description: string;
  /** `integrated`: it shares the host's memory. */
  readonly kind: "gpu" | "integrated";
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** What the engine found in the model, and the memory that it allocated. */
export interface ModelInfo {
  readonly description: string;
  readonly trainContext: number;
  /** The actual window of one slot. */
  readonly contextLength: number;
  readonly slots: number;
  readonly vocabSize: number;
  readonly embeddingLength: number;
  /** Whether the vocabulary puts an opening token before every text. */
  readonly addBos: boolean;
  /** Texts that mark turns or end answers, and that the tokenizer reads as one token. */
  readonly markers: readonly string[];
  /** The most bytes of text that one token represents; null if the vocabulary changes texts first. */
  readonly longestToken: number | null;
  readonly pooling: "none" | "mean" | "cls" | "last" | "rank";
  readonly canGenerate: boolean;
  readonly canEmbed: boolean;
  /** As the engine allocated them. */
  readonly sizeBytes: { readonly weights: number; readonly context: number; readonly compute: number };
  /** What each device holds of these sizes. Empty: only the processor computes. */
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
    /** The build picked for this processor; null if the system does not report it. */
    readonly processorFile: string | null;
  };
}
