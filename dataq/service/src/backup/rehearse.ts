import { verifyKept } from "../accounts/audit-chain.ts";
import type { Database } from "../database/database.ts";
import type { Migration } from "../database/migrations.ts";
import { type RestoreReport, restoreBackup } from "./restore.ts";

interface RehearsalOptions {
  readonly migrations: readonly Migration[];
  readonly secret: string | undefined;
  readonly progress: (line: string) => void;
  /** The database that is in use, if it is here: the backup must be a part of its past. */
  readonly live: Database | undefined;
}

/**
 * Restores a backup into a side database, which must be empty, with everything that a restore checks. Then it compares
 * the ends of its chains with the database in use: a backup of something else, or of books that were rewritten since,
 * fails here and not on the day when it is needed.
 */
export async function rehearse(
  side: Database,
  path: string,
  { live, ...options }: RehearsalOptions,
): Promise<RestoreReport> {
  const report = await restoreBackup(side, path, options);
  if (live === undefined) return report;
  const audit = await side.pool.query<{ sha256: string }>(
    "select encode(sha256, 'hex') as sha256 from audit_seal order by seq desc limit 1",
  );
  const { breaches } = await verifyKept(
    live,
    audit.rows.map(({ sha256 }) => sha256),
  );
  const ledgers = await side.pool.query<{ account: string; seq: number; sha256: Buffer }>(
    "select distinct on (account_id) account_id as account, seq, sha256 from seal order by account_id, seq desc",
  );
  const lost = await live.longReads.query<{ account: string }>(
    `select account from unnest($1::text[], $2::bigint[], $3::bytea[]) as kept(account, seq, sha256)
     where not exists (select from seal s where s.account_id = account and s.seq = kept.seq and s.sha256 = kept.sha256)
     limit 5`,
    [
      ledgers.rows.map(({ account }) => account),
      ledgers.rows.map(({ seq }) => seq),
      ledgers.rows.map(({ sha256 }) => sha256),
    ],
  );
  const differences = [
    ...breaches,
    ...lost.rows.map(({ account }) => `the ledger of ${account} does not continue that of the backup`),
  ];
  if (differences.length > 0)
    throw new Error(
      `The backup is not a part of the past of this database: ${differences.join("; ")}. Either it is of another service, or the books were rewritten since.`,
    );
  return report;
}
