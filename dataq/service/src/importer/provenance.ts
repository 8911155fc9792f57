import { createHash } from "node:crypto";
import type { Provenance, SourceKind } from "@dataq/contract";

/** What an operator says of the records of an import. */
export interface PublisherTerms {
  /** Publisher; the file's name where it is null. */
  readonly source: string | null;
  readonly kind: Exclude<SourceKind, "sample">;
  /** The file's own where it is null. */
  readonly licence: string | null;
}

export function publicationOf(file: PublishedFile, terms: PublisherTerms, retrievedAt: Date): Publication {
  return {
    name: terms.source ?? file.name,
    kind: terms.kind,
    url: file.url,
    licence: terms.licence ?? file.licence,
    retrievedAt,
  };
}

interface PublishedFile {
  readonly name: string;
  readonly url: string | null;
  readonly licence: string | null;
}

/** What all records of one import have in common. */
export interface Publication {
  readonly name: string;
  readonly kind: Exclude<SourceKind, "sample">;
  readonly url: string | null;
  readonly licence: string | null;
  readonly retrievedAt: Date;
}

/** `content` is what the digest is made of: the record as imported. */
export function provenanceOf(publication: Publication, content: unknown, documentId?: string): Provenance {
  return {
    name: publication.name,
    kind: publication.kind,
    ...(publication.url !== null && { url: publication.url }),
    ...(documentId !== undefined && { document_id: documentId }),
    retrieved_at: chinaInstant(publication.retrievedAt),
    ...(publication.licence !== null && { licence: publication.licence }),
    content_sha256: createHash("sha256").update(canonicalJson(content)).digest("hex"),
  };
}

/** The source of a part of a record, such as an article of a law's version. */
export function sourceOfPart(source: Provenance, content: unknown, documentId: string): Provenance {
  return {
    ...source,
    document_id: documentId,
    content_sha256: createHash("sha256").update(canonicalJson(content)).digest("hex"),
  };
}

/** JSON with keys in order, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${canonicalJson(inner)}`).join(",")}}`;
}

/** RFC 3339 in China's time. */
function chinaInstant(at: Date): string {
  return `${new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 19)}+08:00`;
}
