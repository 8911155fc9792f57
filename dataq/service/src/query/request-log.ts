import type { KeyMode, requestRow, Sent } from "@dataq/contract/wire";
import type { Database } from "../database/database.ts";
import { shareLock } from "../database/locks.ts";
import { inTransaction } from "../database/transaction.ts";
import { countLines, isHeld } from "./usage-sums.ts";

/** One call, as its account sees it later. Neither parameters nor answers are stored. */
export interface RequestLine {
  readonly id: string;
  readonly at: Date;
  readonly accountId: string;
  readonly keyId: string;
  readonly mode: KeyMode;
  readonly route: string;
  readonly operation: string | null;
  readonly status: number;
  readonly code: string | null;
  /** Why a source failed. Not shown to the account. */
  readonly reason: string | null;
  readonly cached: boolean;
  readonly latencyMs: number;
  readonly clientRequestId: string | null;
}

const FLUSH_AFTER_MS = 200;
const FLUSH_AT = 500;
/** While the database is unavailable, lines beyond this are dropped: money is in the ledger, not here. */
const KEEP_AT_MOST = 20_000;

/** Lines are written in batches, so that a call does not wait for its own. */
export class RequestLog {
  readonly #database: Database;
  readonly #onError: (error: Error) => void;
  #lines: RequestLine[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(database: Database, onError: (error: Error) => void) {
    this.#database = database;
    this.#onError = onError;
  }

  add(line: RequestLine): void {
    if (this.#lines.length < KEEP_AT_MOST) this.#lines.push(line);
    if (this.#lines.length >= FLUSH_AT) void this.flush();
    else
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        void this.flush();
      }, FLUSH_AFTER_MS).unref();
  }

  /** Resolves when all previous lines are written or dropped. */
  flush(): Promise<void> {
    const lines = this.#lines;
    this.#lines = [];
    if (lines.length > 0)
      this.#writing = this.#writing.then(() =>
        this.#write(lines).catch((error: Error) => this.#onError(error)),
      );
    return this.#writing;
  }

  async #write(lines: readonly RequestLine[]): Promise<void> {
    const column = <Name extends keyof RequestLine>(name: Name) => lines.map((line) => line[name]);
    const values = [
      column("id"),
      column("at"),
      column("accountId"),
      column("keyId"),
      column("mode"),
      column("route"),
      column("operation"),
      column("status"),
      column("code"),
      column("cached"),
      column("latencyMs"),
      column("clientRequestId"),
      column("reason"),
    ];
    // Locked before the statement sees the ledger; see usage-sums.ts.
    await inTransaction(this.#database, async (transaction) => {
      await shareLock(transaction, "usage");
      await transaction.query({ name: "request-log", text: INSERT, values });
    });
  }
}

const INSERT = countLines(
  `insert into request (id, at, account_id, key_id, mode, route, operation, status, code, cached, latency_ms, client_request_id,
                        reason, is_held)
   select *, ${isHeld("new.id", "new.account_id")}
   from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[],
               $9::text[], $10::boolean[], $11::int[], $12::text[], $13::text[])
     as new(id, at, account_id, key_id, mode, route, operation, status, code, cached, latency_ms, client_request_id, reason)
   on conflict do nothing`,
);

export type RequestRow = Sent<typeof requestRow>;

/**
 * Lists calls, newest first. If `before` is given, returns only calls before it. `tokens` comes from the
 * ledger.
 */
export async function listRequests(
  database: Database,
  accountId: string,
  filter: {
    readonly limit: number;
    readonly before?: string | undefined;
    readonly operation?: string | undefined;
    readonly status?: number | undefined;
    readonly key?: string | undefined;
  },
): Promise<RequestRow[]> {
  const { before, operation, status, key } = filter;
  const values: (string | number)[] = [accountId, filter.limit];
  const conditions = ["account_id = $1"];
  // Only the filters that are used, so that each has its index.
  const add = (condition: string, value: string | number | undefined) => {
    if (value !== undefined) conditions.push(`${condition} $${values.push(value)}`);
  };
  add("id <", before);
  add("operation =", operation);
  add("key_id =", key);
  add(status !== undefined && status >= 400 ? "status >= 400 and status =" : "status =", status);
  const found = await database.reads.recent.query<RequestRow>(
    `${SELECT} where ${conditions.join(" and ")} order by id desc limit $2`,
    values,
  );
  return found.rows;
}

export async function findRequest(
  database: Database,
  accountId: string,
  id: string,
): Promise<RequestRow | undefined> {
  const found = await database.pool.query<RequestRow>(`${SELECT} where account_id = $1 and id = $2`, [
    accountId,
    id,
  ]);
  return found.rows[0];
}

/** A call of any account, with details for the operator. */
export async function findAnyRequest(
  database: Database,
  id: string,
): Promise<(RequestRow & OfOperators) | undefined> {
  const found = await database.pool.query<{ account_id: string; reason: string | null }>(
    "select account_id, reason from request where id = $1",
    [id],
  );
  const line = found.rows[0];
  const row = line && (await findRequest(database, line.account_id, id));
  if (row === undefined) return undefined;
  const sent = await database.pool.query<VendorRequest>(
    `select contract, sent_at as at, cost_fen::float8 as cost_fen, outcome, status, ms
       from vendor_request where request_id = $1 order by sent_at`,
    [id],
  );
  return { ...row, ...line!, vendor_requests: sent.rows };
}

interface OfOperators {
  readonly account_id: string;
  readonly reason: string | null;
  readonly vendor_requests: readonly VendorRequest[];
}

/** A request to a vendor, and what it cost. */
interface VendorRequest {
  readonly contract: string;
  readonly at: Date;
  readonly cost_fen: number;
  readonly outcome: string | null;
  readonly status: number | null;
  readonly ms: number | null;
}

const SELECT = `select id, at, key_id, operation, status, code, cached, latency_ms, client_request_id,
  coalesce((select -sum(tokens)::bigint from entry e where e.request_id = request.id), 0)::bigint as tokens from request`;
