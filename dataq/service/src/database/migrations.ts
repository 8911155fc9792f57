import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import type pg from "pg";
import type { Database } from "./database.ts";
import { grantToServiceRole } from "./embedded/service-role.ts";
import { lockTransaction } from "./locks.ts";

/** The version of this dataq. */
export const { version: ownVersion } = createRequire(import.meta.url)("../../package.json") as {
  version: string;
};

/**
 * One step of the schema. `name` is `<folder>/<number>-<what>` and never changes once released; neither does
 * `up`. A later change is a later step.
 *
 * A step only adds, so that the versions before it go on working on the same database. A step that removes or changes
 * what an older version uses is a `contract` step, in a later version than the one that stopped using it.
 */
export interface Migration {
  readonly name: string;
  /**
   * One or more SQL statements without parameters. Or, for the schema of a library, a function that installs it with
   * the owner's connections: it runs before all SQL, in transactions of its own, and can be repeated.
   */
  readonly up: string | ((owner: pg.Pool) => Promise<void>);
  /** Present if older versions than `oldest` no longer work after this step. */
  readonly contract?: { readonly oldest: string };
}

/** The mark of a database into which a backup is being restored. Only the restore itself passes it to `migrate`. */
export const unfinishedRestore: Migration = { name: "restore/unfinished", up: "select" };

/**
 * Applies all missing migrations, the SQL ones in one transaction. Returns their names. Throws if the database was
 * changed by a newer version in a way that this one cannot work with.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  version = ownVersion,
): Promise<string[]> {
  const names = new Set(migrations.map((migration) => migration.name));
  if (names.size !== migrations.length) throw new Error("Two migrations have the same name.");
  const client = await database.connectAsOwner();
  try {
    await client.query("begin");
    await lockTransaction(client, "migration");
    await client.query(
      "create table if not exists migration (name text primary key, sha256 text not null, applied_at timestamptz not null default now())",
    );
    const applied = await readApplied(client);
    if (applied.has(unfinishedRestore.name) && !names.has(unfinishedRestore.name))
      throw new Error(
        'A restore into this database did not finish, so nothing can be served from it. Run "dataq restore" again, or use an empty database.',
      );
    for (const step of applied.values()) if (!names.has(step.name)) assertWorks(step, version);
    const missing = migrations.filter((migration) => {
      const before = applied.get(migration.name);
      if (before !== undefined && before.sha256 !== digestOf(migration))
        throw new Error(`The migration ${migration.name} was applied in a different version.`);
      return before === undefined;
    });
    await install(database, missing);
    const added: string[] = [];
    for (const migration of missing) {
      const { name, up, contract } = migration;
      const sha256 = digestOf(migration);
      if (typeof up === "string") await client.query(up);
      await client.query("insert into migration (name, sha256, version, oldest) values ($1, $2, $3, $4)", [
        name,
        sha256,
        version,
        contract?.oldest ?? null,
      ]);
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

interface Applied {
  readonly name: string;
  readonly sha256: string;
  /** The version that applied it, and the oldest that works after it. Null before versions were noted. */
  readonly version: string | null;
  readonly oldest: string | null;
}

async function readApplied(client: pg.ClientBase): Promise<Map<string, Applied>> {
  const columns = await client.query(
    "select from pg_attribute where attrelid = 'migration'::regclass and attname = 'oldest' and not attisdropped",
  );
  // Not at every start: the lock would wait for everything that reads the table, such as a backup.
  if (columns.rowCount === 0)
    await client.query("alter table migration add column version text, add column oldest text");
  const found = await client.query<Applied>("select name, sha256, version, oldest from migration");
  return new Map(found.rows.map((row) => [row.name, row]));
}

/** A step that this version does not know is harmless if it only added something. */
function assertWorks({ name, version, oldest }: Applied, own: string): void {
  if (version !== null && (oldest === null || compareVersions(oldest, own) <= 0)) return;
  throw new Error(
    `A newer dataq${version === null ? "" : ` (${version})`} changed this database (migration ${name}), and ${oldest === null ? "this version" : `versions before ${oldest}`} cannot use it. This is dataq ${own}. Start ${version === null ? "the newer version" : `dataq ${version} or newer`}, or restore a backup from before that change.`,
  );
}

/** Negative if `a` is older than `b`. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) =>
    text.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0),
  );
  for (let place = 0; place < 3; place++) {
    const difference = (left![place] ?? 0) - (right![place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
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
