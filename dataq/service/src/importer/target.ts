import type { Fill, IndexDocument } from "../search/search-index.ts";
import type { Fold } from "./fold.ts";
import type { Message } from "./message.ts";
import type { LocalFile } from "./origin/local-file.ts";
import type { RunOptions } from "./runs.ts";

/** Something that can be imported: the records of an operation, or a table that helps to make them. */
export type Target = RowTarget | FileTarget;

interface AnyTarget {
  /** The name on the command line: an operation, or a table. */
  readonly name: string;
  readonly corpus: string;
  /** The record with its source, in the form that the index stores. */
  document(record: Stored): IndexDocument;
  /** Generated documents of the corpus that are removed as real ones are imported. */
  readonly fill?: Fill;
  /** Set if the served records are made from all data sets together. */
  readonly fold?: Fold;
  /** The corpus that serves the folded records; by default the corpus of the same name. */
  readonly servedIn?: string;
}

export interface RowTarget extends AnyTarget {
  /**
   * A row of the file as a record without `source`; the problem of the row; or null for a row of another target.
   */
  map(fields: Readonly<Record<string, unknown>>): Mapped;
  /** For records that are made from many rows: collects them first and returns the records at the end. */
  gather?(): Gatherer;
}

/** Reads its file as a whole. */
export interface FileTarget extends AnyTarget {
  read(file: LocalFile, told: RowListener, terms: RunOptions): AsyncIterable<Draft>;
}

/** Receives the rows of a file while it is read. */
export interface RowListener {
  row(fields: Readonly<Record<string, unknown>>): void;
  /** Rejects the last row. `row` names it, such as `line 3`. */
  bad(row: string, problem: Message): void;
  /** Counts the last row as one of another target. */
  passOver(): void;
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
