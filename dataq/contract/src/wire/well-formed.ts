import type { z } from "zod";

/** Text without lone surrogates. The database cannot store those and would replace them. */
export function wellFormed(text: z.ZodString) {
  return text.refine((sent) => sent.isWellFormed(), {
    error: "is not valid Unicode",
    params: { fix: "send well-formed text", fixZh: "请发送正确编码的文字" },
  });
}
