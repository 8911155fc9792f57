import type pg from "pg";
import type { Database } from "../database/database.ts";
import { lock, tryLock, unlock } from "../database/locks.ts";
import { settle } from "./settlement.ts";

/**
 * A running service on this database. A session lock on its number proves that it is alive: when its process dies,
 * PostgreSQL releases the lock, and other instances void its open holds.
 */
export interface Instance {
  readonly id: number;
  close(): Promise<void>;
}

const LONGEST_CALL_MS = 300_000;

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
  const revive = (client: pg.Client) =>
    client.once("end", async () => {
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
    const client = await database.pool.connect();
    try {
      if (!(await tryLock(client, "instance", id))) continue;
      try {
        voided += await voidAll(database, "instance_id = $1", id, "the service stopped in mid-call", now);
        await client.query("delete from idempotency where instance_id = $1 and outcome is null", [id]);
        await client.query("delete from instance where id = $1", [id]);
      } finally {
        await unlock(client, "instance", id);
      }
    } finally {
      client.release();
    }
  }
  // Deletes keys of calls that could not release them at their end. No call takes that long.
  await database.pool.query("delete from idempotency where outcome is null and created_at < $1", [
    new Date(now.getTime() - LONGEST_CALL_MS),
  ]);
  return voided + (await voidAll(database, "deadline < $1", now, "the call did not end in time", now));
}

async function voidAll(
  database: Database,
  condition: string,
  value: unknown,
  note: string,
  now: Date,
): Promise<number> {
  const open = await database.pool.query<{ request_id: string; account_id: string }>(
    `select request_id, account_id from hold where ${condition}`,
    [value],
  );
  let voided = 0;
  for (const { request_id, account_id } of open.rows) {
    if (await settle(database, request_id, { kind: "void", tokens: 0, note, now, accountId: account_id }))
      voided += 1;
  }
  return voided;
}
