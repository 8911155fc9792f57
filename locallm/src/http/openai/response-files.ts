import { chmod, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { makeFolder, writeDurably } from "../../library/durable.ts";
import { responsesItem } from "../../wire/openai/responses.ts";
import type { KeptResponse } from "./kept-response.ts";

const fileName = /^(resp_[0-9a-f]{32})\.json$/;

const keptResponse = z.object({
  response: z.looseObject({ id: z.string(), created_at: z.number(), output: z.array(responsesItem) }),
  input: z.array(responsesItem),
  owner: z.string().nullable().default(null),
});

export type OnProblem = (problem: string, error: unknown) => void;

/** Stores responses on disk, one file each. Only the owner of the files may read them. */
export class ResponseFiles {
  readonly #folder: string;
  readonly #onProblem: OnProblem;
  /** Changes run one after the other, because a file must not be written after its removal. */
  #last: Promise<void> = Promise.resolve();

  constructor(folder: string, onProblem: OnProblem) {
    this.#folder = folder;
    this.#onProblem = onProblem;
  }

  /**
   * Returns the newest responses that fit the limit. Removes the others and damaged files. Throws if the
   * folder cannot be used.
   */
  async read(limitBytes: number): Promise<{ kept: KeptResponse; bytes: number }[]> {
    await makeFolder(this.#folder);
    await chmod(this.#folder, 0o700);
    const found: { id: string; bytes: number; changedMs: number }[] = [];
    for (const name of await readdir(this.#folder)) {
      const id = fileName.exec(name)?.[1];
      if (id === undefined) continue;
      const { size, mtimeMs } = await stat(this.#path(id));
      found.push({ id, bytes: size, changedMs: mtimeMs });
    }
    found.sort((a, b) => b.changedMs - a.changedMs);
    const all: { kept: KeptResponse; bytes: number }[] = [];
    let leftBytes = limitBytes;
    for (const { id, bytes } of found) {
      const kept = bytes <= leftBytes ? await this.#readOne(id) : null;
      if (kept === null) this.remove(id);
      else {
        leftBytes -= bytes;
        all.push({ kept, bytes });
      }
    }
    return all;
  }

  /** Writes a response. If that fails, the response stays in memory only. */
  async write(id: string, json: string): Promise<void> {
    await this.#inTurn("cannot write a response to disk", () =>
      writeDurably(this.#path(id), json, this.#folder, 0o600),
    );
  }

  remove(id: string): void {
    void this.#inTurn("cannot remove a response from disk", () => rm(this.#path(id), { force: true }));
  }

  async #readOne(id: string): Promise<KeptResponse | null> {
    try {
      const kept = keptResponse.parse(JSON.parse(await readFile(this.#path(id), "utf8")));
      if (kept.response.id !== id) throw new Error(`the file contains the response ${kept.response.id}`);
      return kept;
    } catch (error) {
      this.#onProblem("removed a damaged response from disk", error);
      return null;
    }
  }

  #inTurn(problem: string, change: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(change).catch((error) => this.#onProblem(problem, error));
    return this.#last;
  }

  #path(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}
