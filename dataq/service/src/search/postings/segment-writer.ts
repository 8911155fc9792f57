import type { ClientBase } from "pg";
import type { Analyser } from "../analysis/analyser.ts";
import type { IndexDocument } from "../search-index.ts";
import type { Position } from "./bodies.ts";
import { type AsOwner, attachOwnTables, makeOwnTables, ownTables } from "./own-tables.ts";
import { SegmentBuilder } from "./segment-builder.ts";

export interface WriterOptions {
  readonly client: ClientBase;
  readonly asOwner: AsOwner;
  readonly corpus: string;
  readonly dataset: string;
  readonly analyser: Analyser;
  readonly resumeKey: string | undefined;
  readonly sizes: BuildSizes;
}

export interface BuildSizes {
  /** Documents of a full segment. */
  readonly segment: number;
  /** A build that has more documents gets tables of its own. */
  readonly shared: number;
}

export const usualSizes: BuildSizes = { segment: 25_000, shared: 5_000 };

/**
 * Writes documents as segments of limited size, so that memory does not grow with an import. Nothing is visible
 * before a snapshot names it.
 */
export class SegmentWriter {
  readonly segments: number[] = [];
  readonly #options: WriterOptions;
  readonly #client: ClientBase;
  /** The first segment, which names the build's own tables; undefined while it shares one. */
  #own: number | undefined;
  #builder: SegmentBuilder | undefined;
  #pending: PendingDocument[] = [];
  #pendingBytes = 0;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#client = options.client;
  }

  /** The position of the document. */
  async add(document: IndexDocument): Promise<Position> {
    if (this.#builder === undefined) await this.#begin();
    const builder = this.#builder as SegmentBuilder;
    const place = { segment: this.#current(), ordinal: builder.documents };
    const { ordinal } = place;
    const body = builder.add(document);
    this.#pending.push({ id: document.id, ordinal, body });
    this.#pendingBytes += body.length;
    if (this.#own === undefined && this.segments.length === 1 && ordinal === this.#options.sizes.shared) {
      await makeOwnTables(this.#client, this.#options.asOwner, place.segment);
      this.#own = place.segment;
    }
    const isKnown = this.#own !== undefined || this.segments.length > 1;
    const isFull = this.#pendingBytes > batchBytes || this.#pending.length >= batchRows;
    // Until the tables are known, few documents wait.
    if (isFull && isKnown) await this.#writeDocuments();
    if (builder.documents === this.#options.sizes.segment) await this.#finishSegment();
    return place;
  }

  /** Writes what is still in memory. Afterwards a snapshot may name the segments. */
  async finish(): Promise<void> {
    await this.#finishSegment();
    if (this.#own !== undefined) await attachOwnTables(this.#options.asOwner, this.#own, this.segments);
  }

  async #finishSegment(): Promise<void> {
    if (this.#builder === undefined) return;
    await this.#writeDocuments();
    const segment = this.#builder.finish();
    this.#builder = undefined;
    const id = this.#current();
    let rows: PostingRow[] = [];
    let bytes = 0;
    for (const [termId, term] of segment.terms.entries()) {
      const block = segment.blocks[termId];
      if (block === undefined) continue;
      const places = segment.places[termId]?.bytes() ?? null;
      rows.push({ term, documents: block.documents, data: block.bytes(), places });
      bytes += block.bytes().length + (places?.length ?? 0) + term.length;
      if (bytes > batchBytes || rows.length === batchRows) {
        await this.#writePostings(id, rows);
        rows = [];
        bytes = 0;
      }
    }
    if (rows.length > 0) await this.#writePostings(id, rows);
    await this.#client.query(
      "update search_segment set documents = $2, tokens = $3, lengths = $4, dates = $5, is_ready = true where id = $1",
      [id, segment.documents, segment.tokens, bytesOf(segment.lengths), bytesOf(segment.dates)],
    );
  }

  async #begin(): Promise<void> {
    const { corpus, dataset, analyser, resumeKey } = this.#options;
    const made = await this.#client.query<{ id: number }>(
      `insert into search_segment (corpus, dataset, analysis, resume_key, own_tables)
       values ($1, $2, $3, $4, $5) returning id`,
      [corpus, dataset, analyser.version, resumeKey ?? null, this.#own ?? null],
    );
    this.segments.push((made.rows[0] as { id: number }).id);
    this.#builder = new SegmentBuilder(analyser);
  }

  #current(): number {
    return this.segments[this.segments.length - 1] as number;
  }

  async #writeDocuments(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    for (let from = 0; from < pending.length; from += batchRows)
      await this.#writeRows(pending.slice(from, from + batchRows));
  }

  async #writeRows(rows: readonly PendingDocument[]): Promise<void> {
    const table = this.#own === undefined ? "search_document" : ownTables(this.#own).documents;
    await this.#client.query(
      `insert into ${table} (segment, ordinal, id, body)
       select $1, ordinal, id, body from unnest($2::int[], $3::text[], $4::bytea[]) as d(ordinal, id, body)`,
      [
        this.#current(),
        rows.map(({ ordinal }) => ordinal),
        rows.map(({ id }) => id),
        rows.map(({ body }) => Buffer.from(body)),
      ],
    );
  }

  async #writePostings(segment: number, rows: readonly PostingRow[]): Promise<void> {
    const table = this.#own === undefined ? "search_posting" : ownTables(this.#own).postings;
    await this.#client.query(
      `insert into ${table} (term, segment, documents, data, places)
       select term, $1, documents, data, places
         from unnest($2::text[], $3::int[], $4::bytea[], $5::bytea[]) as p(term, documents, data, places)`,
      [
        segment,
        rows.map(({ term }) => term),
        rows.map(({ documents }) => documents),
        rows.map(({ data }) => Buffer.from(data)),
        rows.map(({ places }) => (places === null ? null : Buffer.from(places))),
      ],
    );
  }
}

interface PendingDocument {
  readonly id: string;
  readonly ordinal: number;
  readonly body: Uint8Array;
}

interface PostingRow {
  readonly term: string;
  readonly documents: number;
  readonly data: Uint8Array;
  readonly places: Uint8Array | null;
}

const batchBytes = 1 << 20;
const batchRows = 2_000;

function bytesOf(array: Uint32Array | Int32Array): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength);
}
