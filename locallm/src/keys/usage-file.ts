import { join } from "node:path";
import { z } from "zod";
import { PrivateFile } from "./private-file.ts";
import type { UsageRecord } from "./usage.ts";

const count = z.int().min(0);
const counts = z.strictObject({ requests: count, promptTokens: count, generatedTokens: count });
const fileSchema = z.strictObject({
  version: z.literal(1),
  usage: z.record(
    z.string(),
    z.strictObject({ day: z.iso.date(), today: counts, total: counts, lastUsed: z.number().nullable() }),
  ),
});
const limitBytes = 16 * 1024 * 1024;

/** `usage.json`: what each key has used, by the key's id. */
export class UsageFile {
  readonly #file: PrivateFile;

  constructor(folder: string) {
    this.#file = new PrivateFile(join(folder, "usage.json"), limitBytes);
  }

  /** Throws `keys_unusable` for a damaged file: without the counts, every key would get its tokens again. */
  async read(): Promise<ReadonlyMap<string, UsageRecord>> {
    const text = await this.#file.read();
    if (text === null) return new Map();
    try {
      return new Map(Object.entries(fileSchema.parse(JSON.parse(text)).usage));
    } catch (cause) {
      throw this.#file.unusable("it is damaged; delete it to start counting at 0", cause);
    }
  }

  async write(usage: ReadonlyMap<string, UsageRecord>): Promise<void> {
    await this.#file.write(`${JSON.stringify({ version: 1, usage: Object.fromEntries(usage) })}\n`);
  }
}
