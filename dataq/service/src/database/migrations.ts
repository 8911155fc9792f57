import { createHash } from "node:crypto";
import type { Database } from "./database.ts";
import { grantToServiceRole } from "./embedded/service-role.ts";
import { lockTransaction } from "./locks.ts";

/**
 * One step of the schema. `name` is `<folder>/<number>-<what>` and never changes once released; neither does
 * `up`. A later change is a later step.
 */
export interface Migration {
  readonly name: string;
  /** One or more SQL statements without parameters. */
  readonly up: string;
}

/** Applies all missing migrations in one transaction. Returns their names. */
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
    const added: string[] = [];
    for (const { name, up } of migrations) {
      const sha256 = createHash("sha256").update(up).digest("hex");
      const before = applied.get(name);
      if (before === sha256) continue;
      if (before) throw new Error(`The migration ${name} was applied in a different version.`);
      await client.query(up);
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
