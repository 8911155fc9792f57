/** A schema that is invalid, too large, or that no value satisfies. The message names the place. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";

  /** With `isWhole`, `problem` already contains its place. */
  constructor(path: string, problem: string, isWhole = false) {
    super(isWhole ? problem : `${path === "" ? "the schema" : path.slice(0, 200)} ${problem}`);
  }
}

/** The limits are documented in docs/locallm/limits.md. */
export const schemaLimits = {
  textChars: 256 * 1024,
  /** Nested schemas, including followed references. */
  depth: 200,
  rules: 50_000,
  grammarChars: 1 << 20,
  repetitions: 2000,
  /**
   * The number of ways to satisfy one schema: the branches of all its choices, multiplied if they are
   * combined.
   */
  alternatives: 4000,
} as const;
