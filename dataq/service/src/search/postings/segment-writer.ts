import type { ClientBase } from "pg";
import type { Analyser } from "../analysis/analyser.ts";
import type { IndexDocument } from "../search-index.ts";
import type { Position } from "./bodies.ts";
import { SegmentBuilder } from "./segment-builder.ts";

/**
 * Writes documents as segments of limited size, so that memory does not grow with an import. Nothing is visible
 * before a snapshot names it.
 */
export class SegmentWriter {
  readonly segments: number[] = [];
  readonly #client: ClientBase;
  readonly #corpus: string;
  readonly #dataset: string;
  readonly #analyser: Analyser;
  readonly #resumeKey: string | null;
  #builder: SegmentBuilder | undefined;
  #pending: { id: string; ordinal: number; body: Uint8Array }[] = [];
  #pendingBytes = 0;

  constructor(
    client: ClientBase,
    corpus: string,
    dataset: string,
    analyser: Analyser,
    resumeKey: string | undefined,
  ) {
    this.#client = client;
    this.#corpus = corpus;
    this.#dataset = dataset;
    this.#analyser = analyser;
    this.#resumeKey = resumeKey ?? null;
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
    if (this.#pendingBytes > batchBytes || this.#pending.length === batchRows) await this.#writeDocuments();
    if (builder.documents === mostDocuments) await this.finish();
    return place;
  }

  /** Writes what is still in memory. */
  async finish(): Promise<void> {
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
    const made = await this.#client.query<{ id: number }>(
      "insert into search_segment (corpus, dataset, analysis, resume_key) values ($1, $2, $3, $4) returning id",
      [this.#corpus, this.#dataset, this.#analyser.version, this.#resumeKey],
    );
    this.segments.push((made.rows[0] as { id: number }).id);
    this.#builder = new SegmentBuilder(this.#analyser);
  }

  #current(): number {
    return this.segments[this.segments.length - 1] as number;
  }

  async #writeDocuments(): Promise<void> {
    const rows = this.#pending;
    if (rows.length === 0) return;
    this.#pending = [];
    this.#pendingBytes = 0;
    await this.#client.query(
      `insert into search_document (segment, ordinal, id, body)
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
    await this.#client.query(
      `insert into search_posting (term, segment, documents, data, places)
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

interface PostingRow {
  readonly term: string;
  readonly documents: number;
  readonly data: Uint8Array;
  readonly places: Uint8Array | null;
}

const mostDocuments = 25_000;
const batchBytes = 1 << 20;
const batchRows = 2_000;

function bytesOf(array: Uint32Array | Int32Array): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength);
}
