import type { Caller } from "../../keys/keys.ts";
import type { KeptResponse } from "./kept-response.ts";
import type { ResponseFiles } from "./response-files.ts";

export interface ResponseStoreLimits {
  /** The limit for all responses together. Each counts with its whole conversation. 0 keeps none. */
  readonly bytes: number;
  /** How long a response is kept after it was created. */
  readonly lifetimeMs: number;
  readonly now: () => number;
}

/** Stores finished responses and removes the oldest first. With files, the responses survive a restart. */
export class ResponseStore {
  readonly #limits: ResponseStoreLimits;
  readonly #files: ResponseFiles | null;
  /** The responses, oldest first. */
  readonly #kept = new Map<string, { readonly kept: KeptResponse; readonly bytes: number }>();
  #bytes = 0;

  private constructor(limits: ResponseStoreLimits, files: ResponseFiles | null) {
    this.#limits = limits;
    this.#files = files;
  }

  /** Reads what an earlier server wrote. Throws if the folder cannot be used. */
  static async open(limits: ResponseStoreLimits, files: ResponseFiles | null = null): Promise<ResponseStore> {
    const store = new ResponseStore(limits, files);
    const found = (await files?.read(limits.bytes)) ?? [];
    found.sort((a, b) => a.kept.response.created_at - b.kept.response.created_at);
    for (const { kept, bytes } of found) store.#add(kept, bytes);
    store.#removeOld();
    return store;
  }

  /** Also null if another API key created it. The administrator may read all responses. */
  get(id: string, caller: Pick<Caller, "id">): KeptResponse | null {
    this.#removeOld();
    const kept = this.#kept.get(id)?.kept ?? null;
    return caller.id === null || kept?.owner === caller.id ? kept : null;
  }

  /**
   * Stores a response and resolves when it is written. Returns false if the response is larger than the limit
   * and therefore not stored.
   */
  async add(kept: KeptResponse): Promise<boolean> {
    const { bytes: limit } = this.#limits;
    if (limit === 0) return false;
    const json = JSON.stringify(kept);
    const bytes = Buffer.byteLength(json);
    if (bytes > limit) return false;
    this.#add(kept, bytes);
    this.#removeOld();
    await this.#files?.write(kept.response.id, json);
    return true;
  }

  /** Returns false if there is no such response. */
  remove(id: string): boolean {
    this.#removeOld();
    if (!this.#kept.has(id)) return false;
    this.#drop(id);
    return true;
  }

  #add(kept: KeptResponse, bytes: number): void {
    this.#kept.set(kept.response.id, { kept, bytes });
    this.#bytes += bytes;
  }

  #removeOld(): void {
    const oldestMs = this.#limits.now() - this.#limits.lifetimeMs;
    for (const [id, { kept }] of this.#kept) {
      if (this.#bytes <= this.#limits.bytes && kept.response.created_at * 1000 > oldestMs) return;
      this.#drop(id);
    }
  }

  #drop(id: string): void {
    this.#bytes -= this.#kept.get(id)?.bytes ?? 0;
    this.#kept.delete(id);
    this.#files?.remove(id);
  }
}
