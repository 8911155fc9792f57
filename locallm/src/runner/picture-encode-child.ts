// Makes rows of pixels with a model's projector. Runs in a separate process, because the engine may crash on a projector,
// and because only the end of a process stops its work and frees its memory.

import { readFileSync, writeFileSync } from "node:fs";
import { openLibrary } from "../engine/libllama/library.ts";
import { openMtmd } from "../engine/libmtmd/library.ts";
import { type PicturePiece, Projector, type ProjectorRequest } from "../engine/projector.ts";
import { type EncodedPicture, isPicture } from "../wire/inference/picture.ts";
import { type SentError, sendError } from "./protocol.ts";

/** The first job loads the projector, and the others encode a picture each. Or the only job opens a library. */
export type EncodeJob =
  | { readonly open: string }
  | { readonly load: ProjectorRequest }
  | {
      /** A file with the red, green and blue of each pixel. */
      readonly from: string;
      readonly width: number;
      readonly height: number;
      /** The file to which all rows are written, in the order of the pieces. */
      readonly to: string;
      readonly identity: string;
    };

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
    const { from, to, width, height, identity } = job;
    const pieces = projector?.encode({ width, height, rgb: readFileSync(from) }, identity) ?? [];
    writeFileSync(to, Buffer.concat(pieces.filter(isPicture).map(({ rows }) => bytesOf(rows))), {
      mode: 0o600,
    });
    return { pieces: pieces.map(withoutRows) };
  } catch (error) {
    return { error: sendError(error) };
  }
}

function withoutRows(piece: PicturePiece): SentPiece {
  if (!isPicture(piece)) return piece;
  const { rows, ...rest } = piece;
  return { ...rest, floats: rows.length };
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
