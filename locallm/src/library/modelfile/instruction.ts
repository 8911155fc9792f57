/** One line of a Modelfile. Values are the plain text, without quotes. */
export type Instruction =
  | { kind: TextKind; value: string }
  /** `line` is where the Modelfile has it, for errors. */
  | { kind: "parameter"; name: string; value: string; line?: number }
  | { kind: "message"; role: MessageRole; value: string };

export type TextKind = (typeof textKinds)[number];
export type MessageRole = (typeof messageRoles)[number];

export const textKinds = [
  "from",
  "adapter",
  "draft",
  "template",
  "system",
  "license",
  "renderer",
  "parser",
  "requires",
] as const;

export const messageRoles = ["system", "user", "assistant"] as const;

/**
 * A text that quotes cannot hold (one of its lines ends with `"""`) is written as a JSON string behind this word.
 * Ours; Ollama has no way to write such a text.
 */
export const jsonMark = "\\json ";
