import pg from "pg";
import { nameConnectionLosses, onEachServer } from "./connection-loss.ts";
import { holdServer } from "./embedded/held-server.ts";
import { makeServiceRole, serviceConnection } from "./embedded/service-role.ts";
import type { Queries } from "./queries.ts";
import { assertReplica, type Reads, Replica } from "./replica.ts";
import { type Servers, serversAt, serversOf } from "./servers.ts";

export type { Queries } from "./queries.ts";

/**
 * One PostgreSQL, 15 or newer: the server behind `url`, or an embedded one with its files in `folder`. Statements that
 * run for every request have a name, so that PostgreSQL plans them once per connection.
 */
export interface Database extends Queries {
  readonly pool: pg.Pool;
  /** Separate connections for exports and checks of the ledger, so that they never delay calls. */
  readonly longReads: pg.Pool;
  /** Reads that a replica may answer. */
  readonly reads: Reads;
  /** True when this process starts and stops the server. */
  readonly isEmbedded: boolean;
  /** True behind a PgBouncer in transaction mode: a prepared statement is only there until the transaction ends. */
  readonly isPooled: boolean;
  /**
   * Leaves connections to a thread or process of this service: the pool has so many fewer until the returned function is
   * called. Undefined if calls would have too few.
   */
  lend(connections: number): Promise<(() => void) | undefined>;
  /** A connection outside the pool, for session locks and LISTEN. The caller ends it. */
  connect(): Promise<pg.Client>;
  /**
   * A connection that may change tables. On an embedded server, other connections may not. The caller ends
   * it.
   */
  connectAsOwner(): Promise<pg.Client>;
  /** The same, as a pool with one connection. */
  ownerPool(): pg.Pool;
  /** Ends the pool, and stops an embedded server that no other process uses. Can be called twice. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Any PostgreSQL ≥ 15. Without it, an embedded server in `folder`. */
  readonly url?: string | undefined;
  /** PostgreSQL itself, if `url` is a PgBouncer in transaction mode: for session locks, LISTEN and migrations. */
  readonly directUrl?: string | undefined;
  /** A streaming replica for reads that may be a moment old. */
  readonly readUrl?: string | undefined;
  readonly folder: string;
  readonly poolSize?: number;
  /** Connections for exports and checks, in addition to the pool. */
  readonly longReads?: number;
  readonly applicationName?: string;
  /** Receives one line for each slow step. */
  readonly progress: (line: string) => void;
  /** An idle connection broke; the pool replaces it. */
  readonly onError?: (error: Error) => void;
}

const LONG_READS = 2;
/** The primary answers if the replica cannot be reached within this time. */
const REPLICA_WITHIN_MS = 1_000;
/** With fewer connections, a call that holds one could keep all others waiting. */
const LEAST_FOR_CALLS = 2;

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const embedded = options.url ? undefined : await holdServer(options.folder, options.progress);
  const config: pg.ClientConfig = {
    application_name: options.applicationName ?? "dataq",
    // In a burst, statements wait for a connection instead of failing. After this time they fail with
    // ETIMEDOUT.
    connectionTimeoutMillis: 30_000,
    types: { getTypeParser: parserOf },
    // Without this, a request would wait forever for a host that disappeared.
    keepAlive: true,
  };
  const isPooled = options.directUrl !== undefined;
  const variable = "DATABASE_URL";
  const servers = embedded
    ? serversOf([serviceConnection(embedded.connection)], { variable })
    : serversAt(options.url!, { variable, isPooled });
  const direct = isPooled ? serversAt(options.directUrl, { variable: "DATABASE_DIRECT_URL" }) : servers;
  const owners = embedded ? serversOf([embedded.connection], { variable }) : direct;
  const makePool = ({ count, Client }: Servers, settings: pg.PoolConfig) => {
    const pool = new pg.Pool({ ...config, Client: Client as never, ...settings });
    nameConnectionLosses(pool, count);
    // Without these listeners a lost connection would end the process.
    pool.on("error", (error) => options.onError?.(error));
    pool.on("connect", (client) => client.on("error", () => {}));
    return pool;
  };
  const pool = makePool(servers, { max: options.poolSize ?? 20, idleTimeoutMillis: 60_000 });
  const longReads = makePool(servers, {
    max: options.longReads ?? Math.min(LONG_READS, options.poolSize ?? LONG_READS),
    idleTimeoutMillis: 10_000,
    // Exports wait for each other as long as they must.
    connectionTimeoutMillis: 0,
  });
  const replica =
    options.readUrl === undefined
      ? undefined
      : makePool(serversAt(options.readUrl, { variable: "DATABASE_READ_URL", isReadOnly: true }), {
          max: options.poolSize ?? 20,
          idleTimeoutMillis: 60_000,
          connectionTimeoutMillis: REPLICA_WITHIN_MS,
        });
  const connectTo = ({ count, Client }: Servers) =>
    onEachServer(count, async () => {
      const client = new Client(config);
      client.on("error", (error) => options.onError?.(error));
      await client.connect();
      return client;
    });
  try {
    await assertSupported(pool, options.progress).catch(async (error: unknown) => {
      if (!embedded || !isUnknownRole(error)) throw error;
      await makeServiceRole(embedded.connection);
      await assertSupported(pool, options.progress);
    });
    if (replica) await assertReplica(pool, replica);
  } catch (error) {
    await Promise.all([pool.end(), longReads.end(), replica?.end()]);
    await embedded?.release();
    throw error;
  }
  let closing: Promise<void> | undefined;
  return {
    pool,
    longReads,
    reads: replica
      ? new Replica(pool, replica)
      : { fixed: pool, recent: pool, isReplica: false, pin: async () => {}, showWrites: () => {} },
    query: (statement, values) => pool.query(statement, values),
    isEmbedded: embedded !== undefined,
    isPooled,
    async lend(connections) {
      if (pool.options.max - connections < LEAST_FOR_CALLS) return undefined;
      pool.options.max -= connections;
      while (pool.totalCount > pool.options.max) (await pool.connect()).release(true);
      return () => {
        pool.options.max += connections;
      };
    },
    connect: () => connectTo(direct),
    connectAsOwner: () => connectTo(owners),
    ownerPool: () => makePool(owners, { max: 1 }),
    close() {
      closing ??= Promise.all([pool.end(), longReads.end(), replica?.end()]).then(() => embedded?.release());
      return closing;
    },
  };
}

/** Whether the role or its password is wrong. The server does not say which of them it is. */
function isUnknownRole(error: unknown): boolean {
  return ["28P01", "28000"].includes((error as { code?: string }).code ?? "");
}

async function assertSupported(pool: pg.Pool, progress: (line: string) => void): Promise<void> {
  const found = await pool.query<{ version: number; encoding: string; is_superuser: boolean }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
            current_setting('is_superuser')::bool as is_superuser`,
  );
  const { version, encoding, is_superuser } = found.rows[0]!;
  if (version < 150_000)
    throw new Error(
      `dataq needs PostgreSQL 15 or newer; the server behind DATABASE_URL is version ${Math.floor(version / 10_000)}.`,
    );
  if (encoding !== "UTF8")
    throw new Error(
      `dataq needs a database with the encoding UTF8; the database behind DATABASE_URL has ${encoding}.`,
    );
  if (is_superuser)
    progress(
      "DATABASE_URL connects as a superuser, who can change the ledger. Use a role that only owns the database.",
    );
}

const INT8 = 20;
const DATE = 1082;
const parsers: Record<number, (text: string) => unknown> = {
  // Tokens and counts are far below 2^53; an error is better than rounded money.
  [INT8]: (text) => {
    const value = Number(text);
    if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is too large for an exact number`);
    return value;
  },
  // A calendar date has no time zone; pg's own parser would give it one.
  [DATE]: (text) => text,
};

// biome-ignore lint/suspicious/noExplicitAny: the signature of pg's own type table
function parserOf(oid: number, format?: any): any {
  const own = format === "binary" ? undefined : parsers[oid];
  return own ?? pg.types.getTypeParser(oid, format);
}
