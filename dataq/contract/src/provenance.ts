import { z } from "zod";
import { meaning } from "./bilingual.ts";

export const sourceKinds = ["official", "licensed", "third_party", "sample"] as const;
export type SourceKind = (typeof sourceKinds)[number];

/** Where a record comes from. Generated records are always `sample`. */
const provenance = z.object({
  name: z.string().meta(meaning({ en: "Publisher of the record", zh: "记录的发布者" })),
  kind: z.enum(sourceKinds),
  url: z.string().optional(),
  document_id: z.string().optional(),
  published_at: z.string().optional(),
  retrieved_at: z
    .string()
    .meta(meaning({ en: "Retrieval time, RFC 3339 with +08:00", zh: "取得时间：RFC 3339，东八区" })),
  licence: z.string().optional(),
  content_sha256: z.string().meta(
    meaning({
      en: "SHA-256 of the other fields of the record as canonical JSON",
      zh: "记录其余字段的规范 JSON 的 SHA-256",
    }),
  ),
});
export type Provenance = z.infer<typeof provenance>;

/** The schema of an operation's record: its own fields, an `id`, and where the record comes from. */
export function record<Fields extends z.ZodRawShape>(fields: Fields) {
  return z.object({ id: z.string(), ...fields, source: provenance });
}

/** Amounts are decimal strings, never floats. */
export const amount = z.string().regex(/^-?\d+(\.\d+)?$/);
export const date = z.iso.date();
