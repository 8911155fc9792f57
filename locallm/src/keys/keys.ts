import { timingSafeEqual } from "node:crypto";
import type { ModelName } from "../wire/model-name.ts";
import { type ApiKey, hashOf, type Permission } from "./api-key.ts";
import { KeysFile } from "./keys-file.ts";
import { modelTest } from "./model-patterns.ts";
import { type KeyClock, Usage } from "./usage.ts";
import { UsageFile } from "./usage-file.ts";

/** Who sent a request, and what that caller may do. */
export interface Caller {
  /** The key's id. Null for the administrator, and for everybody while requests need no key. */
  readonly id: string | null;
  may(permission: Permission): boolean;
  /** Whether the caller may use the model and see that it exists. */
  seesModel(name: ModelName): boolean;
  /** Whether the caller sees all models, including future ones. */
  readonly seesAllModels: boolean;
  /** Counts a request. Throws `key_rate_exceeded` or `key_tokens_used_up`. */
  admit(): void;
  /** Throws `key_tokens_used_up` if no token is left today. */
  requireTokens(): void;
  /** Counts tokens as soon as they are known. */
  count(promptTokens: number, generatedTokens: number): void;
}

export interface KeysOptions {
  readonly folder: string;
  /** The secret of the administrator, `LOCALLM_API_KEY`. */
  readonly administrator: string | null;
  readonly clock: KeyClock;
  /** Calls back once; returns a function that cancels. */
  readonly after: (delayMs: number, callback: () => void) => () => void;
  readonly onProblem: (problem: string, error: unknown) => void;
}

/** What is known of the keys file. */
type State =
  | { readonly kind: "none" }
  | {
      readonly kind: "keys";
      readonly bySha256: ReadonlyMap<string, KeyCaller>;
      readonly all: readonly KeyCaller[];
    }
  | { readonly kind: "unusable"; readonly error: unknown };

/** A change of the keys file takes effect within this time. */
const freshMs = 1000;

/** A killed server loses at most the usage of this time. */
export const savePauseMs = 2000;

/** The keys of a running server. The file is read again when it changes. */
export class Keys {
  readonly #options: KeysOptions;
  readonly #file: KeysFile;
  readonly #usageFile: UsageFile;
  readonly #administrator: Buffer | null;
  #state: State = { kind: "none" };
  #stamp: string | null = null;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checking: Promise<void> | null = null;
  #usage = new Map<string, Usage>();
  #isSaved = true;
  #saving: Promise<void> = Promise.resolve();
  #cancelSave: (() => void) | null = null;

  private constructor(options: KeysOptions) {
    this.#options = options;
    this.#file = new KeysFile(options.folder);
    this.#usageFile = new UsageFile(options.folder);
    this.#administrator = options.administrator === null ? null : Buffer.from(hashOf(options.administrator));
  }

  /** Throws `keys_unusable` if a file is damaged: a server that does not know its keys must not start. */
  static async open(options: KeysOptions): Promise<Keys> {
    const keys = new Keys(options);
    await keys.#readUsage();
    await keys.refresh();
    if (keys.#state.kind === "unusable") throw keys.#state.error;
    return keys;
  }

  /** Whether callers of the API need a key. */
  get areRequired(): boolean {
    return this.exist || this.#administrator !== null;
  }

  /** Whether keys were made. Until then, only the administrator's key can be required. */
  get exist(): boolean {
    return this.#state.kind !== "none";
  }

  /** All keys with their usage, in the order of the file. */
  get all(): readonly { readonly key: ApiKey; readonly usage: Usage }[] {
    return this.#state.kind === "keys" ? this.#state.all : [];
  }

  /** Reads the file again if it changed. Null if it was checked a moment ago. Never rejects. */
  refresh(): Promise<void> | null {
    if (this.#options.clock.elapsed() - this.#checkedAt < freshMs) return null;
    this.#checking ??= this.#look().finally(() => {
      this.#checkedAt = this.#options.clock.elapsed();
      this.#checking = null;
    });
    return this.#checking;
  }

  /**
   * Finds the caller by the secret that was sent; empty if none was. Null if it is wrong or missing. Throws
   * `keys_unusable` if the file is damaged, except for the administrator.
   */
  caller(secret: string): Caller | null {
    if (!this.areRequired) return unlimited;
    const sha256 = hashOf(secret);
    if (this.#administrator !== null && timingSafeEqual(Buffer.from(sha256), this.#administrator))
      return unlimited;
    switch (this.#state.kind) {
      case "none":
        return null;
      case "unusable":
        throw this.#state.error;
      case "keys": {
        // The time of a lookup by hash tells nothing about the secret: one cannot be guessed from the other.
        const found = this.#state.bySha256.get(sha256);
        return found !== undefined && timingSafeEqual(Buffer.from(sha256), Buffer.from(found.key.sha256))
          ? found
          : null;
      }
    }
  }

  /** Resolves when the writes that began are done. */
  async written(): Promise<void> {
    await this.#saving;
  }

  /** Writes the usage that is not yet on disk. */
  async close(): Promise<void> {
    this.#cancelSave?.();
    await this.written();
    if (!this.#isSaved) await this.#save();
  }

  async #look(): Promise<void> {
    try {
      const stamp = await this.#file.stamp();
      if (stamp === this.#stamp && this.#state.kind !== "unusable") return;
      const keys = await this.#file.read();
      if (keys === null && this.#state.kind !== "none") throw this.#file.disappeared();
      this.#state = keys === null ? { kind: "none" } : this.#withCallers(keys);
      this.#stamp = stamp;
    } catch (error) {
      if (this.#state.kind !== "unusable") this.#options.onProblem("the API keys cannot be used", error);
      this.#state = { kind: "unusable", error };
    }
  }

  #withCallers(keys: readonly ApiKey[]): State {
    const all = keys.map((key) => {
      let usage = this.#usage.get(key.id);
      if (usage === undefined) {
        usage = new Usage(this.#options.clock);
        this.#usage.set(key.id, usage);
      }
      return new KeyCaller(key, usage, () => this.#changed());
    });
    return { kind: "keys", all, bySha256: new Map(all.map((caller) => [caller.key.sha256, caller])) };
  }

  async #readUsage(): Promise<void> {
    for (const [id, record] of await this.#usageFile.read())
      this.#usage.set(id, new Usage(this.#options.clock, record));
  }

  #changed(): void {
    if (!this.#isSaved) return;
    this.#isSaved = false;
    this.#cancelSave = this.#options.after(savePauseMs, () => {
      this.#saving = this.#saving.then(() => this.#save());
    });
  }

  /** Also forgets the usage of revoked keys. */
  async #save(): Promise<void> {
    this.#isSaved = true;
    if (this.#state.kind === "keys") {
      const ids = new Set(this.#state.all.map(({ id }) => id));
      for (const id of this.#usage.keys()) if (!ids.has(id)) this.#usage.delete(id);
    }
    try {
      const records = this.#usage.entries().map(([id, usage]) => [id, usage.record] as const);
      await this.#usageFile.write(new Map(records.filter(([, { lastUsed }]) => lastUsed !== null)));
    } catch (error) {
      this.#options.onProblem("the usage of the API keys cannot be written", error);
      this.#changed();
    }
  }
}

/** The administrator, and everybody while requests need no key. */
const unlimited: Caller = {
  id: null,
  may: () => true,
  seesModel: () => true,
  seesAllModels: true,
  admit() {},
  requireTokens() {},
  count() {},
};

/** A caller with a key. Requests that began before the file changed keep the limits they began with. */
class KeyCaller implements Caller {
  readonly key: ApiKey;
  readonly usage: Usage;
  readonly seesModel: (name: ModelName) => boolean;
  readonly #onChange: () => void;

  constructor(key: ApiKey, usage: Usage, onChange: () => void) {
    this.key = key;
    this.usage = usage;
    this.seesModel = key.models === null ? () => true : modelTest(key.models);
    this.#onChange = onChange;
  }

  get id(): string {
    return this.key.id;
  }

  get seesAllModels(): boolean {
    return this.key.models === null;
  }

  may(permission: Permission): boolean {
    return this.key.may.includes(permission) || this.key.may.includes("administer");
  }

  admit(): void {
    this.usage.admit(this.key);
    this.#onChange();
  }

  requireTokens(): void {
    this.usage.requireTokens(this.key);
  }

  count(promptTokens: number, generatedTokens: number): void {
    this.usage.count(promptTokens, generatedTokens);
    this.#onChange();
  }
}
