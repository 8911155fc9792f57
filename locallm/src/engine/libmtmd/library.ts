import { join } from "node:path";
import koffi, { type TypeObject } from "koffi";
import "../call-stack.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { Pointer } from "../libllama/functions.ts";
import { mtmdFile } from "./file-name.ts";
import { type MtmdParams, mtmdLayout } from "./layout.ts";

/** A position that an M-RoPE model gives to a cell: time, column and row. */
export interface DecoderPosition {
  readonly t: number;
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** The functions of libmtmd that we call, by their C names. */
export interface MtmdFunctions {
  mtmd_context_params_default(): MtmdParams;
  mtmd_default_marker(): string;
  mtmd_init_from_file(path: string, model: Pointer, params: MtmdParams): Pointer | null;
  mtmd_support_vision(context: Pointer): boolean;
  mtmd_support_audio(context: Pointer): boolean;
  /** Samples a second of the sound that the projector hears. */
  mtmd_get_audio_sample_rate(context: Pointer): number;
  mtmd_decode_use_non_causal(context: Pointer, chunk: Pointer): boolean;
  mtmd_decode_use_mrope(context: Pointer): boolean;
  /** Copies `width` × `height` × 3 bytes. */
  mtmd_bitmap_init(width: number, height: number, rgb: Uint8Array): Pointer;
  /** Copies `count` samples of one channel. */
  mtmd_bitmap_init_from_audio(count: number, samples: Float32Array): Pointer;
  mtmd_bitmap_free(bitmap: Pointer): void;
  mtmd_input_chunks_init(): Pointer;
  mtmd_input_chunks_size(chunks: Pointer): number;
  mtmd_input_chunks_get(chunks: Pointer, index: number): Pointer;
  mtmd_input_chunks_free(chunks: Pointer): void;
  /** Returns 0 for text, 1 for a picture, 2 for sound. */
  mtmd_input_chunk_get_type(chunk: Pointer): number;
  mtmd_input_chunk_get_tokens_text(chunk: Pointer, count: (number | bigint)[]): Pointer;
  mtmd_input_chunk_get_tokens_image(chunk: Pointer): Pointer;
  mtmd_input_chunk_get_n_tokens(chunk: Pointer): number;
  mtmd_input_chunk_get_n_pos(chunk: Pointer): number;
  mtmd_image_tokens_get_decoder_pos(tokens: Pointer, first: number, index: number): DecoderPosition;
  /** Returns 0, or another number if the text or the pictures do not fit the projector. */
  mtmd_tokenize(
    context: Pointer,
    chunks: Pointer,
    text: Record<string, unknown>,
    bitmaps: BigUint64Array,
    count: number,
  ): number;
  /** Returns 0 if the rows were computed. */
  mtmd_encode_chunk(context: Pointer, chunk: Pointer): number;
  /** The rows of the last `mtmd_encode_chunk`. */
  mtmd_get_output_embd(context: Pointer): Pointer | null;
  mtmd_log_set(callback: Pointer | null, data: null): void;
}

const signatures: Readonly<Record<string, (TypeObject | string | ReturnType<typeof koffi.out>)[]>> = {
  mtmd_context_params_default: [mtmdLayout.contextParams],
  mtmd_default_marker: ["str"],
  mtmd_init_from_file: ["void *", "str", "void *", mtmdLayout.contextParams],
  mtmd_support_vision: ["bool", "void *"],
  mtmd_support_audio: ["bool", "void *"],
  mtmd_get_audio_sample_rate: ["int32_t", "void *"],
  mtmd_decode_use_non_causal: ["bool", "void *", "void *"],
  mtmd_decode_use_mrope: ["bool", "void *"],
  mtmd_bitmap_init: ["void *", "uint32_t", "uint32_t", "void *"],
  mtmd_bitmap_init_from_audio: ["void *", "size_t", "void *"],
  mtmd_bitmap_free: ["void", "void *"],
  mtmd_input_chunks_init: ["void *"],
  mtmd_input_chunks_size: ["size_t", "void *"],
  mtmd_input_chunks_get: ["void *", "void *", "size_t"],
  mtmd_input_chunks_free: ["void", "void *"],
  mtmd_input_chunk_get_type: ["int32_t", "void *"],
  mtmd_input_chunk_get_tokens_text: ["void *", "void *", koffi.out("size_t *")],
  mtmd_input_chunk_get_tokens_image: ["void *", "void *"],
  mtmd_input_chunk_get_n_tokens: ["size_t", "void *"],
  mtmd_input_chunk_get_n_pos: ["int32_t", "void *"],
  mtmd_image_tokens_get_decoder_pos: [mtmdLayout.decoderPosition, "void *", "int32_t", "size_t"],
  mtmd_tokenize: ["int32_t", "void *", "void *", koffi.pointer(mtmdLayout.inputText), "void *", "size_t"],
  mtmd_encode_chunk: ["int32_t", "void *", "void *"],
  mtmd_get_output_embd: ["void *", "void *"],
  mtmd_log_set: ["void", "void *", "void *"],
};

/**
 * Opens libmtmd in `folder`. libllama must be open already: libmtmd finds it by its name. Throws `vision_unusable` if
 * the library belongs to another release.
 */
export function openMtmd(folder: string): MtmdFunctions {
  const unusable = (reason: string, cause?: unknown) =>
    new LocallmError("vision_unusable", { reason }, { cause });
  let functions: MtmdFunctions;
  try {
    const library = koffi.load(join(folder, mtmdFile()));
    functions = Object.fromEntries(
      Object.entries(signatures).map(([name, [result, ...parameters]]) => [
        name,
        library.func(name, result ?? "void", parameters),
      ]),
    ) as unknown as MtmdFunctions;
  } catch (cause) {
    throw unusable(cause instanceof Error ? cause.message : String(cause), cause);
  }
  const found: Record<string, unknown> = { ...functions.mtmd_context_params_default() };
  for (const [member, value] of Object.entries(mtmdLayout.defaults))
    if (found[member] !== value)
      throw unusable(`its ${member} is ${String(found[member])}, not ${String(value)}`);
  return functions;
}
