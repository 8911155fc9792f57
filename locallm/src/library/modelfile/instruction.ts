/** One line of a Modelfile. Values are the plain text, without quotes. */
export type Instruction =
  | { kind: TextKind; value: string }
  | { kind: "parameter"; name: string; value: string }
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
 * What quotes cannot hold (a line within the text that ends with `"""`) stands as a JSON string behind this word.
 * Ours; Ollama has no way to write such a text.
 */
export const jsonMark = "\\json ";
