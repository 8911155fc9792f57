import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { NamingClient, nameConnectionLosses } from "./connection-loss.ts";
import { holdServer } from "./embedded/held-server.ts";

/**
 * One PostgreSQL, 15 or newer: the one behind `url`, else an embedded one whose files live below `folder`.
 * Folders that own tables add their types with `kysely.withTables<…>()`; statements that run for every request
 * go to `pool` as named statements, so that PostgreSQL plans them once a connection.
 */
export interface Database {
  readonly pool: pg.Pool;
  // biome-ignore lint/complexity/noBannedTypes: no table of anybody's; each folder adds its own
  readonly kysely: Kysely<{}>;
  /** True when the server below is ours to start and stop. */
  readonly isEmbedded: boolean;
  /** A connection of its own, outside the pool: for session locks and LISTEN. The caller ends it. */
  connect(): Promise<pg.Client>;
  /** Ends the pool; stops an embedded server when no other process uses it. Calling it twice is harmless. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Any PostgreSQL ≥ 15. Without it, an embedded server in `folder`. */
  readonly url?: string | undefined;
  readonly folder: string;
  readonly poolSize?: number;
  /** How long a statement waits for a connection before it fails with ETIMEDOUT. */
  readonly connectionWaitMs?: number;
  readonly applicationName?: string;
  /** One line for each step that takes time. */
  readonly progress: (line: string) => void;
  /** A connection broke while idle; the pool replaces it. */
  readonly onError?: (error: Error) => void;
}

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const embedded = options.url ? undefined : await holdServer(options.folder, options.progress);
  const config: pg.ClientConfig = {
    ...(embedded ? embedded.connection : { connectionString: options.url }),
    application_name: options.applicationName ?? "dataq",
    // A burst waits for a connection rather than fail.
    connectionTimeoutMillis: options.connectionWaitMs ?? 30_000,
    types: { getTypeParser: parserOf },
    // A host that vanished must not hold a request for ever.
    keepAlive: true,
  };
  const pool = new pg.Pool({
    ...config,
    Client: NamingClient,
    max: options.poolSize ?? 20,
    idleTimeoutMillis: 60_000,
  });
  nameConnectionLosses(pool);
  // Without listeners the loss of a connection, idle or in use, would end the process.
  pool.on("error", (error) => options.onError?.(error));
  pool.on("connect", (client) => client.on("error", () => {}));
  try {
    await assertSupported(pool);
  } catch (error) {
    await pool.end();
    await embedded?.release();
    throw error;
  }
  let closing: Promise<void> | undefined;
  return {
    pool,
    kysely: new Kysely({ dialect: new PostgresDialect({ pool }) }),
    isEmbedded: embedded !== undefined,
    async connect() {
      const client = new pg.Client(config);
      client.on("error", (error) => options.onError?.(error));
      await client.connect();
      return client;
    },
    close() {
      closing ??= pool.end().then(() => embedded?.release());
      return closing;
    },
  };
}

async function assertSupported(pool: pg.Pool): Promise<void> {
  const found = await pool.query<{ version: number; encoding: string }>(
    "select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding",
  );
  const { version, encoding } = found.rows[0]!;
  if (version < 150_000)
    throw new Error(
      `dataq needs PostgreSQL 15 or newer; DATABASE_URL leads to ${Math.floor(version / 10_000)}.`,
    );
  if (encoding !== "UTF8")
    throw new Error(`dataq needs a database with encoding UTF8; DATABASE_URL leads to one with ${encoding}.`);
}

const INT8 = 20;
const DATE = 1082;
const parsers: Record<number, (text: string) => unknown> = {
  // Tokens and counts: far below 2^53, and a silent rounding of money is worse than a failure.
  [INT8]: (text) => {
    const value = Number(text);
    if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is beyond what a number holds exactly`);
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
