import { createHash } from "node:crypto";
import type { Provenance } from "@dataq/contract";

/** Gives a generated record its `source`: kind `sample`, and never anything else. */
export function asSample<Fields extends { readonly id: string }>(
  fields: Fields,
): Fields & { source: Provenance } {
  const source: Provenance = {
    name: "dataq sample generator",
    kind: "sample",
    document_id: fields.id,
    retrieved_at: "2026-01-01T00:00:00+08:00",
    licence: "MIT",
    content_sha256: createHash("sha256").update(JSON.stringify(fields)).digest("hex"),
  };
  return { ...fields, source };
}
