import { z } from "zod";
import { meaning } from "./bilingual.ts";

export const sourceKinds = ["official", "licensed", "third_party", "sample"] as const;
export type SourceKind = (typeof sourceKinds)[number];

/** Where a record comes from, or what one of its publishers says of it. */
const publication = z.object({
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

/** A field of which publishers say different things. */
const difference = z.object({
  field: z.string(),
  values: z
    .array(
      z.object({
        publisher: z.string(),
        document_id: z
          .string()
          .optional()
          .meta(meaning({ en: "Publisher's ID", zh: "发布者给出的编号" })),
        value: z.unknown().meta(meaning({ en: "What this publisher says", zh: "该发布者给出的值" })),
      }),
    )
    .meta(
      meaning({
        en: "What each publisher says; the record has the first value",
        zh: "各发布者给出的值，记录采用第一个",
      }),
    ),
});
export type Difference = z.infer<typeof difference>;

/**
 * Where a record comes from. Generated records are always `sample`. What several publishers know of one thing is one
 * record: its `name` has all of them, and `publishers` each one's own record.
 */
const provenance = publication.extend({
  publishers: z
    .array(publication)
    .optional()
    .meta(
      meaning({
        en: "If several publishers know of it: each one's record",
        zh: "若有多个发布者收录：各自的记录",
      }),
    ),
  differences: z
    .array(difference)
    .optional()
    .meta(meaning({ en: "Fields of which the publishers differ", zh: "各发布者说法不同的字段" })),
});
export type Provenance = z.infer<typeof provenance>;

/** The schema of an operation's record: its own fields, an `id`, and where the record comes from. */
export function record<Fields extends z.ZodRawShape>(fields: Fields) {
  return z.object({ id: z.string(), ...fields, source: provenance });
}

/** Amounts are decimal strings, never floats. */
export const amount = z.string().regex(/^-?\d+(\.\d+)?$/);
export const date = z.iso.date();
