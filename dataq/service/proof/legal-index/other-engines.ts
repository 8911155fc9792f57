import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import type { Database } from "../../src/database/database.ts";
import { type JudgmentRecord, judgmentDocument } from "../../src/operations/legal/cases/corpus.ts";
import { Analyser, runs } from "../../src/search/analysis/analyser.ts";
import type { Question } from "./questions.ts";

/**
 * Another engine with the same tokens. It answers the same questions without fields and also returns the
 * exact total.
 */
export interface OtherEngine {
  readonly name: string;
  ask(question: Question): Promise<number>;
  close(): Promise<void>;
}

const pageSize = 20;
const batch = 500;

interface Filling extends OtherEngine {
  add(rows: readonly Row[]): Promise<void>;
  finish(): Promise<void>;
}

interface Row {
  readonly id: number;
  readonly body: Uint8Array;
  readonly tokens: readonly string[];
}

/**
 * Adds every judgment to both engines. They work in their own processes, so both are filled at the same time.
 */
export async function openOthers(
  database: Database,
  folder: string,
  judgments: AsyncIterable<object>,
): Promise<OtherEngine[]> {
  const gin = await openGin(database);
  const fts5 = openFts5(folder);
  const tokensOf = tokenReader();
  const addAll = (rows: readonly Row[]) => Promise.all([gin.add(rows), fts5.add(rows)]);
  let rows: Row[] = [];
  let id = 0;
  let adding: Promise<unknown> = Promise.resolve();
  for await (const judgment of judgments) {
    const { texts, body } = judgmentDocument(judgment as JudgmentRecord);
    const tokens = texts.flatMap(({ text }) => tokensOf(text));
    rows.push({ id: ++id, body: zstdCompressSync(JSON.stringify(body)), tokens });
    if (rows.length < batch) continue;
    await adding;
    adding = addAll(rows);
    rows = [];
  }
  await adding;
  await addAll(rows);
  await Promise.all([gin.finish(), fts5.finish()]);
  return [gin, fts5];
}

/** PostgreSQL's full-text search: a GIN index on a tsvector, ranked by ts_rank. */
async function openGin(database: Database): Promise<Filling> {
  // The service's role may not create tables.
  const client = await database.connectAsOwner();
  const analyser = new Analyser();
  await client.query("drop table if exists proof_gin");
  await client.query(
    "create unlogged table proof_gin (id int primary key, body bytea not null, words tsvector not null)",
  );
  await client.query("alter table proof_gin alter column body set storage external");
  return {
    name: "PostgreSQL GIN + ts_rank",
    async add(rows) {
      await client.query(
        `insert into proof_gin select id, body, array_to_tsvector(string_to_array(words, ' '))
           from unnest($1::int[], $2::bytea[], $3::text[]) as d(id, body, words)`,
        [
          rows.map(({ id }) => id),
          rows.map(({ body }) => body),
          rows.map(({ tokens }) => [...new Set(tokens)].join(" ")),
        ],
      );
    },
    async finish() {
      await client.query("set maintenance_work_mem = '512MB'");
      await client.query("create index on proof_gin using gin (words)");
      await client.query("vacuum analyze proof_gin");
    },
    async ask({ query, page }) {
      const words = analyser.queryTerms(plain(query)).map((word) => `'${word}'`);
      const found = await client.query<{ total: number }>(
        `select body, total from (
           select id, count(*) over () as total from proof_gin, to_tsquery('simple', $1) q
            where words @@ q order by ts_rank(words, q) desc, id limit $2 offset $3
         ) w join proof_gin using (id)`,
        [words.join(" & "), pageSize, (page - 1) * pageSize],
      );
      if (found.rows[0] !== undefined || page === 1) return found.rows[0]?.total ?? 0;
      // After the last page there is no row with the total.
      const counted = await client.query<{ total: number }>(
        "select count(*) as total from proof_gin where words @@ to_tsquery('simple', $1)",
        [words.join(" & ")],
      );
      return counted.rows[0]?.total ?? 0;
    },
    async close() {
      await client.query("drop table proof_gin");
      await client.end();
    },
  };
}

/** SQLite's FTS5 with positions, ranked by bm25(). It runs in this process, as usual for SQLite. */
function openFts5(folder: string): Filling {
  const path = join(folder, "proof-fts5.db");
  rmSync(path, { force: true });
  const database = new DatabaseSync(path);
  const analyser = new Analyser();
  database.exec(
    "pragma journal_mode = wal; pragma synchronous = off; create table doc (id integer primary key, body blob)",
  );
  database.exec("create virtual table words using fts5 (tokens, content='', tokenize='unicode61')");
  const addBody = database.prepare("insert into doc values (?, ?)");
  const addWords = database.prepare("insert into words (rowid, tokens) values (?, ?)");
  const total = database.prepare("select count(*) as total from words where words match ?");
  const ranked = database.prepare(
    `select d.body from (select rowid as id, rank from words where words match ? order by rank limit ? offset ?) w
       join doc d on d.id = w.id`,
  );
  database.exec("begin");
  return {
    name: "SQLite FTS5, bm25()",
    async add(rows) {
      for (const { id, body, tokens } of rows) {
        addBody.run(id, body);
        addWords.run(id, tokens.join(" "));
      }
    },
    async finish() {
      database.exec("commit");
      database.exec("insert into words (words) values ('optimize')");
    },
    async ask({ query, page }) {
      const text = analyser
        .queryTerms(plain(query))
        .map((word) => `"${word}"`)
        .join(" AND ");
      ranked.all(text, pageSize, (page - 1) * pageSize);
      return Number(total.get(text)?.["total"] ?? 0);
    },
    async close() {
      database.close();
      rmSync(path, { force: true });
    },
  };
}

/** Splits text like the index. Equal runs are split once, because judgments repeat phrases. */
function tokenReader(): (text: string) => string[] {
  const analyser = new Analyser();
  const known = new Map<string, string[]>();
  return (text) =>
    runs(text).flatMap((run) => {
      let terms = known.get(run);
      if (terms === undefined) {
        terms = analyser.runTerms(run);
        if (known.size < 300_000) known.set(run, terms);
      }
      return terms;
    });
}

/** The query without its field, because the other engines do not have fields. */
export function plain(query: string): string {
  return query.replace(/ (?:court|judge|basis|date):\S+/, "");
}
