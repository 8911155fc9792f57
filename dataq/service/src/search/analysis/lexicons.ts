import { createHash } from "node:crypto";
import type { Pool } from "pg";
import { Analyser, analysisRules, isAddable } from "./analyser.ts";

/** Of all databases of this process: the version names the words, and reading a dictionary takes a tenth of a second. */
const analysers = new Map<string, Promise<Analyser>>();

/**
 * Analysers by version. Imported words make a new version. A corpus keeps the version that its documents were split
 * with until it is rebuilt, and its queries use the same.
 */
export class Lexicons {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  analyser(version: string): Promise<Analyser> {
    const known = analysers.get(version);
    if (known !== undefined) return known;
    const made = this.#make(version);
    analysers.set(version, made);
    made.catch(() => analysers.delete(version));
    return made;
  }

  /** The analyser for new corpora. */
  async newestAnalyser(): Promise<Analyser> {
    return this.analyser(await this.newest());
  }

  /** The version for new corpora. */
  async newest(): Promise<string> {
    const found = await this.#pool.query<{ version: string }>(
      "select version from search_lexicon order by created_at desc limit 1",
    );
    return withRules(found.rows[0]?.version);
  }

  /** The words of the newest version. */
  async words(): Promise<readonly string[]> {
    return this.#words(await this.newest());
  }

  /** Makes these words the newest version. The same words always give the same version. */
  async set(words: readonly string[]): Promise<{ readonly version: string; readonly words: number }> {
    const all = [...new Set(words)].filter(isAddable).sort();
    const hash = createHash("sha256").update(all.join("\n")).digest("hex").slice(0, 12);
    const version = all.length === 0 ? analysisRules : `${analysisRules}+${hash}`;
    await this.#pool.query(
      `insert into search_lexicon (version, words, created_at) values ($1, $2, clock_timestamp())
       on conflict (version) do update set created_at = excluded.created_at`,
      [version, all],
    );
    return { version, words: all.length };
  }

  async #make(version: string): Promise<Analyser> {
    return Analyser.load(version, await this.#words(version));
  }

  async #words(version: string): Promise<string[]> {
    const [, hash] = version.split("+");
    if (hash === undefined) return [];
    const found = await this.#pool.query<{ words: string[] }>(
      "select words from search_lexicon where split_part(version, '+', 2) = $1",
      [hash],
    );
    const row = found.rows[0];
    if (row === undefined) throw new Error(`The index uses the lexicon ${version}, which is not stored.`);
    return row.words;
  }
}

/** A dictionary that was imported under older rules is used with the current ones. */
function withRules(version = analysisRules): string {
  const [, hash] = version.split("+");
  return hash === undefined ? analysisRules : `${analysisRules}+${hash}`;
}
