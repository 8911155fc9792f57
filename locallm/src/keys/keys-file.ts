import { join } from "node:path";
import { z } from "zod";
import { type ApiKey, apiKey, mostKeys } from "./api-key.ts";
import { PrivateFile } from "./private-file.ts";

const fileSchema = z.strictObject({ version: z.literal(1), keys: z.array(apiKey).max(mostKeys) });
const limitBytes = 16 * 1024 * 1024;

/**
 * `keys.json`, the file with all keys. While it does not exist, no request needs a key. An empty list lets nobody
 * in.
 */
export class KeysFile {
  readonly #file: PrivateFile;

  constructor(folder: string) {
    this.#file = new PrivateFile(join(folder, "keys.json"), limitBytes);
  }

  get path(): string {
    return this.#file.path;
  }

  /** See `PrivateFile.stamp`. */
  stamp(): Promise<string | null> {
    return this.#file.stamp();
  }

  /** Null if the file does not exist. Throws `keys_unusable`. */
  async read(): Promise<readonly ApiKey[] | null> {
    const text = await this.#file.read();
    return text === null ? null : this.#parse(text);
  }

  /** Replaces the keys with those that `change` returns. Changes of several processes do not overlap. */
  async change(change: (keys: readonly ApiKey[] | null) => Promise<readonly ApiKey[]>): Promise<void> {
    await this.#file.locked(async () => {
      const keys = await change(await this.read());
      if (keys.length > mostKeys)
        throw this.#file.unusable(`it would have more than ${mostKeys} keys; revoke some`);
      await this.#file.write(`${JSON.stringify({ version: 1, keys }, null, 1)}\n`);
    });
  }

  /** An error for everybody who needs a key after the file was deleted under a running server. */
  disappeared(): Error {
    return this.#file.unusable(
      "it disappeared while the server was running; restore it, or restart the server to run without keys",
    );
  }

  #parse(text: string): readonly ApiKey[] {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch (cause) {
      throw this.#file.unusable("it is not JSON", cause);
    }
    const parsed = fileSchema.safeParse(json);
    if (!parsed.success) {
      const { path = [], message = "" } = parsed.error.issues[0] ?? {};
      throw this.#file.unusable(`${path.length === 0 ? "it" : path.join(".")} ${message}`);
    }
    const { keys } = parsed.data;
    for (const field of ["id", "name", "sha256"] as const)
      if (new Set(keys.map((key) => key[field].toLowerCase())).size < keys.length)
        throw this.#file.unusable(`two keys have the same ${field}`);
    return keys;
  }
}
