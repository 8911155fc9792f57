import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { PicturePiece } from "../engine/projector.ts";
import { LocallmError } from "../wire/errors.ts";
import { unlessAborted } from "../wire/unless-aborted.ts";
import { MediaDecoder } from "./decoder.ts";
import { EncodedPictures } from "./encoded-pictures.ts";
import { MediaEncoder } from "./encoder.ts";
import { pictureLimits } from "./limits.ts";
import { visionFolder } from "./part.ts";

/** A picture or sound of a request. */
export interface Medium {
  readonly kind: "picture" | "sound";
  /** In base64. */
  readonly data: string;
  /** Where the request has it, such as `messages[0].images[1]`. */
  readonly field: string;
}

/** The files of a model that sees or hears. */
export interface SeeingModel {
  readonly projectorPath: string;
  readonly modelPath: string;
  readonly furtherPaths?: readonly string[];
  /** Missing means one thread for each physical core that nobody else uses at the load. */
  readonly threads?: number;
}

/** What stands in a prompt for one picture or sound. */
export type PictureParts = readonly PicturePiece[];

export interface VisionSettings {
  /** Where the part of the engine is that reads pictures. */
  readonly enginesFolder: string;
  readonly availableBytes: () => number;
  readonly onPicture: (outcome: "encoded" | "found" | "failed") => void;
}

/** Makes of pictures and sounds what stands in prompts. The work is done in other processes, and kept for a while. */
export class Vision {
  readonly #enginesFolder: string;
  readonly #onPicture: VisionSettings["onPicture"];
  readonly #decoder = new MediaDecoder();
  readonly #encoder: MediaEncoder;
  readonly #encoded = new EncodedPictures(pictureLimits.keptBytes);
  readonly #working = new Map<string, Promise<PictureParts>>();
  /** Of this process, for files between steps. The last one is in use. */
  readonly #folders: string[] = [];

  constructor({ enginesFolder, availableBytes, onPicture }: VisionSettings) {
    this.#enginesFolder = enginesFolder;
    this.#encoder = new MediaEncoder(availableBytes);
    this.#onPicture = onPicture;
  }

  /** Throws `vision_missing` if no picture or sound can be encoded on this machine. */
  requireVision(): string {
    const folder = visionFolder(this.#enginesFolder);
    if (folder === null) throw new LocallmError("vision_missing", {});
    return folder;
  }

  /**
   * Encodes a picture or sound for a model. Requests for the same one at the same time share the work, which goes on when
   * one of them leaves. Throws `vision_missing`, `picture_unreadable`, `sound_unreadable`, `projector_unusable`,
   * `picture_not_encoded`, or the signal's reason.
   */
  async encode(medium: Medium, model: SeeingModel, signal: AbortSignal): Promise<PictureParts> {
    const vision = this.requireVision();
    const bytes = Buffer.from(medium.data, "base64");
    const names = [model.projectorPath, model.modelPath].map((path) => basename(path));
    const identity = createHash("sha256").update(bytes).update(JSON.stringify(names)).digest("hex");
    const found = this.#encoded.find(identity);
    if (found !== null) {
      this.#onPicture("found");
      return found;
    }
    const others = this.#working.get(identity);
    if (others !== undefined) {
      try {
        return await unlessAborted(others, signal);
      } catch (error) {
        if (signal.aborted || error instanceof LocallmError) throw error;
        // The request that began the work has left.
        return await this.encode(medium, model, signal);
      }
    }
    const work = this.#encode(bytes, identity, medium, { ...model, visionFolder: vision }, signal);
    this.#working.set(identity, work);
    const done = (outcome: "encoded" | "failed") => {
      this.#working.delete(identity);
      this.#onPicture(outcome);
    };
    work.then(
      () => done("encoded"),
      () => done("failed"),
    );
    return await unlessAborted(work, signal);
  }

  async close(): Promise<void> {
    this.#decoder.close();
    this.#encoder.close();
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
  }

  /** Systems remove folders for temporary files that were not used for days. */
  async #privateFolder(): Promise<string> {
    const last = this.#folders.at(-1);
    if (last !== undefined && (await stat(last).catch(() => null)) !== null) return last;
    const made = await mkdtemp(join(tmpdir(), "locallm-pictures-"));
    this.#folders.push(made);
    return made;
  }

  async #encode(
    bytes: Buffer,
    identity: string,
    { kind, field }: Medium,
    projector: SeeingModel & { readonly visionFolder: string },
    signal: AbortSignal,
  ): Promise<PictureParts> {
    const name = join(await this.#privateFolder(), randomUUID());
    const files = { given: `${name}.given`, decoded: `${name}.decoded`, rows: `${name}.rows` };
    try {
      await writeFile(files.given, bytes, { mode: 0o600 });
      const decoded = await this.#decoder.decode({ kind, from: files.given, to: files.decoded }, signal);
      if ("problem" in decoded)
        throw new LocallmError(kind === "sound" ? "sound_unreadable" : "picture_unreadable", {
          ...{ field, reason: decoded.problem },
        });
      const job = { ...decoded, from: files.decoded, to: files.rows, identity };
      const pieces = await this.#encoder.encode(job, projector, signal);
      this.#encoded.keep(identity, pieces);
      return pieces;
    } finally {
      for (const path of Object.values(files)) await rm(path, { force: true });
    }
  }
}
