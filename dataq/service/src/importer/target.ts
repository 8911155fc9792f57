import type { Fill, IndexDocument } from "../search/search-index.ts";
import type { Message } from "./message.ts";

/** Something that can be imported: an operation's records, or what helps the others, such as the lexicon. */
export interface Target {
  /** As on the command line: an operation, or `lexicon`. */
  readonly name: string;
  readonly corpus: string;
  /** A row of the file as a record without `source`; what is wrong with it; or null for a row of another target. */
  map(fields: Readonly<Record<string, unknown>>): Mapped;
  /** The record with its source as the index keeps it. */
  document(record: Stored): IndexDocument;
  /** For records that are made from many rows: gathers first, gives the records at the end. */
  gather?(): Gatherer;
  /** Generated documents of the corpus that make way when real ones come. */
  readonly fill?: Fill;
}

export type Mapped = { readonly record: Draft } | { readonly problem: Message } | null;

/** A record without its source. */
export interface Draft {
  readonly id: string;
  readonly [field: string]: unknown;
}

export type Stored = Draft & { readonly source: object };

export interface Gatherer {
  add(record: Draft): void;
  records(): Iterable<Draft>;
}
