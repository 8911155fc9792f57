import type { Queries } from "../database/database.ts";

export interface BackupEvent {
  readonly at: Date;
  readonly kind: "stored" | "rehearsed";
  readonly name: string;
  readonly takenAt: Date;
  readonly bytes: number;
  readonly entries?: number;
}

/** Notes it for the metrics. Does nothing on a database that a version without this table made. */
export async function noteBackup(queries: Queries, event: BackupEvent): Promise<void> {
  const { at, kind, name, takenAt, bytes, entries = null } = event;
  const known = await queries.query("select where to_regclass('backup_log') is not null");
  if (known.rowCount === 0) return;
  await queries.query(
    "insert into backup_log (at, kind, name, taken_at, bytes, entries) values ($1, $2, $3, $4, $5, $6)",
    [at, kind, name, takenAt, bytes, entries],
  );
}

/** The moment of the newest backup that was stored, and of the newest that was rehearsed; null if there is none. */
export async function newestBackups(
  queries: Queries,
): Promise<{ readonly stored: Date | null; readonly rehearsed: Date | null }> {
  const found = await queries.query<{ stored: Date | null; rehearsed: Date | null }>(
    `select (select taken_at from backup_log where kind = 'stored' order by at desc limit 1) as stored,
            (select at from backup_log where kind = 'rehearsed' order by at desc limit 1) as rehearsed`,
  );
  return found.rows[0]!;
}
