import pg from "pg";

/**
 * pg has no codes for its own errors: a connection timeout, or a connection that ended during a query. This gives them the
 * codes of the network, so that no code matches on their messages. If the pool has several servers, each is tried once.
 * A pool that was ended keeps its own error: with a code of the network, graphile-worker would repeat a statement for hours.
 */
export function nameConnectionLosses(pool: pg.Pool, servers = 1): void {
  const connect = pool.connect.bind(pool) as Connect;
  const toldAs = (error: unknown) => (pool.ending ? error : named(error, "ETIMEDOUT"));
  // pool.query comes through here too, with a callback.
  (pool as { connect: Connect }).connect = (callback) => {
    if (callback === undefined)
      return onEachServer(servers, () => connect()!).catch((error: unknown) => {
        throw toldAs(error);
      });
    const attempt = (tried: number): void =>
      void connect((error, client, release) => {
        if (error && tried < servers) attempt(tried + 1);
        else callback(toldAs(error), client, release);
      });
    attempt(1);
    return undefined;
  };
}

/** Repeats an attempt to connect until each server was tried. */
export async function onEachServer<Result>(count: number, connect: () => Promise<Result>): Promise<Result> {
  for (let tried = 1; ; tried++) {
    try {
      return await connect();
    } catch (error) {
      if (tried >= count) throw error;
    }
  }
}

/** For the option `Client` of a pool. */
export class NamingClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: pg's overloads, passed on as they are
  override query(...args: any[]): any {
    const callback = args.at(-1);
    if (typeof callback === "function")
      args[args.length - 1] = (error: unknown, result: unknown) =>
        callback(named(error, "ECONNRESET"), result);
    // biome-ignore lint/suspicious/noExplicitAny: the same
    const sent = (super.query as any)(...args);
    if (!(sent instanceof Promise)) return sent;
    return sent.catch((error: unknown) => {
      throw named(error, "ECONNRESET");
    });
  }
}

/** PostgreSQL is restarting, full, or unreachable: https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function isAway(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return (
    typeof code === "string" &&
    /^(57P0[1-5]|53\d{3}|08\d{3}|ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT)$/.test(code)
  );
}

/** The connection ended during a statement, which may have taken effect or not. */
export function isCutOff(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  if (code === "ETIMEDOUT") return syscall === "read";
  return typeof code === "string" && /^(57P0[1-2]|57P05|08\d{3}|ECONNRESET|EPIPE)$/.test(code);
}

type Callback = (error: unknown, client?: pg.PoolClient, release?: (error?: Error) => void) => void;
type Connect = (callback?: Callback) => Promise<pg.PoolClient> | undefined;

/** Errors of the server are DatabaseErrors with a code; programming errors are TypeErrors and the like. */
export function named(error: unknown, code: string): unknown {
  const isPlain = error instanceof Error && error.constructor === Error && !("code" in error);
  return isPlain ? Object.assign(error, { code }) : error;
}
