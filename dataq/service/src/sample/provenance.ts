import { createHash } from "node:crypto";
import { instantInChina, type Provenance } from "@dataq/contract";

/** Gives a generated record its `source`, always of kind `sample`. */
export function asSample<Fields extends { readonly id: string }>(
  fields: Fields,
): Fields & { source: Provenance } {
  const source: Provenance = {
    name: "dataq sample generator",
    kind: "sample",
    document_id: fields.id,
    retrieved_at: instantInChina("2026-01-01", "00:00:00"),
    licence: "MIT",
    content_sha256: createHash("sha256").update(JSON.stringify(fields)).digest("hex"),
  };
  return { ...fields, source };
}
