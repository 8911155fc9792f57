import type { Database } from "../src/database/database.ts";

/** What a statement reads and what it writes or locks, as names of tables. */
export interface Footprint {
  readonly reads: ReadonlySet<string>;
  readonly writes: ReadonlySet<string>;
}

/** Appended to and never read by what moves money, so the order of two lines shows nowhere. */
const logs = new Set(["audit"]);
/** Stands for every advisory lock. */
const advisory = "pg_advisory";

/**
 * Tells which statements can be sent in either order with the same result. Rather too much than too little counts as
 * touched: each table whose name stands anywhere in the statement, everything behind a view or a function, and what
 * foreign keys look at.
 */
export class Footprints {
  readonly #tables: ReadonlySet<string>;
  /** Views and functions of the schema. */
  readonly #opaque: ReadonlySet<string>;
  readonly #referenced: ReadonlyMap<string, readonly string[]>;

  private constructor(
    tables: ReadonlySet<string>,
    opaque: ReadonlySet<string>,
    referenced: ReadonlyMap<string, readonly string[]>,
  ) {
    this.#tables = tables;
    this.#opaque = opaque;
    this.#referenced = referenced;
  }

  static async read(database: Database): Promise<Footprints> {
    const names = async (text: string) =>
      (await database.query<{ name: string; other: string }>(text)).rows.map(({ name, other }) => ({
        name,
        other,
      }));
    const ours = "n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')";
    const tables = await names(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p') and ${ours}`,
    );
    const opaque = await names(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('v', 'm') and ${ours}
       union select p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${ours}`,
    );
    const keys = await names(
      "select a.relname as name, b.relname as other from pg_constraint k join pg_class a on a.oid = k.conrelid join pg_class b on b.oid = k.confrelid where k.contype = 'f'",
    );
    const referenced = Map.groupBy(keys, ({ name }) => name);
    return new Footprints(
      new Set(tables.map(({ name }) => name)),
      new Set(opaque.map(({ name }) => name)),
      new Map([...referenced].map(([name, list]) => [name, list.map(({ other }) => other)])),
    );
  }

  of(text: string): Footprint {
    const words = new Set(text.toLowerCase().match(/[a-z_][a-z0-9_]*/g) ?? []);
    const all = [...this.#tables];
    if ([...this.#opaque].some((name) => words.has(name)))
      return { reads: new Set(all), writes: new Set(all) };
    const reads = new Set(all.filter((name) => words.has(name)));
    const writes = new Set(
      [
        ...text
          .toLowerCase()
          .matchAll(/\b(?:insert\s+into|update|delete\s+from)\s+(?:only\s+)?"?([a-z_][a-z0-9_]*)/g),
      ].map(([, name]) => name!),
    );
    for (const name of writes) for (const other of this.#referenced.get(name) ?? []) reads.add(other);
    // A lock on rows lets others wait as a write does.
    if (/\bfor\s+(?:no\s+key\s+)?(?:update|share|key\s+share)\b/.test(text.toLowerCase()))
      for (const name of reads) writes.add(name);
    if ([...words].some((word) => word.includes(advisory))) writes.add(advisory);
    for (const name of logs) for (const set of [reads, writes]) set.delete(name);
    return { reads, writes };
  }
}

/** Whether two statements do the same in either order. */
export function areIndependent(a: Footprint, b: Footprint): boolean {
  return (
    a.writes.isDisjointFrom(b.writes) && a.writes.isDisjointFrom(b.reads) && b.writes.isDisjointFrom(a.reads)
  );
}
