import { createHash } from "node:crypto";
import type pg from "pg";
import type { Database } from "./database.ts";
import { grantToServiceRole } from "./embedded/service-role.ts";
import { lockTransaction } from "./locks.ts";

/**
 * One step of the schema. `name` is `<folder>/<number>-<what>` and never changes once released; neither does
 * `up`. A later change is a later step.
 */
export interface Migration {
  readonly name: string;
  /**
   * One or more SQL statements without parameters. Or, for the schema of a library, a function that installs it with
   * the owner's connections: it runs before all SQL, in transactions of its own, and can be repeated.
   */
  readonly up: string | ((owner: pg.Pool) => Promise<void>);
}

/** Applies all missing migrations, the SQL ones in one transaction. Returns their names. */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<string[]> {
  const names = new Set(migrations.map((migration) => migration.name));
  if (names.size !== migrations.length) throw new Error("Two migrations have the same name.");
  const client = await database.connectAsOwner();
  try {
    await client.query("begin");
    await lockTransaction(client, "migration");
    await client.query(
      "create table if not exists migration (name text primary key, sha256 text not null, applied_at timestamptz not null default now())",
    );
    const known = await client.query<{ name: string; sha256: string }>("select name, sha256 from migration");
    const applied = new Map(known.rows.map((row) => [row.name, row.sha256]));
    for (const name of applied.keys()) {
      if (!names.has(name))
        throw new Error(
          `The database has the migration ${name}, which this version does not know. Start a newer dataq.`,
        );
    }
    const missing = migrations.filter((migration) => {
      const before = applied.get(migration.name);
      if (before !== undefined && before !== digestOf(migration))
        throw new Error(`The migration ${migration.name} was applied in a different version.`);
      return before === undefined;
    });
    await install(database, missing);
    const added: string[] = [];
    for (const migration of missing) {
      const { name, up } = migration;
      const sha256 = digestOf(migration);
      if (typeof up === "string") await client.query(up);
      await client.query("insert into migration (name, sha256) values ($1, $2)", [name, sha256]);
      added.push(name);
    }
    if (database.isEmbedded && added.length > 0) await grantToServiceRole(client);
    await client.query("commit");
    return added;
  } finally {
    // What is not committed is undone.
    await client.end();
  }
}

async function install(database: Database, missing: readonly Migration[]): Promise<void> {
  const steps = missing.flatMap(({ up }) => (typeof up === "string" ? [] : [up]));
  if (steps.length === 0) return;
  const owner = database.ownerPool();
  try {
    for (const step of steps) await step(owner);
  } finally {
    await owner.end();
  }
}

/** A function has the digest of its name, because its text differs between source and build. */
function digestOf({ name, up }: Migration): string {
  return createHash("sha256")
    .update(typeof up === "string" ? up : name)
    .digest("hex");
}
