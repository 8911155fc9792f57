import type { Analyser } from "../analysis/analyser.ts";
import { dateNumber } from "../date-number.ts";
import type { IndexDocument } from "../search-index.ts";
import { type Position, packJson } from "../snapshots/bodies.ts";
import type { Building, Writer } from "../snapshots/build.ts";
import { type Connection, exists, mostTries, OpenSearchError } from "./connection.ts";
import { FieldMaker, mapping } from "./document-fields.ts";

/** What a build works with. */
export interface IndexBuilding extends Building {
  readonly connection: Connection;
  /** Names the database in the names of indices. */
  readonly databaseId: string;
  readonly sizes: WriteSizes;
}

/** Numbers of documents. */
export interface WriteSizes {
  /** Of an index. Larger ones are slower to build again, more of them are slower to search. */
  readonly index: number;
  /** Of a request. */
  readonly batch: number;
}

export const usualSizes: WriteSizes = { index: 250_000, batch: 2_000 };

export interface WriterOptions extends IndexBuilding {
  readonly dataset: string;
  readonly analyser: Analyser;
  readonly resumeKey: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** A segment that an interrupted refresh left. */
export interface LeftSegment {
  readonly id: number;
  readonly home: string;
  /** The documents that are in OpenSearch and in PostgreSQL. */
  readonly documents: number;
}

/**
 * Writes documents as segments: words to OpenSearch, bodies to PostgreSQL, in this order, so that a document in
 * PostgreSQL is whole. Waits for OpenSearch while it is busy. Nothing is visible before a snapshot names it.
 */
export class DocumentWriter implements Writer {
  readonly segments: number[] = [];
  readonly #options: WriterOptions;
  readonly #maker: FieldMaker;
  #segment: { readonly id: number; readonly home: string; documents: number } | undefined;
  #dates: number[] = [];
  #batch: PendingDocument[] = [];
  #batchBytes = 0;
  /** The batch that is being written, while the next one is analysed. */
  #writing: Promise<void> = Promise.resolve();

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#maker = new FieldMaker(options.analyser);
  }

  /** Continues a segment. Its documents must then be passed to `skip`. */
  continue({ id, home }: LeftSegment): void {
    this.segments.push(id);
    this.#segment = { id, home, documents: 0 };
  }

  /** A document that the segment already has. */
  skip({ date }: IndexDocument): void {
    const segment = this.#segment as { documents: number };
    segment.documents++;
    this.#dates.push(dateNumber(date));
  }

  async add(document: IndexDocument): Promise<Position> {
    this.#segment ??= await this.#begin();
    const { id: segment } = this.#segment;
    const ordinal = this.#segment.documents++;
    const fields = this.#maker.fieldsOf(document);
    this.#dates.push(fields.date);
    const action = JSON.stringify({ index: { _id: `${segment}.${ordinal}` } });
    const lines = `${action}\n${JSON.stringify({ ...fields, segment, ordinal })}\n`;
    this.#batch.push({ id: document.id, ordinal, body: packJson(JSON.stringify(document.body)), lines });
    this.#batchBytes += lines.length;
    if (this.#batchBytes >= batchBytes || this.#batch.length === this.#options.sizes.batch)
      await this.#flush();
    if (this.#segment.documents === this.#options.sizes.index) await this.finish();
    return { segment, ordinal };
  }

  async finish(): Promise<void> {
    const segment = this.#segment;
    if (segment === undefined) return;
    await this.#flush();
    await this.#writing;
    const { client, connection, signal } = this.#options;
    const ask = <Answer>(method: "GET" | "POST" | "PUT", path: string, body?: object) =>
      connection.askWithRetries<Answer>({
        method,
        path: `/${segment.home}/${path}`,
        limitMs: mergeMs,
        signal,
        ...(body && { body }),
      });
    // One part is faster to search than many. Searches see it only after a refresh.
    await ask("POST", "_forcemerge?max_num_segments=1");
    await ask("POST", "_refresh");
    const { count } = await ask<{ readonly count?: number }>("GET", "_count");
    if (count !== segment.documents) {
      // If an index was deleted meanwhile, OpenSearch makes it again with the next documents.
      await client.query("update search_segment set resume_key = null where id = $1", [segment.id]);
      throw new Error(
        `OpenSearch lost documents of ${segment.home}: it has ${count} of ${segment.documents}. Run the refresh again.`,
      );
    }
    await ask("PUT", "_settings", { index: { auto_expand_replicas: "0-1" } });
    await client.query(
      "update search_segment set documents = $2, dates = $3, is_ready = true where id = $1",
      [segment.id, segment.documents, Buffer.from(Int32Array.from(this.#dates).buffer)],
    );
    this.#segment = undefined;
    this.#dates = [];
  }

  async close(): Promise<void> {
    await this.#writing.catch(() => {});
  }

  async #begin(): Promise<{ id: number; home: string; documents: number }> {
    const { client, connection, corpus, dataset, analyser, resumeKey, databaseId, signal } = this.#options;
    // The row comes first: an index without a row is abandoned, and removed by the next sweep.
    const made = await client.query<{ id: number; home: string }>(
      `insert into search_segment (corpus, dataset, analysis, resume_key, home)
       values ($1, $2, $3, $4, $5) returning id`,
      [corpus, dataset, analyser.version, resumeKey ?? null, ""],
    );
    const { id } = made.rows[0] as { id: number };
    const home = `${connection.prefix}-${databaseId}-${id}`;
    await client.query("update search_segment set home = $2 where id = $1", [id, home]);
    const making = connection.askWithRetries({
      method: "PUT",
      path: `/${home}`,
      body: {
        settings: {
          number_of_shards: 1,
          // A replica would write everything again. It copies the complete index instead.
          number_of_replicas: 0,
          refresh_interval: -1,
          max_result_window: deepestPage,
        },
        mappings: { ...mapping, _meta: { corpus, dataset, analysis: analyser.version } },
      },
      limitMs: slowMs,
      signal,
    });
    await making.catch(async (error: unknown) => {
      // If an answer was lost, the index is there when it is asked for again.
      const isThere = error instanceof OpenSearchError && error.status === 400;
      if (!isThere || !(await exists(connection, home))) throw error;
    });
    this.segments.push(id);
    return { id, home, documents: 0 };
  }

  async #flush(): Promise<void> {
    const batch = this.#batch;
    if (batch.length === 0) return;
    this.#batch = [];
    this.#batchBytes = 0;
    await this.#writing;
    const { id, home } = this.#segment as { id: number; home: string };
    const writing = this.#write(id, home, batch);
    // An error is thrown where the next batch waits for this one.
    writing.catch(() => {});
    this.#writing = writing;
  }

  async #write(segment: number, home: string, batch: readonly PendingDocument[]): Promise<void> {
    await this.#bulk(
      home,
      batch.map(({ lines }) => lines),
    );
    await this.#options.client.query(
      `insert into search_document (segment, ordinal, id, body)
       select $1, ordinal, id, body from unnest($2::int[], $3::text[], $4::bytea[]) as d(ordinal, id, body)`,
      [
        segment,
        batch.map(({ ordinal }) => ordinal),
        batch.map(({ id }) => id),
        batch.map(({ body }) => Buffer.from(body)),
      ],
    );
  }

  /** Repeats only the documents that OpenSearch had no room for. */
  async #bulk(home: string, all: readonly string[]): Promise<void> {
    const { connection, signal } = this.#options;
    let left = all;
    for (let tries = 1; ; tries++) {
      const answer = await connection.askWithRetries<BulkAnswer>({
        method: "POST",
        path: `/${home}/_bulk?filter_path=errors,items.*.status,items.*.error`,
        body: left.join(""),
        limitMs: slowMs,
        signal,
      });
      if (answer.errors === false) return;
      if (answer.items?.length !== left.length)
        throw new OpenSearchError(0, "OpenSearch did not answer for each document.");
      const results = answer.items.map(({ index }) => index);
      const bad = results.find(({ status }) => status >= 300 && status !== 429 && status !== 503);
      if (bad !== undefined)
        throw new OpenSearchError(bad.status, `OpenSearch refused a document: ${reasonOf(bad)}`);
      left = left.filter((_, place) => (results[place]?.status ?? 0) >= 300);
      if (left.length === 0) return;
      if (tries === mostTries) {
        const late = results.find(({ status }) => status >= 300) as BulkResult;
        throw new OpenSearchError(late.status, `OpenSearch accepts no documents: ${reasonOf(late)}`);
      }
      await connection.pause(tries, signal);
    }
  }
}

interface PendingDocument {
  readonly id: string;
  readonly ordinal: number;
  readonly body: Uint8Array;
  /** For OpenSearch. */
  readonly lines: string;
}

interface BulkAnswer {
  readonly errors?: boolean;
  readonly items?: readonly { readonly index: BulkResult }[];
}

interface BulkResult {
  readonly status: number;
  readonly error?: { readonly type: string; readonly reason: string };
}

function reasonOf({ status, error }: BulkResult): string {
  return error === undefined ? `status ${status}` : `${error.type}, ${error.reason}`;
}

const batchBytes = 4 << 20;
const slowMs = 120_000;
/** A merge goes on when nobody waits for it; asking again waits for the same one. */
const mergeMs = 600_000;
/** Far more than the API allows. For a deeper page, OpenSearch would keep as many documents in memory. */
const deepestPage = 1_000_000;
