import type { Database, Queries } from "./database.ts";

/**
 * Statements that take effect together. A function that needs this takes one as a parameter, so that it cannot be
 * called without.
 */
export interface Transaction extends Queries {
  readonly isTransaction: true;
}

/**
 * Runs statements as one transaction: all of them take effect, or none. This also holds if `run` caught the error of
 * a statement, because PostgreSQL then answers the commit with a rollback. A connection that cannot roll back does
 * not return to the pool.
 */
export async function inTransaction<Result>(
  database: Pick<Database, "pool">,
  run: (transaction: Transaction) => Promise<Result>,
  begin = "begin",
): Promise<Result> {
  const client = await database.pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(begin);
    const result = await run({
      isTransaction: true,
      query: (statement, values) => client.query(statement, values),
    });
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch((cause: Error) => {
      broken = cause;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
