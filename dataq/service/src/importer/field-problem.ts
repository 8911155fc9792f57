import { problemZh } from "@dataq/contract";
import type { z } from "zod";
import { type Message, say } from "./message.ts";

/** The first field of a row that is not as its schema wants it. */
export function fieldProblem({ issues: [issue] }: z.ZodError): Message {
  const field = issue?.path.join(".") || "the row";
  const zh = problemZh({ param: issue?.path.join(".") || "该行", code: issue?.code ?? "" });
  return say("row_field", { field, reason: { en: issue?.message ?? "", zh } });
}
