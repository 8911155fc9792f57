import { z } from "zod";

export const sourceKinds = ["official", "licensed", "third_party", "sample"] as const;
export type SourceKind = (typeof sourceKinds)[number];

/** Where a record comes from. Generated records are `sample` and never say anything else. */
const provenance = z.object({
  name: z.string().describe("Publisher of the record"),
  kind: z.enum(sourceKinds),
  url: z.string().optional(),
  document_id: z.string().optional(),
  published_at: z.string().optional(),
  retrieved_at: z.string().describe("RFC 3339, +08:00"),
  licence: z.string().optional(),
  content_sha256: z.string().describe("SHA-256 of the record's other fields as canonical JSON"),
});
export type Provenance = z.infer<typeof provenance>;

/** A record of an operation: its own fields, an `id`, and where it comes from. */
export function record<Fields extends z.ZodRawShape>(fields: Fields) {
  return z.object({ id: z.string(), ...fields, source: provenance });
}

/** Amounts are decimal strings, never floats. */
export const amount = z.string().regex(/^-?\d+(\.\d+)?$/);
export const date = z.iso.date();
