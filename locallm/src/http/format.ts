import type { AnswerFormat } from "../dialogue/turn.ts";
import { LocallmError } from "../wire/errors.ts";

/** The native `format` field: `"json"`, a JSON schema, or nothing. */
export function answerFormat(format: unknown): AnswerFormat | null {
  if (format === undefined || format === null || format === "") return null;
  if (format === "json") return { kind: "json" };
  if (typeof format === "object" && !Array.isArray(format)) return { kind: "schema", schema: format };
  throw new LocallmError("invalid_format", { detail: "" });
}
