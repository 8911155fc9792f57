/** What a model is loaded with. The memory of the runner depends on nothing else. */
export interface LoadRequest {
  readonly modelPath: string;
  /** The other files of split weights, in order. */
  readonly furtherPaths?: readonly string[];
  readonly adapters: readonly { readonly path: string; readonly scale: number }[];
  /** Context window of one slot, in tokens; cut to what the model was trained on. */
  readonly numCtx: number;
  readonly slots: number;
  /** Tokens of one decode step, all slots together; null takes the engine's default of 512. */
  readonly numBatch: number | null;
  /** null: as many as the machine has physical cores. */
  readonly numThread: number | null;
  readonly placement: Placement;
  /** The processor's build that an earlier load picked; only without GPUs, whose builds bring several parts. */
  readonly processorFile?: string | null;
  /** null: the engine decides. */
  readonly useMmap: boolean | null;
  readonly flashAttention: "auto" | "on" | "off";
  readonly kvCacheType: "f16" | "q8_0" | "q4_0";
}

/** What computes a model besides the processor. */
export interface Placement {
  /** Folder of a build of the engine for GPUs; null: the one for the processor. */
  readonly library: string | null;
  /** By the engine's names; the first one takes the last layers of the model. None: the processor alone. */
  readonly devices: readonly { readonly name: string; readonly layers: number }[];
}

export const onlyProcessor: Placement = { library: null, devices: [] };

/** A GPU as the engine sees it. */
export interface Device {
  /** The engine's own: `CUDA0`, `Vulkan1`. */
  readonly name: string;
  readonly description: string;
  /** `integrated`: it shares the processor's memory. */
  readonly kind: "gpu" | "integrated";
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** What the engine found in the model and took for it. */
export interface ModelInfo {
  readonly description: string;
  readonly trainContext: number;
  /** The window that one slot really has. */
  readonly contextLength: number;
  readonly slots: number;
  readonly vocabSize: number;
  readonly embeddingLength: number;
  /** Whether the vocabulary asks for a token in front of every text. */
  readonly addBos: boolean;
  /** Texts that the tokenizer reads as one token that marks turns or ends answers. */
  readonly markers: readonly string[];
  readonly pooling: "none" | "mean" | "cls" | "last" | "rank";
  readonly canGenerate: boolean;
  readonly canEmbed: boolean;
  /** As the engine allocated them. */
  readonly sizeBytes: { readonly weights: number; readonly context: number; readonly compute: number };
  /** Of these sizes, what lies on each device. None: the processor alone. */
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
    /** The build picked for this processor; null where the system does not say which. */
    readonly processorFile: string | null;
  };
}

export interface Sampling {
  /** 0 takes the likeliest token. */
  readonly temperature: number;
  /** 0: off. */
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
  readonly typicalP: number;
  /** 0: off, -1: the whole window. */
  readonly repeatLastN: number;
  readonly repeatPenalty: number;
  readonly presencePenalty: number;
  readonly frequencyPenalty: number;
  readonly mirostat: 0 | 1 | 2;
  readonly mirostatTau: number;
  readonly mirostatEta: number;
  readonly logitBias: readonly { readonly token: number; readonly bias: number }[];
  /** null: a new one for each request. */
  readonly seed: number | null;
}

export const defaultSampling: Sampling = {
  temperature: 0.8,
  topK: 40,
  topP: 0.9,
  minP: 0,
  typicalP: 1,
  repeatLastN: 64,
  repeatPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  mirostat: 0,
  mirostatTau: 5,
  mirostatEta: 0.1,
  logitBias: [],
  seed: null,
};

/** A GBNF grammar. With `lazy`, it binds only from the first trigger on; text before it is free. */
export interface Grammar {
  readonly gbnf: string;
  readonly root?: string;
  readonly lazy?: {
    /** Anywhere in the text. The grammar begins with the word itself. */
    readonly words?: readonly string[];
    /** At the start of the answer only, whatever blanks stand before and within it; the grammar begins with it. */
    readonly start?: string;
  };
}

/** One text in pieces. No control token is read across the border of two pieces: there its letters are meant. */
export interface PiecedText {
  readonly pieces: readonly string[];
}

/** Text whose control tokens are read as such. */
export type PromptText = string | PiecedText;

/** Numbers are token ids, taken as they are. */
export type Prompt = PromptText | readonly number[] | readonly (PromptText | readonly number[])[];

export interface GenerateJob {
  readonly prompt: Prompt;
  /** The request's own bound on prompt and answer together; more than the window means the window. */
  readonly numCtx: number;
  readonly sampling: Sampling;
  readonly stop: readonly string[];
  /** -1: until the model stops or the window is full. 0: the prompt is evaluated, nothing generated. */
  readonly numPredict: number;
  /** Tokens at the head that a cut or a shift leaves alone; -1: the whole prompt. */
  readonly numKeep: number;
  /** On a prompt beyond the window: cut its middle and say so, or refuse it. */
  readonly truncate: boolean;
  /** On a full window: drop the older half of what may be dropped and go on, or stop with "length". */
  readonly shift: boolean;
  /** Bit-equal whatever else runs: a fresh prefill, and decode steps of its own. */
  readonly deterministic: boolean;
  readonly grammar: Grammar | null;
  /** Whether the done event carries the token ids of prompt and answer. */
  readonly wantContext: boolean;
  /** Whether control tokens come out as their text; by default they give none. */
  readonly renderSpecial?: boolean;
}

export type GenerateEvent =
  | {
      readonly kind: "text";
      readonly text: string;
      readonly tokens: number;
      /** On the first text of a prompt that was cut. */
      readonly truncatedTokens?: number;
    }
  | GenerateDone;

export interface GenerateDone {
  readonly kind: "done";
  readonly reason: "stop" | "length";
  /** The stop string that fired; null when the model itself ended or the length did. */
  readonly stopString: string | null;
  readonly promptTokens: number;
  /** Of those, how many were still in the slot's cache. */
  readonly cachedTokens: number;
  readonly promptNs: number;
  readonly evalTokens: number;
  readonly evalNs: number;
  /** Prompt tokens cut to fit the window, and tokens dropped by shifts while generating. */
  readonly truncatedTokens: number;
  readonly shiftedTokens: number;
  readonly context: readonly number[] | null;
}

export interface EmbedJob {
  readonly inputs: readonly (string | readonly number[])[];
  /** On an input beyond the window: cut its end, or refuse it. */
  readonly truncate: boolean;
  /** The request's own bound on one input, in tokens; null: the window. */
  readonly numCtx: number | null;
}

export interface Embeddings {
  /** One per input, as pooled by the model, not normalised. */
  readonly vectors: readonly Float32Array[];
  /** Tokens evaluated, one count per input. */
  readonly tokens: readonly number[];
}
