import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Database } from "../../src/database/database.ts";
import { sampleJudgment } from "../../src/sample/judgments/judgments.ts";
import { Analyser } from "../../src/search/analysis/analyser.ts";
import { judgmentDocument } from "../../src/search/corpora/judgments.ts";
import type { Question } from "./questions.ts";

/** The same tokens and the same questions without fields in another engine; it answers with the exact total. */
export interface OtherEngine {
  readonly name: string;
  ask(question: Question): Promise<number>;
  close(): Promise<void>;
}

const pageSize = 20;
const batch = 500;

/** PostgreSQL's own: a GIN index on a tsvector, ranked by ts_rank. */
export async function openGin(database: Database, count: number): Promise<OtherEngine> {
  const { pool } = database;
  const analyser = new Analyser();
  await pool.query("drop table if exists proof_gin");
  await pool.query("create unlogged table proof_gin (id int primary key, body text, words tsvector)");
  for (let from = 0; from < count; from += batch) {
    const rows = Array.from({ length: Math.min(batch, count - from) }, (_, i) => from + i);
    const read = rows.map((number) => tokensOf(analyser, number));
    await pool.query(
      `insert into proof_gin select id, body, array_to_tsvector(string_to_array(words, ' '))
         from unnest($1::int[], $2::text[], $3::text[]) as d(id, body, words)`,
      [rows, read.map(({ body }) => body), read.map(({ tokens }) => [...new Set(tokens)].join(" "))],
    );
  }
  await pool.query("create index on proof_gin using gin (words)");
  await pool.query("analyze proof_gin");
  return {
    name: "PostgreSQL GIN + ts_rank",
    async ask({ query, page }) {
      const words = analyser.queryTerms(plain(query)).map((word) => `'${word}'`);
      const found = await pool.query<{ total: number }>(
        `select body, count(*) over () as total from proof_gin, to_tsquery('simple', $1) q
          where words @@ q order by ts_rank(words, q) desc, id limit $2 offset $3`,
        [words.join(" & "), pageSize, (page - 1) * pageSize],
      );
      return found.rows[0]?.total ?? 0;
    },
    async close() {
      await pool.query("drop table proof_gin");
    },
  };
}

/** SQLite's FTS5 with positions, ranked by bm25(); in this process, as SQLite is used. */
export function openFts5(folder: string, count: number): OtherEngine {
  const path = join(folder, "proof-fts5.db");
  const database = new DatabaseSync(path);
  const analyser = new Analyser();
  database.exec(
    "pragma journal_mode = wal; pragma synchronous = off; create table doc (id integer primary key, body text)",
  );
  database.exec("create virtual table words using fts5 (tokens, content='', tokenize='unicode61')");
  const addBody = database.prepare("insert into doc values (?, ?)");
  const addWords = database.prepare("insert into words (rowid, tokens) values (?, ?)");
  database.exec("begin");
  for (let number = 0; number < count; number++) {
    const { tokens, body } = tokensOf(analyser, number);
    addBody.run(number + 1, body);
    addWords.run(number + 1, tokens.join(" "));
  }
  database.exec("commit");
  database.exec("insert into words (words) values ('optimize')");
  const total = database.prepare("select count(*) as total from words where words match ?");
  const ranked = database.prepare(
    `select d.body from (select rowid as id, rank from words where words match ? order by rank limit ? offset ?) w
       join doc d on d.id = w.id`,
  );
  return {
    name: "SQLite FTS5, bm25()",
    async ask({ query, page }) {
      const match = analyser.queryTerms(plain(query)).map((word) => `"${word}"`);
      const text = match.join(" AND ");
      ranked.all(text, pageSize, (page - 1) * pageSize);
      return Number(total.get(text)?.["total"] ?? 0);
    },
    async close() {
      database.close();
      rmSync(path, { force: true });
    },
  };
}

function tokensOf(analyser: Analyser, number: number): { tokens: string[]; body: string } {
  const { texts, body } = judgmentDocument({ ...sampleJudgment(number) });
  return { tokens: texts.flatMap(({ text }) => analyser.documentTerms(text)), body: JSON.stringify(body) };
}

/** Without its field: the other engines have none. */
function plain(query: string): string {
  return query.replace(/ (?:court|judge|basis|date):\S+/, "");
}
