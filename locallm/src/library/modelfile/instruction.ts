/** One instruction of a Modelfile. Values are unquoted. */
export type Instruction =
  | { kind: TextKind; value: string }
  /** `line`: its line number in the Modelfile, for errors. */
  | { kind: "from"; value: string; line?: number }
  | { kind: "parameter"; name: string; value: string; line?: number }
  /** A setting of the addresses in the FROM lines directly above. A locallm extension. */
  | { kind: "remote"; name: string; value: string; line?: number }
  | { kind: "message"; role: MessageRole; value: string };

export type TextKind = (typeof textKinds)[number];
export type MessageRole = (typeof messageRoles)[number];

export const textKinds = [
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
 * Introduces a JSON string, for text that cannot be quoted because one of its lines ends with `"""`. A locallm
 * extension: Ollama cannot express such text.
 */
export const jsonMark = "\\json ";
