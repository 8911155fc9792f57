import { mkdir, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Failure } from "@dataq/contract";
import type { Database } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";

/** A file that a browser is sending. */
export interface UploadState {
  readonly id: string;
  readonly received: number;
  readonly piece_bytes: number;
}

/** The size of a piece, which must arrive within a request's time limit even over a slow connection. */
export const pieceBytes = 1 << 20;

/**
 * Files that operators upload from their browsers, written to disk piece by piece. A file is kept as long as a data
 * set, or something that can be restored, was made from it, and for at least a day.
 */
export class Uploads {
  readonly #database: Database;
  readonly #folder: string;
  readonly #limitBytes: number;
  readonly #clock: () => Date;

  constructor(database: Database, dataFolder: string, limitBytes: number, clock: () => Date) {
    this.#database = database;
    this.#folder = join(dataFolder, "uploads");
    this.#limitBytes = limitBytes;
    this.#clock = clock;
  }

  async start({ name, bytes }: { name: string; bytes: number }): Promise<UploadState> {
    if (bytes > this.#limitBytes) throw new Failure("body_too_large", { limit: this.#limitBytes });
    await this.#sweep();
    const id = makeIdentifier("upload", this.#clock());
    const folder = join(this.#folder, id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, ".bytes"), String(bytes));
    await writeFile(join(folder, fileNameOf(name)), "");
    return { id, received: 0, piece_bytes: pieceBytes };
  }

  /**
   * Stores a piece. A piece that was already received changes nothing. The answer says where the next piece
   * begins.
   */
  async add(id: string, at: number, piece: Uint8Array): Promise<UploadState> {
    const { path, received, bytes } = await this.#find(id);
    if (at !== received || piece.length === 0) return { id, received, piece_bytes: pieceBytes };
    if (received + piece.length > bytes) throw new Failure("body_too_large", { limit: bytes });
    const file = await open(path, "r+");
    try {
      await file.write(piece, 0, piece.length, at);
    } finally {
      await file.close();
    }
    return { id, received: at + piece.length, piece_bytes: pieceBytes };
  }

  /** The path of a file that is complete. */
  async path(id: string): Promise<string> {
    const { path, received, bytes } = await this.#find(id);
    if (received !== bytes) throw new Failure("not_found", { what: "The rest of the uploaded file" });
    return path;
  }

  async #find(id: string): Promise<{ path: string; received: number; bytes: number }> {
    if (!/^upload_[0-9a-z]{26}$/.test(id)) throw new Failure("not_found", { what: "The upload" });
    const folder = join(this.#folder, id);
    try {
      const name = (await readdir(folder)).find((each) => each !== ".bytes") as string;
      const path = join(folder, name);
      const { size } = await stat(path);
      return { path, received: size, bytes: Number(await readFile(join(folder, ".bytes"), "utf8")) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT")
        throw new Failure("not_found", { what: "The upload" });
      throw error;
    }
  }

  async #sweep(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    const used = await this.#database.pool.query<{ origin: string }>(
      `select distinct r.origin from import_run r
        where r.state = 'running' or r.id in (select unnest(runs) from dataset union select unnest(runs) from dataset_past)`,
    );
    for (const name of names) {
      const folder = join(this.#folder, name);
      const isUsed = used.rows.some(({ origin }) => origin.startsWith(`${folder}/`));
      const { mtimeMs } = await stat(folder);
      if (!isUsed && mtimeMs < this.#clock().getTime() - keptMs)
        await rm(folder, { recursive: true, force: true });
    }
  }
}

const keptMs = 86_400_000;

/** The name of the file on disk. The data set is named after it, and it must not lead to another folder. */
function fileNameOf(name: string): string {
  const plain = basename(name.replaceAll("\\", "/")).replace(/[\p{Cc}/]/gu, "_");
  return plain.replace(/^\.+/, "") || "upload";
}
