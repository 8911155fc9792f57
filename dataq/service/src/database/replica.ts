import type pg from "pg";
import { isAway } from "./connection-loss.ts";
import type { Queries } from "./queries.ts";

/**
 * Reads that another server than the primary may answer. Without one, both are the primary's pool. Nothing that decides
 * about money, limits or keys may be read here.
 */
export interface Reads {
  /** What never changes once it is committed, up to the last `pin`: a replica that has not replayed it is not asked. */
  readonly fixed: Queries;
  /** What may be a second old, such as lists and sums. */
  readonly recent: Queries;
  /** Whether `fixed` and `recent` may be answered by a replica. */
  readonly isReplica: boolean;
  /** From now on, `fixed` contains everything that the primary has committed until now. */
  pin(): Promise<void>;
  /** From now on, `recent` contains it: somebody changed something here and must see it in the next list. */
  showWrites(): void;
}

const SAMPLE_EVERY_MS = 1_000;
/** A replica that fails is not asked for this long. */
const AWAY_MS = 5_000;
/** A replica that lags is not asked for this long. */
const LAGGING_MS = 250;

/** A position in the primary's log. */
type Position = bigint;

/**
 * Asks a streaming replica, and the primary instead whenever the replica has not replayed what the answer needs, does not
 * answer, or is no replica any more. Each connection knows how far its server had come: with several replicas behind one
 * address, one may be ahead of another.
 */
export class Replica implements Reads {
  readonly fixed: Queries;
  readonly recent: Queries;
  readonly isReplica = true;
  readonly #primary: pg.Pool;
  readonly #pool: pg.Pool;
  readonly #now: () => number;
  readonly #replayed = new WeakMap<pg.PoolClient, Position>();
  #pinned: Position = 0n;
  #sample: { readonly atMs: number; readonly position: Promise<Position> } | undefined;
  #notBeforeMs = 0;

  constructor(primary: pg.Pool, pool: pg.Pool, now: () => number = () => performance.now()) {
    this.#primary = primary;
    this.#pool = pool;
    this.#now = now;
    const asked = (wanted: () => Position | Promise<Position>): Queries => ({
      query: <Row extends pg.QueryResultRow>(statement: string | pg.QueryConfig, values?: unknown[]) =>
        this.#ask<Row>(wanted, statement, values),
    });
    this.fixed = asked(() => this.#pinned);
    this.recent = asked(() => this.#sampled());
  }

  async pin(): Promise<void> {
    const position = await this.#positionOfPrimary();
    if (position > this.#pinned) this.#pinned = position;
  }

  showWrites(): void {
    this.#sample = undefined;
  }

  async #ask<Row extends pg.QueryResultRow>(
    wanted: () => Position | Promise<Position>,
    statement: string | pg.QueryConfig,
    values: unknown[] | undefined,
  ): Promise<pg.QueryResult<Row>> {
    const found = await this.#askReplica<Row>(wanted, statement, values);
    return found ?? this.#primary.query<Row>(statement as string, values);
  }

  /** Undefined if the primary must answer. If the statement itself is wrong, the primary says so. */
  async #askReplica<Row extends pg.QueryResultRow>(
    wanted: () => Position | Promise<Position>,
    statement: string | pg.QueryConfig,
    values: unknown[] | undefined,
  ): Promise<pg.QueryResult<Row> | undefined> {
    if (this.#now() < this.#notBeforeMs) return undefined;
    let client: pg.PoolClient | undefined;
    let fault: Error | undefined;
    try {
      const position = await wanted();
      client = await this.#pool.connect();
      if (await this.#has(client, position)) return await client.query<Row>(statement as string, values);
      this.#notBeforeMs = this.#now() + LAGGING_MS;
    } catch (error) {
      // A replica also ends statements that stand in the way of its replay.
      fault = error as Error;
      if (client === undefined || isAway(error)) this.#notBeforeMs = this.#now() + AWAY_MS;
    } finally {
      client?.release(fault);
    }
    return undefined;
  }

  async #has(client: pg.PoolClient, position: Position): Promise<boolean> {
    const known = this.#replayed.get(client);
    if (known !== undefined && known >= position) return true;
    // A server that was promoted may have another history than today's primary.
    const found = await client.query<{ position: string | null }>(
      "select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() - '0/0' end::text as position",
    );
    const reached = found.rows[0]?.position;
    if (reached === null || reached === undefined) return false;
    this.#replayed.set(client, BigInt(reached));
    return BigInt(reached) >= position;
  }

  #sampled(): Promise<Position> {
    const now = this.#now();
    if (this.#sample === undefined || now - this.#sample.atMs >= SAMPLE_EVERY_MS) {
      const sample = { atMs: now, position: this.#positionOfPrimary() };
      this.#sample = sample;
      sample.position.catch(() => {
        if (this.#sample === sample) this.#sample = undefined;
      });
    }
    return this.#sample.position;
  }

  async #positionOfPrimary(): Promise<Position> {
    const found = await this.#primary.query<{ position: string }>(
      "select (pg_current_wal_insert_lsn() - '0/0')::text as position",
    );
    return BigInt(found.rows[0]!.position);
  }
}

/** Throws if `replica` copies another server than `primary`. */
export async function assertReplica(primary: pg.Pool, replica: pg.Pool): Promise<void> {
  const identify = "select system_identifier::text as id from pg_control_system()";
  const [one, other] = await Promise.all([
    primary.query<{ id: string }>(identify),
    // One that is away now may come later. It is not asked before.
    replica.query<{ id: string }>(identify).catch(() => undefined),
  ]);
  if (other !== undefined && one.rows[0]!.id !== other.rows[0]!.id)
    throw new Error(
      "DATABASE_READ_URL is not a replica of the server in DATABASE_URL. Set it to a streaming replica, or leave it out.",
    );
}
