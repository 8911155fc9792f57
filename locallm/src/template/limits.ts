/**
 * Limits of every template, whoever wrote it: a template comes with a model file, so it may be hostile.
 * A real template needs less than a hundredth of them for a long conversation. Time and memory are limited besides,
 * by the thread that runs templates (`templateBudget`).
 */
export const templateLimits = {
  sourceChars: 1 << 20,
  /** Evaluated nodes of one rendering. */
  steps: 3_000_000,
  /** Expanded size of one value or of the output, in characters; grows with what the client sent. */
  valueChars: 2 << 20,
  valueCharsPerInputChar: 4,
} as const;

/** What a template asked for is over a limit, or the template is broken. Callers turn it into an error code. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

/** Running it takes more time or memory than a template gets. The message names the limit. */
export class TemplateOverBudget extends TemplateError {}

/** The template itself refuses the conversation (`raise_exception`): its author's words, for the client. */
export class TemplateRefusal extends TemplateError {}
