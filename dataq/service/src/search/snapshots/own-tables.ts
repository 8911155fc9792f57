import { setTimeout as delay } from "node:timers/promises";
import type { ClientBase } from "pg";

/** Runs statements with the rights of the tables' owner. */
export type AsOwner = <Result>(run: (owner: ClientBase) => Promise<Result>) => Promise<Result>;

/**
 * The tables of one large build: its postings and documents. They are filled without an index while nobody reads them,
 * become partitions of `search_posting` and `search_document` when the build is complete, and are dropped as a whole.
 * Small builds share a table, because each partition costs every question a little. `first` is the build's first
 * segment; it names the tables.
 */
export function ownTables(first: number): { readonly postings: string; readonly documents: string } {
  return { postings: `search_posting_of_${first}`, documents: `search_document_of_${first}` };
}

export async function makeOwnTables(client: ClientBase, asOwner: AsOwner, first: number): Promise<void> {
  const { postings, documents } = ownTables(first);
  const found = await client.query<{ role: string }>("select quote_ident(current_user) as role");
  const role = found.rows[0]?.role;
  await asOwner(async (owner) => {
    for (const [table, like] of [
      [postings, "search_posting"],
      [documents, "search_document"],
    ]) {
      await owner.query(`create table ${table} (like ${like} including storage)`);
      await owner.query(`grant select, insert, delete on ${table} to ${role}`);
    }
  });
  await client.query("update search_segment set own_tables = $1 where id = $1", [first]);
}

/** Makes the tables partitions that hold exactly these segments. Questions can find them from then on. */
export async function attachOwnTables(
  asOwner: AsOwner,
  first: number,
  segments: readonly number[],
): Promise<void> {
  const { postings, documents } = ownTables(first);
  const values = segments.map(Number).join(", ");
  await asOwner(async (owner) => {
    const parts = [
      [postings, "search_posting", "term, segment"],
      [documents, "search_document", "segment, ordinal"],
    ] as const;
    for (const [table, parent, key] of parts) {
      if (await isPartition(owner, table)) continue;
      const shared = `${parent}_shared`;
      const check = `without_${first}`;
      // Of a build that was interrupted, the last segment is incomplete.
      await owner.query(`delete from ${table} where segment not in (${values})`);
      await owner.query(`alter table ${table} drop constraint if exists ${table}_pkey`);
      await owner.query(`alter table ${table} add constraint ${table}_pkey primary key (${key})`);
      if (table === documents) await owner.query(`create index on ${table} (id, segment)`);
      await owner.query(`analyze ${table}`);
      // PostgreSQL must know that the shared table has no row of these segments. With this constraint it looks while
      // questions read the table; without, they would wait for it.
      await shortly(owner, [
        `alter table ${shared} drop constraint if exists ${check}`,
        `alter table ${shared} add constraint ${check} check (segment not in (${values})) not valid`,
      ]);
      await owner.query(`alter table ${shared} validate constraint ${check}`);
      await shortly(owner, [
        `alter table ${parent} attach partition ${table} for values in (${values})`,
        `alter table ${shared} drop constraint ${check}`,
      ]);
    }
  });
}

export async function dropOwnTables(asOwner: AsOwner, firsts: readonly number[]): Promise<void> {
  if (firsts.length === 0) return;
  await asOwner(async (owner) => {
    for (const first of firsts) {
      const { postings, documents } = ownTables(first);
      await shortly(owner, [`drop table if exists ${postings}, ${documents}`]);
    }
  });
}

/** Tables whose segments were removed, for example by an older version, which deletes rows only. */
export async function abandonedTables(client: ClientBase): Promise<number[]> {
  const found = await client.query<{ first: number }>(
    `select substring(t.relname from '\\d+$')::bigint as first from pg_class t
      where t.relname ~ '^search_(posting|document)_of_\\d+$' and t.relkind = 'r'
        and pg_table_is_visible(t.oid)
        and not exists (select from search_segment s where s.own_tables = substring(t.relname from '\\d+$')::bigint
          or s.id = substring(t.relname from '\\d+$')::bigint)`,
  );
  return [...new Set(found.rows.map(({ first }) => first))];
}

async function isPartition(owner: ClientBase, table: string): Promise<boolean> {
  const found = await owner.query("select from pg_inherits where inhrelid = to_regclass($1)", [table]);
  return found.rows.length > 0;
}

/**
 * Runs statements that lock a table whole, in one transaction. While they wait for a long reader, such as a backup, all
 * questions would wait behind them. So they give up soon and try again later.
 */
async function shortly(owner: ClientBase, statements: readonly string[]): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await owner.query(`begin; set local lock_timeout = '${lockMs}ms'; ${statements.join("; ")}; commit`);
      return;
    } catch (error) {
      await owner.query("rollback");
      if ((error as { code?: string }).code !== lockNotAvailable || tries === mostTries) throw error;
      await delay(betweenTriesMs);
    }
  }
}

const lockMs = 200;
const betweenTriesMs = 1_000;
/** Half an hour. A backup may read that long. */
const mostTries = 1_500;
const lockNotAvailable = "55P03";
