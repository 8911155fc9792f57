import type { z } from "zod";
import { type Found, jsonOf, refusalByStatus, type VendorAnswer, wrong } from "../adapter.ts";

/** What an answer holds, or what it means instead. */
export type Read<Value> = { readonly value: Value } | { readonly found: Found };

/** Reads an answer by a schema. A status that is not 2xx, and an answer in another form, say what they mean. */
export function readJson<Schema extends z.ZodType>(
  answer: VendorAnswer,
  schema: Schema,
): Read<z.output<Schema>> {
  const refused = refusalByStatus(answer);
  if (refused !== undefined) return { found: refused };
  const parsed = schema.safeParse(jsonOf(answer));
  return parsed.success ? { value: parsed.data } : { found: unreadable(parsed.error) };
}

/** The answer changed its shape; the message names the field. */
function unreadable({ issues: [issue] }: z.ZodError): Found {
  const place = issue?.path.join(".") || "the answer";
  return wrong(`${place} has an unknown form: ${issue?.message ?? ""}`, `${place} 的格式无法识别`);
}
