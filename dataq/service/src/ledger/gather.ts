import { randomBytes } from "node:crypto";
import pg from "pg";
import type { Database } from "../database/database.ts";

/** Runs one ledger statement and returns its first row. It locks the wallet of `accountId`. */
export type RunStatement = <Row extends pg.QueryResultRow>(
  statement: Statement,
  values: readonly unknown[],
  accountId: string,
) => Promise<Row | undefined>;

export interface Statement {
  readonly name: string;
  readonly text: string;
  /** SQL types of the parameters, in order. */
  readonly types: readonly string[];
}

/** Runs each statement as its own transaction. */
export function runDirectly(database: Database): RunStatement {
  return async <Row extends pg.QueryResultRow>({ name, text }: Statement, values: readonly unknown[]) =>
    (await database.pool.query<Row>({ name, text, values: [...values] })).rows[0];
}

/** Number of simultaneous batches. While they wait for the disk, the next one fills. */
export const MOST_BATCHES = 2;
const MOST_IN_BATCH = 64;

interface Waiting {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  readonly accountId: string;
  readonly resolve: (row: pg.QueryResultRow | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Combines statements that arrive while others run into one transaction with one flush to disk. Each is still a
 * conditional statement of its own, and those of one account keep their order. Wallets are locked in the order of
 * their IDs, so that two batches cannot deadlock.
 */
export function gatherStatements(database: Database): RunStatement {
  const direct = runDirectly(database);
  const prepared = new WeakMap<pg.PoolClient, Set<string>>();
  // A pool may have several gatherers, and names of prepared statements are per connection, so each gatherer
  // needs a suffix.
  const suffix = randomBytes(4).toString("hex");
  let queue: Waiting[] = [];
  let batches = 0;

  const send = async () => {
    const batch = queue.slice(0, MOST_IN_BATCH);
    queue = queue.slice(MOST_IN_BATCH);
    batches += 1;
    try {
      if (batch.length === 1) await sendOne(batch[0]!);
      else await sendBatch(batch);
    } finally {
      batches -= 1;
      if (queue.length > 0) void send();
    }
  };

  const sendOne = ({ statement, values, accountId, resolve, reject }: Waiting) =>
    direct(statement, values, accountId).then(resolve, reject);

  const sendBatch = async (batch: readonly Waiting[]) => {
    const sorted = batch.toSorted((a, b) =>
      a.accountId < b.accountId ? -1 : a.accountId > b.accountId ? 1 : 0,
    );
    let results: pg.QueryResult[];
    try {
      results = await execute(sorted);
    } catch (error) {
      // The whole batch was rolled back. When the statements are sent one by one, only the faulty one fails.
      if (!isStatementFault(error)) for (const { reject } of batch) reject(error);
      else for (const waiting of batch) await sendOne(waiting);
      return;
    }
    sorted.forEach(({ resolve }, index) => {
      resolve(results[index]!.rows[0]);
    });
  };

  const execute = async (batch: readonly Waiting[]): Promise<pg.QueryResult[]> => {
    const client = await database.pool.connect();
    let fault: Error | undefined;
    try {
      const known = prepared.get(client) ?? new Set();
      prepared.set(client, known);
      const used = [...new Set(batch.map(({ statement }) => statement))];
      const prepare = ({ name, text, types }: Statement) =>
        `prepare "${name}-${suffix}" (${types.join(", ")}) as ${text}`;
      if (!database.isPooled)
        for (const statement of used.filter(({ name }) => !known.has(name))) {
          await client.query(prepare(statement));
          known.add(statement.name);
        }
      // Several statements in one simple query are one transaction.
      const text = batch.map(
        ({ statement, values }) =>
          `execute "${statement.name}-${suffix}" (${values.map(literal).join(", ")})`,
      );
      // The next transaction may run on another connection, so each batch brings its own preparation.
      const before = database.isPooled ? ["deallocate all", ...used.map(prepare)] : [];
      const results = (await client.query([...before, ...text].join("; "))) as unknown as pg.QueryResult[];
      return results.slice(before.length);
    } catch (error) {
      if (!isStatementFault(error)) fault = error as Error;
      throw error;
    } finally {
      client.release(fault);
    }
  };

  return <Row extends pg.QueryResultRow>(
    statement: Statement,
    values: readonly unknown[],
    accountId: string,
  ) =>
    new Promise<Row | undefined>((resolve, reject) => {
      queue.push({ statement, values, accountId, resolve: resolve as Waiting["resolve"], reject });
      // Runs after this turn of the event loop, so that all statements of the turn are sent together.
      if (batches < MOST_BATCHES && queue.length === 1) setImmediate(() => queue.length > 0 && void send());
    });
}

/** PostgreSQL rejected a statement and still works. After any other error the outcome is unknown. */
function isStatementFault(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code !== undefined && /^(22|23|40)/.test(code);
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return "null";
  return pg.escapeLiteral(value instanceof Date ? value.toISOString() : String(value));
}
