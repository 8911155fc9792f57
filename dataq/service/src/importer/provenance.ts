import { createHash } from "node:crypto";
import { chinaInstant, type Provenance, type SourceKind } from "@dataq/contract";
import { beginningOf, type Publisher, publisherOfRow, together } from "./publisher.ts";

/** What the operator states about the records of an import. */
export interface PublisherTerms {
  /** Publisher. If null, the rows or the origin name it. */
  readonly source: string | null;
  readonly kind: Exclude<SourceKind, "sample">;
  /** If null, the licence that came with the file is used. */
  readonly licence: string | null;
  /** Day on which the file was taken from its publisher. If null, the rows or the origin state it. */
  readonly retrieved: string | null;
}

/**
 * Who published a record, and when it was retrieved. The operator's statement comes first, then the row's own
 * (`own`), then the origin of the file. The name of a file is not a publisher. If the day is missing or in
 * the future, the time of the import is used.
 */
export function publicationOf(
  { publishers }: { readonly publishers: readonly Publisher[] },
  { source, kind, licence, retrieved }: PublisherTerms,
  importedAt: Date,
  own?: unknown,
): Publication {
  const known = publisherOfRow(own, publishers) ?? together(publishers);
  const { name, url } = source === null ? known : { name: source, url: null };
  const stated = retrieved === null ? known.retrievedAt : beginningOf(retrieved);
  const retrievedAt = stated !== null && stated <= importedAt ? stated : importedAt;
  return { name, url, kind, licence: licence ?? known.licence, retrievedAt };
}

/** What all records of one import have in common. */
export interface Publication {
  readonly name: string;
  readonly kind: Exclude<SourceKind, "sample">;
  readonly url: string | null;
  readonly licence: string | null;
  readonly retrievedAt: Date;
}

/** `content` is the record as imported; the digest is computed from it. */
export function provenanceOf(publication: Publication, content: unknown, documentId?: string): Provenance {
  return {
    name: publication.name,
    kind: publication.kind,
    ...(publication.url !== null && { url: publication.url }),
    ...(documentId !== undefined && { document_id: documentId }),
    retrieved_at: chinaInstant(publication.retrievedAt),
    ...(publication.licence !== null && { licence: publication.licence }),
    content_sha256: contentDigest(content),
  };
}

/** The digest that `content_sha256` states. */
export function contentDigest(content: unknown): string {
  return createHash("sha256").update(canonicalJson(content)).digest("hex");
}

/** The source of a part of a record, such as an article of a law's version. */
export function sourceOfPart(source: Provenance, content: unknown, documentId: string): Provenance {
  return {
    ...source,
    document_id: documentId,
    content_sha256: contentDigest(content),
  };
}

/** JSON with sorted keys, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${canonicalJson(inner)}`).join(",")}}`;
}
