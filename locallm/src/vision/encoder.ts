import { readFile, stat } from "node:fs/promises";
import type { PicturePiece, ProjectorRequest } from "../engine/projector.ts";
import { NoAnswer } from "../runner/ask-child.ts";
import type { DecodedFile, EncodeAnswer, EncodeJob, SentPiece } from "../runner/encode-child.ts";
import { type JobBudget, JobChild } from "../runner/job-child.ts";
import { receiveError } from "../runner/protocol.ts";
import { LocallmError } from "../wire/errors.ts";
import { pictureLimits } from "./limits.ts";

/** A picture as pixels in a file, or a sound as samples, and the file for its rows. */
export type EncodeFiles = DecodedFile & { readonly to: string; readonly identity: string };

/** Besides its weights, a projector needs memory to compute with. */
const computeBytes = 512 * 2 ** 20;

/**
 * Makes rows of pixels and samples. One process holds one projector, and encodes one picture after the other: a picture uses all
 * cores. The projector of another model takes its place, and after a while without pictures the process ends.
 */
export class MediaEncoder {
  readonly #availableBytes: () => number;
  #loaded: {
    readonly key: string;
    readonly child: JobChild<EncodeJob, EncodeAnswer>;
    readonly bytes: number;
  } | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | null = null;

  constructor(availableBytes: () => number) {
    this.#availableBytes = availableBytes;
  }

  /**
   * Encodes when it is this picture's turn. Throws `projector_unusable`, `vision_unusable`, `picture_not_encoded`, or the
   * signal's reason if it is aborted before.
   */
  async encode(files: EncodeFiles, request: ProjectorRequest, signal: AbortSignal): Promise<PicturePiece[]> {
    const mine = this.#last.then(async () => {
      signal.throwIfAborted();
      if (this.#idle !== null) clearTimeout(this.#idle);
      try {
        return await this.#encodeNow(files, request);
      } finally {
        this.#idle = setTimeout(() => this.close(), pictureLimits.idleMs).unref();
      }
    });
    this.#last = mine.catch(() => {});
    return await mine;
  }

  close(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#loaded?.child.end();
    this.#loaded = null;
  }

  async #encodeNow(files: EncodeFiles, request: ProjectorRequest): Promise<PicturePiece[]> {
    const { child, bytes } = await this.#load(request);
    const answer = await answered(child, files, { patienceMs: pictureLimits.encodeMs, bytes });
    if (!("pieces" in answer)) throw new LocallmError("picture_not_encoded", { reason: "it gave no rows" });
    return withRows(answer.pieces, await readFile(files.to));
  }

  async #load(request: ProjectorRequest) {
    const key = JSON.stringify(request);
    if (this.#loaded?.key === key && !this.#loaded.child.hasEnded) return this.#loaded;
    this.close();
    const { size } = await stat(request.projectorPath);
    const needed = size + computeBytes;
    const available = this.#availableBytes();
    if (needed > available)
      throw new LocallmError("projector_unusable", {
        reason: `it needs ${mib(needed)} MiB of memory, and ${mib(available)} are free`,
      });
    const child = new JobChild<EncodeJob, EncodeAnswer>("encode-child");
    // Tensors of another type than the file's may take up to four times its size.
    const bytes = 4 * size + 8 * computeBytes;
    try {
      await answered(
        child,
        { load: request },
        { patienceMs: pictureLimits.loadMs, bytes },
        "projector_unusable",
      );
    } catch (error) {
      child.end();
      throw error;
    }
    this.#loaded = { key, child, bytes };
    return this.#loaded;
  }
}

async function answered(
  child: JobChild<EncodeJob, EncodeAnswer>,
  job: EncodeJob,
  budget: JobBudget,
  whenEnded: "projector_unusable" | "picture_not_encoded" = "picture_not_encoded",
): Promise<EncodeAnswer> {
  const answer = await child.do(job, budget).catch((cause: unknown) => {
    if (!(cause instanceof NoAnswer)) throw cause;
    throw new LocallmError(whenEnded, { reason: cause.message }, { cause });
  });
  if ("error" in answer) throw receiveError(answer.error);
  return answer;
}

function withRows(pieces: readonly SentPiece[], file: Buffer): PicturePiece[] {
  // A file's bytes may begin anywhere, but floats must not.
  const all = new Float32Array(file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength));
  let from = 0;
  return pieces.map((piece) => {
    if (!("floats" in piece)) return piece;
    const { floats, ...rest } = piece;
    from += floats;
    return { ...rest, rows: all.subarray(from - floats, from) };
  });
}

function mib(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
