import type { Database } from "../database/database.ts";
import { lock } from "../database/locks.ts";
import type { SearchIndex } from "../search/search-index.ts";
import type { Message } from "./message.ts";

/**
 * Makes the served records from the records of all data sets together. For example, it makes an article of
 * law from the versions in all packs.
 */
export interface Fold {
  readonly name: string;
  /** Where the records of the packs are stored. */
  readonly corpora: readonly string[];
  /** A query that returns rows if an older version made the result without storing the packs. */
  readonly servedBefore: string;
  /** Turns results that an older version made without storing packs into packs, before the first run. */
  adopt(index: SearchIndex): Promise<void>;
  /** Runs the fold. Returns notes for the operator, such as what is held back. */
  run(index: SearchIndex, options: FoldOptions): Promise<readonly Message[]>;
}

export interface FoldOptions {
  readonly signal?: AbortSignal;
  readonly progress?: (message: Message) => void;
}

/** Folds if the packs have changed since the last time, even if a process was killed in between. */
export async function foldChanged(
  database: Database,
  index: SearchIndex,
  fold: Fold,
  options: FoldOptions = {},
): Promise<readonly Message[]> {
  const turn = await database.connect();
  try {
    await lock(turn, "corpus", `fold ${fold.name}`);
    let { madeFrom, last, isPending } = await stateOf(database, fold);
    if (!isPending) return [];
    if (last === null) {
      await fold.adopt(index);
      ({ madeFrom } = await stateOf(database, fold));
    }
    for (const corpus of fold.corpora) index.forget(corpus);
    const notes = await fold.run(index, options);
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
  return (await stateOf(database, fold)).isPending;
}

/** The snapshots of the packs that are served, and of those that were folded last. */
async function stateOf(
  database: Database,
  { name, corpora, servedBefore }: Fold,
): Promise<{ madeFrom: string; last: string | null; isPending: boolean }> {
  const found = await database.pool.query<{ made_from: string; last: string | null; is_served: boolean }>(
    `select coalesce(string_agg(corpus || '=' || snapshot, ' ' order by corpus), '') as made_from,
            (select made_from from dataset_fold where name = $2) as last,
            exists (${servedBefore}) as is_served
       from search_corpus where corpus = any($1)`,
    [corpora, name],
  );
  const { made_from, last, is_served } = found.rows[0]!;
  const isPending = last === null ? made_from !== "" || is_served : made_from !== last;
  return { madeFrom: made_from, last, isPending };
}
