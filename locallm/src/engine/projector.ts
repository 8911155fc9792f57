import { createHash } from "node:crypto";
import koffi from "koffi";
import { LocallmError } from "../wire/errors.ts";
import { type LoadRequest, onlyProcessor } from "../wire/inference/load.ts";
import type { EncodedPicture, PictureGrid } from "../wire/inference/picture.ts";
import { computingCores } from "./cores.ts";
import type { Functions, Pointer } from "./libllama/functions.ts";
import { openLibrary } from "./libllama/library.ts";
import { type MtmdFunctions, openMtmd } from "./libmtmd/library.ts";
import { hearErrors } from "./libmtmd/log.ts";
import { Model } from "./model.ts";
import { resampled } from "./resample.ts";
import { type ProcessorTime, readProcessorTime, threadsBeside } from "./threads.ts";

/** What a projector is loaded from. */
export interface ProjectorRequest {
  /** The folder of libmtmd. */
  readonly visionFolder: string;
  readonly projectorPath: string;
  /** The weights that the projector belongs to. Only their header and vocabulary are read. */
  readonly modelPath: string;
  readonly furtherPaths?: readonly string[];
  /** Missing means one thread for each physical core that nobody else uses at the load. */
  readonly threads?: number;
}

/** A picture as bytes: red, green and blue of each pixel, row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}

/** Sound of one channel: samples between -1 and 1, so many a second. */
export interface Samples {
  readonly rate: number;
  readonly samples: Float32Array;
}

/** What stands in a prompt for one picture or one sound: its rows, and the tokens that the projector puts around them. */
export type PicturePiece = readonly number[] | EncodedPicture;

const chunkKinds = { text: 0, picture: 1, sound: 2 };

/** A loaded projector. It is never unloaded, because its process ends instead. */
export class Projector {
  readonly #mtmd: MtmdFunctions;
  readonly #context: Pointer;
  readonly #vocabSize: number;
  readonly #inputLength: number;
  readonly #marker: string;
  readonly #isGrid: boolean;

  private constructor(mtmd: MtmdFunctions, context: Pointer, library: Functions, model: Model) {
    this.#mtmd = mtmd;
    this.#context = context;
    this.#vocabSize = model.vocabulary.size;
    this.#inputLength = library.llama_model_n_embd_inp(model.pointer);
    this.#marker = mtmd.mtmd_default_marker();
    this.#isGrid = mtmd.mtmd_decode_use_mrope(context);
  }

  /**
   * Blocks until the projector is loaded. Throws `projector_unusable` if the file is damaged or belongs to another model,
   * `vision_unusable`, `engine_missing` and `engine_mismatch`.
   */
  static load(request: ProjectorRequest): Projector {
    const library = openLibrary();
    const mtmd = openMtmd(request.visionFolder);
    const { result, errors } = hearErrors(library, mtmd, () => {
      const before = readProcessorTime();
      const model = Model.load(library, headerOf(request), () => {}, "dry");
      const params = {
        ...mtmd.mtmd_context_params_default(),
        use_gpu: false,
        print_timings: false,
        // The first picture does it, with its own size.
        warmup: false,
        n_threads: request.threads ?? freeCores(before),
      };
      return { model, context: mtmd.mtmd_init_from_file(request.projectorPath, model.pointer, params) };
    });
    const { model, context } = result;
    if (context === null) throw unusable(errors.join("; ") || "the engine rejected the file");
    const projector = new Projector(mtmd, context, library, model);
    projector.#requireMarkers();
    return projector;
  }

  /**
   * Blocks until the picture or sound is encoded. `identity` names its bytes and everything that the rows depend on.
   * Throws `picture_not_encoded`, and `projector_unusable` if the projector does not see, or does not hear.
   */
  encode(input: Pixels | Samples, identity: string): PicturePiece[] {
    return this.#chunks(input, (chunk, index) => {
      const mtmd = this.#mtmd;
      const kind = mtmd.mtmd_input_chunk_get_type(chunk);
      if (kind === chunkKinds.text) return this.#tokens(chunk);
      if (mtmd.mtmd_encode_chunk(this.#context, chunk) !== 0) throw notEncoded("the projector failed");
      const cells = Number(mtmd.mtmd_input_chunk_get_n_tokens(chunk));
      const output = mtmd.mtmd_get_output_embd(this.#context);
      if (output === null || cells < 1) throw notEncoded("the projector gave no rows");
      return {
        identity: createHash("sha256").update(`${identity} ${index}`).digest("hex"),
        cells,
        positions: mtmd.mtmd_input_chunk_get_n_pos(chunk),
        rows: floatsAt(output, cells * this.#inputLength),
        layout: kind === chunkKinds.sound ? "line" : this.#layout(chunk, cells),
        causal: !mtmd.mtmd_decode_use_non_causal(this.#context, chunk),
      };
    });
  }

  /**
   * The tokens around pictures and sounds are looked up in the vocabulary. libmtmd uses -1 for one that is missing, which the
   * engine must never get. Such a projector does not belong to these weights.
   */
  #requireMarkers(): void {
    const [width, height] = [1024, 768];
    const picture = { width, height, rgb: new Uint8Array(width * height * 3) };
    const silence = { rate: 16_000, samples: new Float32Array(16_000) };
    const tried = [
      ...(this.#mtmd.mtmd_support_vision(this.#context) ? [picture] : []),
      ...(this.#mtmd.mtmd_support_audio(this.#context) ? [silence] : []),
    ];
    for (const input of tried)
      this.#chunks(input, (chunk) => {
        if (this.#mtmd.mtmd_input_chunk_get_type(chunk) === chunkKinds.text) this.#tokens(chunk);
      });
  }

  /** The engine's form of a picture or a sound. */
  #bitmap(input: Pixels | Samples): Pointer {
    const mtmd = this.#mtmd;
    if ("samples" in input) {
      if (!mtmd.mtmd_support_audio(this.#context)) throw unusable("it does not hear");
      const samples = resampled(input.samples, input.rate, mtmd.mtmd_get_audio_sample_rate(this.#context));
      return mtmd.mtmd_bitmap_init_from_audio(samples.length, samples);
    }
    const { width, height, rgb } = input;
    if (!mtmd.mtmd_support_vision(this.#context)) throw unusable("it does not see");
    if (rgb.length !== width * height * 3) throw new RangeError("the pixels do not fill the picture");
    return mtmd.mtmd_bitmap_init(width, height, rgb);
  }

  #chunks<Result>(input: Pixels | Samples, read: (chunk: Pointer, index: number) => Result): Result[] {
    const mtmd = this.#mtmd;
    const bitmap = this.#bitmap(input);
    const chunks = mtmd.mtmd_input_chunks_init();
    try {
      const text = {
        text: this.#marker,
        text_len: Buffer.byteLength(this.#marker),
        add_special: false,
        parse_special: true,
      };
      const status = mtmd.mtmd_tokenize(this.#context, chunks, text, BigUint64Array.of(bitmap), 1);
      if (status !== 0) throw notEncoded("it cannot use one of this size");
      const count = Number(mtmd.mtmd_input_chunks_size(chunks));
      return Array.from({ length: count }, (_, index) =>
        read(mtmd.mtmd_input_chunks_get(chunks, index), index),
      );
    } finally {
      mtmd.mtmd_input_chunks_free(chunks);
      mtmd.mtmd_bitmap_free(bitmap);
    }
  }

  #tokens(chunk: Pointer): number[] {
    const count: (number | bigint)[] = [0];
    const address = this.#mtmd.mtmd_input_chunk_get_tokens_text(chunk, count);
    const length = Number(count[0]);
    const tokens = Array.from(new Int32Array(koffi.view(address, length * 4)));
    if (tokens.every((token) => token >= 0 && token < this.#vocabSize)) return tokens;
    throw unusable(
      "the model's vocabulary lacks the marks that the projector puts around pictures or sounds",
    );
  }

  /** Reads where the cells stand, and checks that they stand in a line or in a grid: other orders are not known. */
  #layout(chunk: Pointer, cells: number): "line" | PictureGrid {
    const tokens = this.#mtmd.mtmd_input_chunk_get_tokens_image(chunk);
    const at = (index: number) => this.#mtmd.mtmd_image_tokens_get_decoder_pos(tokens, 0, index);
    const last = at(cells - 1);
    const isRow = cells === 1 || at(1).t === 1;
    const layout = !this.#isGrid || (isRow && cells > 1) ? "line" : { width: last.x + 1, height: last.y + 1 };
    for (let index = 0; index < cells; index++) {
      const { t, x, y } = at(index);
      const isRight =
        layout === "line"
          ? t === index && x === index && y === index
          : t === 0 && x === index % layout.width && y === Math.floor(index / layout.width);
      if (!isRight) throw unusable("it places pictures in an order that locallm does not know");
    }
    return layout;
  }
}

/** Copies numbers out of the library's memory. */
function floatsAt(address: Pointer, count: number): Float32Array {
  return new Float32Array(koffi.view(address, count * 4)).slice();
}

/** The library keeps the number of a projector's threads, so it is chosen for what others use at the load. */
function freeCores(before: ProcessorTime): number {
  const passedMs = performance.now() - before.nowMs;
  // The system counts in steps of 10 ms.
  if (passedMs < 150) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150 - passedMs);
  return threadsBeside(computingCores(), before, readProcessorTime());
}

/** A load that reads the header and the vocabulary of the weights. */
function headerOf({ modelPath, furtherPaths = [] }: ProjectorRequest): LoadRequest {
  return {
    ...{ modelPath, furtherPaths, adapters: [], placement: onlyProcessor },
    ...{ numCtx: 1, slots: 1, numBatch: null, numThread: null },
    ...{ useMmap: null, flashAttention: "auto", kvCacheType: "f16" },
  };
}

function unusable(reason: string): LocallmError {
  return new LocallmError("projector_unusable", { reason });
}

function notEncoded(reason: string): LocallmError {
  return new LocallmError("picture_not_encoded", { reason });
}
