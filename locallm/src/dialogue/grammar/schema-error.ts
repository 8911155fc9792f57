/** A schema that nothing satisfies, that is wrong itself, or that is too large; the message names the place. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";

  /** With `isWhole`, the problem names its place itself. */
  constructor(path: string, problem: string, isWhole = false) {
    super(isWhole ? problem : `${path === "" ? "the schema" : path.slice(0, 200)} ${problem}`);
  }
}

/** Documented in docs/locallm/limits.md. */
export const schemaLimits = {
  textChars: 256 * 1024,
  /** Of schemas within schemas, references followed. */
  depth: 200,
  rules: 50_000,
  grammarChars: 1 << 20,
  repetitions: 2000,
  /** Ways to satisfy one schema: the branches of its choices, multiplied where they combine. */
  alternatives: 4000,
} as const;
