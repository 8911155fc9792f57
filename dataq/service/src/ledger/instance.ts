import type pg from "pg";
import type { Database, Queries } from "../database/database.ts";
import { lock, tryLockTransaction } from "../database/locks.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";
import { settle } from "./settlement.ts";

/**
 * A running service on this database. A session lock on its number proves that it is alive: when its process dies,
 * PostgreSQL releases the lock, and other instances void its open holds.
 */
export interface Instance {
  readonly id: number;
  /** Its connection, which also listens for jobs. Undefined while it is being replaced. */
  session(): pg.Client | undefined;
  close(): Promise<void>;
}

const LONGEST_CALL_MS = 300_000;
/** The clocks of services differ by less. */
const CLOCKS_DIFFER_MS = 3_600_000;

export async function startInstance(database: Database, now: Date): Promise<Instance> {
  const session = await database.connect();
  const made = await session.query<{ id: number }>(
    "select nextval(pg_get_serial_sequence('instance', 'id')) as id",
  );
  const { id } = made.rows[0]!;
  // Takes the lock first, because other instances consider a row without a lock dead.
  await lock(session, "instance", id);
  await session.query("insert into instance (id, started_at) overriding system value values ($1, $2)", [
    id,
    now,
  ]);
  let current: pg.Client | undefined = session;
  let isLost = false;
  const revive = (client: pg.Client) =>
    client.once("end", async () => {
      isLost = true;
      // The server was restarted. Earlier holds may be voided meanwhile; new ones are protected again.
      while (current) {
        let next: pg.Client | undefined;
        try {
          next = await database.connect();
          await lock(next, "instance", id);
          // Another instance may have deleted the row.
          await next.query(
            "insert into instance (id, started_at) overriding system value values ($1, $2) on conflict do nothing",
            [id, now],
          );
          // The instance was closed meanwhile, so recovery deletes the row.
          if (current === undefined) return void (await next.end());
          current = next;
          isLost = false;
          revive(next);
          return;
        } catch {
          await next?.end().catch(() => {});
          await new Promise((resolve) => setTimeout(resolve, 500).unref());
        }
      }
    });
  revive(session);
  return {
    id,
    session: () => (isLost ? undefined : current),
    async close() {
      const last = current;
      current = undefined;
      await last?.query("delete from instance where id = $1", [id]).catch(() => {});
      await last?.end().catch(() => {});
    },
  };
}

/**
 * Voids the holds of dead instances and those past their deadline, and releases the Idempotency-Keys of their calls.
 * Returns the number of voided holds. Several instances can run it at the same time.
 */
export async function recover(database: Database, now: Date): Promise<number> {
  const gone = await database.pool.query<{ id: number }>("select id from instance");
  let voided = 0;
  for (const { id } of gone.rows) {
    const open = await ifDead(database, id, (transaction) => openHolds(transaction, "instance_id = $1", id));
    if (open === undefined) continue;
    voided += await voidAll(database, open, "the service stopped in mid-call", now);
    await ifDead(database, id, async (transaction) => {
      await transaction.query("delete from idempotency where instance_id = $1 and outcome is null", [id]);
      await transaction.query("delete from instance where id = $1", [id]);
    });
  }
  // Deletes keys of calls that could not release them at their end. No call takes that long. Or a clock was ahead when
  // the key was claimed, and it would stay until that time comes; so would a hold.
  const longestAgo = new Date(now.getTime() - LONGEST_CALL_MS);
  const ahead = new Date(now.getTime() + CLOCKS_DIFFER_MS);
  await database.pool.query(
    "delete from idempotency where outcome is null and (created_at < $1 or created_at > $2)",
    [longestAgo, ahead],
  );
  const furthest = new Date(ahead.getTime() + LONGEST_CALL_MS);
  const late = await openHolds(database, "deadline < $1 or deadline > $2", now, furthest);
  return voided + (await voidAll(database, late, "the call did not end in time", now));
}

/** Runs statements while nobody else considers the instance dead, and it cannot come back. Undefined if it lives. */
function ifDead<Result>(
  database: Database,
  id: number,
  run: (transaction: Transaction) => Promise<Result>,
): Promise<Result | undefined> {
  return inTransaction(database, async (transaction) =>
    (await tryLockTransaction(transaction, "instance", id)) ? run(transaction) : undefined,
  );
}

interface OpenHold {
  readonly request_id: string;
  readonly account_id: string;
}

async function openHolds(queries: Queries, condition: string, ...values: unknown[]): Promise<OpenHold[]> {
  const found = await queries.query<OpenHold>(
    `select request_id, account_id from hold where ${condition}`,
    values,
  );
  return found.rows;
}

async function voidAll(
  database: Database,
  open: readonly OpenHold[],
  note: string,
  now: Date,
): Promise<number> {
  let voided = 0;
  for (const { request_id, account_id } of open) {
    if (await settle(database, request_id, { kind: "void", tokens: 0, note, now, accountId: account_id }))
      voided += 1;
  }
  return voided;
}
