import type { ClientBase } from "pg";
import type { Analyser } from "../../analysis/analyser.ts";
import type { IndexDocument } from "../../search-index.ts";
import type { Position } from "../../snapshots/bodies.ts";
import type { Building, Writer } from "../../snapshots/build.ts";
import { attachOwnTables, makeOwnTables, ownTables } from "../../snapshots/own-tables.ts";
import type { PlainDocument } from "./part-builder.ts";
import { type CutOptions, PartThreads, usualCut } from "./part-threads.ts";
import { SegmentBuilder } from "./segment-builder.ts";

export interface SizedBuilding extends Building {
  readonly sizes: BuildSizes;
}

export interface WriterOptions extends SizedBuilding {
  readonly dataset: string;
  readonly analyser: Analyser;
  readonly resumeKey: string | undefined;
}

export interface BuildSizes {
  /** Documents of a full segment. */
  readonly segment: number;
  /** A build that has more documents gets tables of its own. */
  readonly shared: number;
  readonly cut: CutOptions;
}

export const usualSizes: BuildSizes = { segment: 25_000, shared: 5_000, cut: usualCut };

/**
 * Writes documents as segments of limited size, so that memory does not grow with an import. Nothing is visible
 * before a snapshot names it.
 */
export class SegmentWriter implements Writer {
  readonly segments: number[] = [];
  readonly #options: WriterOptions;
  readonly #client: ClientBase;
  /** The first segment, which names the build's own tables; undefined while it shares one. */
  #own: number | undefined;
  /** Documents of the current segment; undefined before it begins. */
  #documents: number | undefined;
  /** The documents of the next part. */
  #ids: string[] = [];
  #plain: PlainDocument[] = [];
  #characters = 0;
  readonly #threads: PartThreads;
  /** Parts that are being cut or wait to be written, oldest first. */
  readonly #parts: Promise<void>[] = [];
  /** Everything that was begun, in order: parts are joined and written one after the other. */
  #written: Promise<void> = Promise.resolve();
  #builder = new SegmentBuilder();
  #pending: PendingDocument[] = [];
  #pendingBytes = 0;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#threads = new PartThreads(options.analyser, options.sizes.cut);
  }

  async add(document: IndexDocument): Promise<Position> {
    this.#documents ??= await this.#begin();
    const place = { segment: this.#current(), ordinal: this.#documents++ };
    if (
      this.#own === undefined &&
      this.segments.length === 1 &&
      place.ordinal === this.#options.sizes.shared
    ) {
      await makeOwnTables(this.#client, this.#options.asOwner, place.segment);
      this.#own = place.segment;
    }
    const { id, texts, terms, date, body } = document;
    this.#ids.push(id);
    this.#plain.push({ texts, terms, date, json: JSON.stringify(body) });
    this.#characters += texts.reduce((sum, { text }) => sum + text.length, 0);
    if (this.#plain.length >= this.#threads.partSize || this.#characters >= partCharacters)
      await this.#cutPart();
    if (this.#documents === this.#options.sizes.segment) await this.#endSegment();
    return place;
  }

  async finish(): Promise<void> {
    if (this.#documents !== undefined) await this.#endSegment();
    await this.#written;
    await this.close();
    if (this.#own !== undefined) await attachOwnTables(this.#options.asOwner, this.#own, this.segments);
  }

  async close(): Promise<void> {
    await this.#threads.close();
    await this.#written.catch(() => {});
  }

  /** Has the next part split. Waits if too many parts are not written yet, so that they do not fill the memory. */
  async #cutPart(): Promise<void> {
    const ids = this.#ids;
    const first = (this.#documents as number) - ids.length;
    const segment = this.#current();
    const cut = this.#threads.build(this.#plain);
    this.#ids = [];
    this.#plain = [];
    this.#characters = 0;
    this.#parts.push(
      this.#then(async () => {
        const part = await cut;
        this.#builder.add(part);
        let from = 0;
        for (const [at, end] of part.bodyEnds.entries()) {
          const body = part.bodies.subarray(from, end);
          this.#pending.push({ id: ids[at] as string, ordinal: first + at, body });
          from = end;
        }
        this.#pendingBytes += part.bodies.length;
        const isKnown = this.#own !== undefined || this.segments.length > 1;
        const isFull = this.#pendingBytes > batchBytes || this.#pending.length >= batchRows;
        // Until the tables are known, few documents wait.
        if (isFull && isKnown) await this.#writeDocuments(segment);
      }),
    );
    cut.catch(() => {});
    while (this.#parts.length >= this.#threads.mostParts) await this.#parts.shift();
  }

  /** The next segment may begin while this one is written. */
  async #endSegment(): Promise<void> {
    if (this.#plain.length > 0) await this.#cutPart();
    const segment = this.#current();
    this.#documents = undefined;
    const written = this.#then(() => this.#writeSegment(segment));
    // Only one full segment waits in memory beside the next one.
    this.#parts.push(written);
  }

  /** Runs after everything that was begun before. An error ends the build at its next step. */
  #then(run: () => Promise<void>): Promise<void> {
    this.#written = this.#written.then(run);
    this.#written.catch(() => {});
    return this.#written;
  }

  async #writeSegment(id: number): Promise<void> {
    await this.#writeDocuments(id);
    const segment = this.#builder.finish();
    this.#builder = new SegmentBuilder();
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

  /** Begins a segment, without documents. */
  async #begin(): Promise<number> {
    const { corpus, dataset, analyser, resumeKey } = this.#options;
    const made = await this.#client.query<{ id: number }>(
      `insert into search_segment (corpus, dataset, analysis, resume_key, own_tables)
       values ($1, $2, $3, $4, $5) returning id`,
      [corpus, dataset, analyser.version, resumeKey ?? null, this.#own ?? null],
    );
    this.segments.push((made.rows[0] as { id: number }).id);
    return 0;
  }

  #current(): number {
    return this.segments[this.segments.length - 1] as number;
  }

  async #writeDocuments(segment: number): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    for (let from = 0; from < pending.length; from += batchRows)
      await this.#writeRows(segment, pending.slice(from, from + batchRows));
  }

  async #writeRows(segment: number, rows: readonly PendingDocument[]): Promise<void> {
    const table = this.#own === undefined ? "search_document" : ownTables(this.#own).documents;
    await this.#client.query(
      `insert into ${table} (segment, ordinal, id, body)
       select $1, ordinal, id, body from unnest($2::int[], $3::text[], $4::bytea[]) as d(ordinal, id, body)`,
      [
        segment,
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
const partCharacters = 4 << 20;

function bytesOf(array: Uint32Array | Int32Array): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength);
}
