import type { Database } from "../database/database.ts";
import { lock } from "../database/locks.ts";
import type { PostingIndex } from "../search/postings/posting-index.ts";
import type { Message } from "./message.ts";

/** Makes what serves from the records of all data sets together: an article of law from every pack's versions. */
export interface Fold {
  readonly name: string;
  /** Where the packs' records are kept. */
  readonly corpora: readonly string[];
  /**
   * `isFirst`: nothing was folded with this version's packs before. Returns what the operator should know of, such as
   * what is held back.
   */
  run(index: PostingIndex, options: FoldOptions & { readonly isFirst: boolean }): Promise<readonly Message[]>;
}

export interface FoldOptions {
  readonly signal?: AbortSignal;
  readonly progress?: (message: Message) => void;
}

/**
 * Folds where the packs are not those that were folded last, also after a process that was killed in between. Does
 * nothing otherwise.
 */
export async function foldChanged(
  database: Database,
  index: PostingIndex,
  fold: Fold,
  options: FoldOptions = {},
): Promise<readonly Message[]> {
  const turn = await database.connect();
  try {
    await lock(turn, "corpus", `fold ${fold.name}`);
    const { madeFrom, last } = await stateOf(database, fold);
    if (madeFrom === (last ?? "")) return [];
    for (const corpus of fold.corpora) index.forget(corpus);
    const notes = await fold.run(index, { ...options, isFirst: last === null });
    await database.pool.query(
      `insert into dataset_fold (name, made_from) values ($1, $2)
       on conflict (name) do update set made_from = excluded.made_from`,
      [fold.name, madeFrom],
    );
    return notes;
  } finally {
    await turn.end();
  }
}

export async function isFoldPending(database: Database, fold: Fold): Promise<boolean> {
  const { madeFrom, last } = await stateOf(database, fold);
  return madeFrom !== (last ?? "");
}

/** The snapshots of the packs that serve, and those that were folded last. */
async function stateOf(
  database: Database,
  { name, corpora }: Fold,
): Promise<{ madeFrom: string; last: string | null }> {
  const found = await database.pool.query<{ made_from: string; last: string | null }>(
    `select coalesce(string_agg(corpus || '=' || snapshot, ' ' order by corpus), '') as made_from,
            (select made_from from dataset_fold where name = $2) as last
       from search_corpus where corpus = any($1)`,
    [corpora, name],
  );
  const { made_from, last } = found.rows[0]!;
  return { madeFrom: made_from, last };
}
