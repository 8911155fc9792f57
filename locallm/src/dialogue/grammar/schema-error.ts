/** A schema that cannot be turned into a grammar; the message names the place and the word. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";

  constructor(path: readonly string[], problem: string) {
    const place = path.length === 0 ? "the schema" : path.slice(0, 12).join(".").slice(0, 200);
    super(`${place} ${problem}`);
  }
}

export const schemaLimits = {
  textChars: 256 * 1024,
  depth: 64,
  rules: 20_000,
  grammarChars: 2 << 20,
  /** The engine's own bound on repetitions is 2000. */
  repetitions: 1000,
} as const;
