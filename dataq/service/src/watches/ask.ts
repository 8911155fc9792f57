import { chinaMonth, errors, Failure } from "@dataq/contract";
import type { Account } from "../accounts/account.ts";
import type { Principal } from "../accounts/principal.ts";
import type { Database, Queries } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import { inTransaction } from "../database/transaction.ts";
import type { PipelineParts } from "../query/parts.ts";
import { answerCall } from "../query/pipeline.ts";
import type { RequestLog } from "../query/request-log.ts";

export interface AskParts {
  readonly database: Database;
  readonly pipeline: PipelineParts;
  readonly requestLog: RequestLog;
  readonly clock: () => Date;
}

/** The question of a watch, and what its calls may cost in a month. */
interface AskedWatch {
  readonly id: string;
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly monthlyLimit: number;
}

interface Found {
  readonly requestId: string;
  readonly records: readonly { readonly id: string }[];
  readonly tokens: number;
}

/** A watch looks at this many records of an answer. */
const LOOKED_AT = 100;
/** IDs that a watch remembers. */
const REMEMBERED = 5_000;
/** A message contains records up to this size, and only the IDs of all others. */
const LARGEST_RECORDS = 65_536;

/**
 * Asks as the account, like a call over HTTP: through the same pipeline, at the same price, in the same ledger and
 * request log. The watch takes the place of a key: its limit per month is counted like that of a key. A repeat with the same
 * `idempotencyKey` costs nothing.
 */
export async function askQuestion(
  { pipeline, requestLog, clock }: AskParts,
  account: Pick<Account, "id" | "role" | "tier">,
  { id, operation, params, monthlyLimit }: AskedWatch,
  idempotencyKey: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<Found> {
  const now = clock();
  const startedMs = performance.now();
  const requestId = makeIdentifier("req", now);
  const principal: Principal = {
    id,
    account,
    key: null,
    mode: "live",
    scopes: ["data:query"],
    monthlyCap: monthlyLimit,
    projectId: null,
    sessionBudget: null,
    spendAs: id,
    perSecond: null,
    ipList: [],
    expiresAt: null,
  };
  const log = (status: number, code: string | null, isCached: boolean) =>
    requestLog.add({
      id: requestId,
      at: now,
      accountId: account.id,
      keyId: id,
      mode: "live",
      route: "watch",
      operation,
      status,
      code,
      reason: null,
      cached: isCached,
      latencyMs: Math.round(performance.now() - startedMs),
      clientRequestId: null,
    });
  try {
    const reply = await answerCall(pipeline, {
      requestId,
      principal,
      body: { operation, params, page_size: LOOKED_AT },
      idempotencyKey,
      language: "en",
      lenient: false,
      signal,
    });
    log(200, null, reply.cache === "HIT");
    const { data } = JSON.parse(reply.json.toString("utf8")) as { data: { id: string }[] };
    return { requestId, records: data, tokens: reply.tokens };
  } catch (error) {
    const code = error instanceof Failure ? error.code : "internal_error";
    log(errors[code].status, code, false);
    throw error;
  }
}

/** Asks a watch again and sends what is new. Throws if the job must run again. */
export async function askAgain(parts: AskParts, id: string, signal: AbortSignal | undefined): Promise<void> {
  const { database } = parts;
  const due = (await database.query<Due>(DUE, [id])).rows[0];
  if (!due?.enabled) return;
  // The answer would be charged but could not be delivered.
  if (!due.isHeard) return note(database, id, "no_webhook");
  let found: Found;
  try {
    const account = { id: due.accountId, role: due.role, tier: due.tier };
    found = await askQuestion(parts, account, due, `${id} ${due.answers} ${due.snapshot}`, signal);
  } catch (error) {
    return cannotAsk(parts, due, error);
  }
  const known = new Set(due.seen);
  const fresh = found.records.filter((record) => !known.has(record.id));
  const seen = [...due.seen, ...fresh.map((record) => record.id)].slice(-REMEMBERED);
  const now = parts.clock();
  await inTransaction(database, async (transaction) => {
    const kept = await transaction.query(
      `update watch set seen = $2, answers = answers + 1, last_asked_at = $3, last_error = null
       where id = $1 and answers = $4`,
      [id, seen, now, due.answers],
    );
    if (kept.rowCount === 0 || fresh.length === 0) return;
    await send(transaction, due, "watch.found", now, {
      request_id: found.requestId,
      ids: fresh.map((record) => record.id),
      records: whole(fresh),
    });
  });
}

/**
 * A watch stops when the balance is used up, and for every other error that a repeat would not change. Beyond its limit it
 * waits for the next month. In both cases a message says so, once.
 */
async function cannotAsk({ database, clock }: AskParts, due: Due, error: unknown): Promise<void> {
  if (!(error instanceof Failure) || errors[error.code].retryable || error.code === "client_closed_request") {
    await note(database, due.id, error instanceof Failure ? error.code : "internal_error");
    throw error;
  }
  const now = clock();
  const { code } = error;
  const isOverLimit = code === "spend_limit_reached";
  await inTransaction(database, async (transaction) => {
    await transaction.query(
      `update watch set last_error = $2, enabled = $3, stopped_reason = case when $3 then null else $2 end where id = $1`,
      [due.id, code, isOverLimit],
    );
    const told = await transaction.query(
      "select from webhook_message where account_id = $1 and type = 'watch.stopped' and subject = $2 and created_at >= $3",
      [due.accountId, due.id, startOfMonth(now)],
    );
    if (isOverLimit && told.rowCount !== 0) return;
    await send(transaction, due, "watch.stopped", now, {
      reason: code,
      detail: error.message,
      resumes_at: isOverLimit ? startOfNextMonth(now).toISOString() : null,
    });
  });
}

interface Due extends AskedWatch {
  readonly accountId: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly answers: number;
  readonly seen: readonly string[];
  readonly role: Account["role"];
  readonly tier: Account["tier"];
  /** The state of the data that the question is asked about. */
  readonly snapshot: number | null;
  readonly isHeard: boolean;
}

const DUE = `select w.id, w.account_id as "accountId", w.name, w.operation, w.params, w.monthly_limit as "monthlyLimit",
  w.enabled, w.answers, w.seen, a.role, a.tier,
  (select snapshot from search_corpus c where c.corpus = w.operation) as snapshot,
  exists (select from webhook h where h.account_id = w.account_id and h.enabled and 'watch.found' = any (h.events)) as "isHeard"
  from watch w join account a on a.id = w.account_id where w.id = $1`;

async function note(queries: Queries, id: string, error: string): Promise<void> {
  await queries.query("update watch set last_error = $2 where id = $1", [id, error]);
}

async function send(queries: Queries, due: Due, event: string, now: Date, data: object): Promise<void> {
  const { id, name, operation, params } = due;
  const told = { watch_id: id, name, operation, params, ...data };
  await queries.query("select webhook_send($1, $2, $3, $4, $5)", [
    due.accountId,
    event,
    id,
    JSON.stringify(told),
    now,
  ]);
}

/** As many records as fit into a message. */
function whole(records: readonly object[]): object[] {
  let size = 0;
  return records.filter((record) => {
    size += Buffer.byteLength(JSON.stringify(record));
    return size <= LARGEST_RECORDS;
  });
}

/** Months are those of China, which is eight hours ahead of UTC. */
function startOfMonth(now: Date): Date {
  return new Date(`${chinaMonth(now)}-01T00:00:00+08:00`);
}

function startOfNextMonth(now: Date): Date {
  return startOfMonth(new Date(startOfMonth(now).getTime() + 32 * 86_400_000));
}
