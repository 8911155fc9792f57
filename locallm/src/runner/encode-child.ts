// Makes rows of pixels or samples with a model's projector. Runs in a separate process, because the engine may crash on a projector,
// and because only the end of a process stops its work and frees its memory.

import { readFileSync, writeFileSync } from "node:fs";
import { openLibrary } from "../engine/libllama/library.ts";
import { openMtmd } from "../engine/libmtmd/library.ts";
import {
  type PicturePiece,
  type Pixels,
  Projector,
  type ProjectorRequest,
  type Samples,
} from "../engine/projector.ts";
import { type EncodedPicture, isPicture } from "../wire/inference/picture.ts";
import { type SentError, sendError } from "./protocol.ts";

/** A file with the red, green and blue of each pixel, or with the samples of one channel as 32-bit floats. */
export type DecodedFile = { readonly from: string } & (
  | { readonly width: number; readonly height: number }
  | { readonly rate: number }
);

/** The first job loads the projector, and the others encode a picture or sound each. Or the only job opens a library. */
export type EncodeJob =
  | { readonly open: string }
  | { readonly load: ProjectorRequest }
  | (DecodedFile & {
      /** The file to which all rows are written, in the order of the pieces. */
      readonly to: string;
      readonly identity: string;
    });

/** A piece without its rows. */
export type SentPiece = readonly number[] | (Omit<EncodedPicture, "rows"> & { readonly floats: number });

export type EncodeAnswer =
  | { readonly error: SentError }
  | { readonly pieces: readonly SentPiece[] }
  | { readonly loaded: true };

let projector: Projector | null = null;

process.on("message", (job: EncodeJob) => process.send?.(answer(job)));
process.on("disconnect", () => process.exit(0));

function answer(job: EncodeJob): EncodeAnswer {
  try {
    if ("open" in job) {
      openLibrary();
      openMtmd(job.open);
      return { loaded: true };
    }
    if ("load" in job) {
      projector = Projector.load(job.load);
      return { loaded: true };
    }
    const pieces = projector?.encode(decoded(job), job.identity) ?? [];
    writeFileSync(job.to, Buffer.concat(pieces.filter(isPicture).map(({ rows }) => bytesOf(rows))), {
      mode: 0o600,
    });
    return { pieces: pieces.map(withoutRows) };
  } catch (error) {
    return { error: sendError(error) };
  }
}

function decoded(file: DecodedFile): Pixels | Samples {
  const bytes = readFileSync(file.from);
  if ("width" in file) return { width: file.width, height: file.height, rgb: bytes };
  const { buffer, byteOffset, byteLength } = bytes;
  return { rate: file.rate, samples: new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength)) };
}

function withoutRows(piece: PicturePiece): SentPiece {
  if (!isPicture(piece)) return piece;
  const { rows, ...rest } = piece;
  return { ...rest, floats: rows.length };
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
