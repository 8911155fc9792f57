import { DatabaseSync } from "node:sqlite";
import { type HeldRecord, idOf, plainText } from "./held-records.ts";

/** Searches the records of one corpus and returns ids, best first. */
export type Engine = (query: string, limit: number) => string[];

const k1 = 1.2;
const b = 0.75;

/** Textbook BM25. Terms are pairs of neighbouring Chinese characters, Latin words and numbers. */
export function bm25OfPairs(records: readonly HeldRecord[]): Engine {
  // For each token: position of a record, count of the token in it, position of the next record, and so on.
  const postings = new Map<string, number[]>();
  const lengths = records.map((record, place) => {
    const tokens = pairs(plainText(record));
    const counts = new Map<string, number>();
    for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
    for (const [token, count] of counts) {
      const posting = postings.get(token);
      if (posting === undefined) postings.set(token, [place, count]);
      else posting.push(place, count);
    }
    return tokens.length;
  });
  const mean = lengths.reduce((sum, length) => sum + length, 0) / records.length;
  return (query, limit) => {
    const scores = new Map<number, number>();
    for (const token of new Set(pairs(query))) {
      const posting = postings.get(token) ?? [];
      const frequency = posting.length / 2;
      const rarity = Math.log(1 + (records.length - frequency + 0.5) / (frequency + 0.5));
      for (let at = 0; at < posting.length; at += 2) {
        const place = posting[at] as number;
        const count = posting[at + 1] as number;
        const part = (count * (k1 + 1)) / (count + k1 * (1 - b + (b * (lengths[place] as number)) / mean));
        scores.set(place, (scores.get(place) ?? 0) + rarity * part);
      }
    }
    return [...scores]
      .sort(([one, high], [other, low]) => low - high || one - other)
      .slice(0, limit)
      .map(([place]) => idOf(records[place] as HeldRecord));
  };
}

function pairs(text: string): string[] {
  const runs = text
    .normalize("NFKC")
    .toLowerCase()
    .match(/\p{Script=Han}+|[\p{L}\p{N}]+?(?=\p{Script=Han}|[^\p{L}\p{N}]|$)/gu);
  return (runs ?? []).flatMap((run) => {
    if (!/^\p{Script=Han}{2}/u.test(run)) return [run];
    const characters = [...run];
    return characters.slice(1).map((character, place) => `${characters[place]}${character}`);
  });
}

/** SQLite's FTS5 with its trigram tokenizer and its bm25(). Any trigram of the question counts. */
export function fts5Trigram(records: readonly HeldRecord[]): Engine {
  const database = new DatabaseSync(":memory:");
  database.exec("create virtual table record using fts5 (text, content='', tokenize='trigram')");
  const add = database.prepare("insert into record (rowid, text) values (?, ?)");
  database.exec("begin");
  for (const [place, record] of records.entries()) add.run(place + 1, plainText(record));
  database.exec("commit");
  const ask = database.prepare("select rowid from record where record match ? order by rank limit ?");
  return (query, limit) => {
    const wanted = [...new Set(query.split(/\s+/).flatMap(trigrams))];
    if (wanted.length === 0) return [];
    const match = wanted.map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(" OR ");
    return ask.all(match, limit).map((row) => idOf(records[Number(row["rowid"]) - 1] as HeldRecord));
  };
}

function trigrams(word: string): string[] {
  const characters = [...word];
  return characters.slice(2).map((_, place) => characters.slice(place, place + 3).join(""));
}
