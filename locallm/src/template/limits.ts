/**
 * The limits of every template. A template comes with a model file, so it may be hostile. A real template
 * needs less than a hundredth of them for a long conversation. The thread that runs templates
 * (`templateBudget`) also limits time and memory.
 */
export const templateLimits = {
  sourceChars: 1 << 20,
  /** The number of evaluated nodes in one rendering. */
  steps: 3_000_000,
  /** The expanded size in characters of one value or of the output. It grows with what the client sent. */
  valueChars: 2 << 20,
  valueCharsPerInputChar: 4,
} as const;

/** A template exceeded a limit or is broken. Callers convert this to an error code. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

/** A template takes more time or memory than it may use. The message names the limit. */
export class TemplateOverBudget extends TemplateError {}

/**
 * The template itself rejects the conversation (`raise_exception`). The message is the template author's, for
 * the client.
 */
export class TemplateRefusal extends TemplateError {}
