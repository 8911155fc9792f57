import type { DisabledReason } from "@dataq/contract/wire";
import { writeAudit } from "../accounts/audit.ts";
import type { Database, Queries } from "../database/database.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";
import { type Outcome, post } from "./post.ts";
import type { SecretBox } from "./secret.ts";
import { signedHeaders } from "./signature.ts";
import type { TargetRule } from "./targets.ts";

/** A webhook that the service disabled. */
export interface DisabledWebhook {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly reason: DisabledReason;
}

export interface DeliverParts {
  readonly database: Database;
  readonly box: SecretBox;
  readonly rule: TargetRule;
  readonly clock: () => Date;
  /** In the transaction that disables it. */
  readonly onDisabled: (webhook: DisabledWebhook, transaction: Transaction) => Promise<void>;
}

/**
 * With graphile-worker's waits of e^n seconds, n at most 10, thirteen attempts take 22 hours: after 3 s, 10 s, 30 s,
 * 85 s, 4 min, 11 min, 29 min, 79 min, 3.5 h, 9.7 h, 15.8 h and 21.9 h.
 */
export const mostAttempts = 13;
const LIMIT_MS = 10_000;

/**
 * Attempts a delivery once and writes down the outcome. `run` counts the runs of its job. Throws if the job must run
 * again. If the process is killed after the endpoint has answered, the message is sent again with the same ID.
 */
export async function deliver(
  parts: DeliverParts,
  id: number,
  run: { readonly attempts: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const { database, clock } = parts;
  const found = await database.query<Due>(DUE, [id]);
  const due = found.rows[0];
  if (due?.state !== "waiting") return;
  if (!due.enabled) return void (await database.query(GIVE_UP, [id]));
  const now = clock();
  const secrets = [due.secret, ...(due.oldSecret && due.oldSecretUntil! > now ? [due.oldSecret] : [])];
  const headers = signedHeaders(
    { id: due.messageId, body: due.body },
    secrets.map((sealed) => parts.box.open(sealed, due.webhookId)),
    now,
  );
  const outcome = await post(due.url, headers, due.body, {
    rule: parts.rule,
    limitMs: LIMIT_MS,
    signal: run.signal,
  });
  if (run.signal?.aborted) throw new Error("The service is stopping.");
  const isDelivered = outcome.status !== null && outcome.status >= 200 && outcome.status < 300;
  const isLast = due.attempts + 1 >= mostAttempts || outcome.status === 410;
  await write(parts, due, outcome, {
    state: isDelivered ? "delivered" : isLast ? "failed" : "waiting",
    next: isDelivered || isLast ? null : new Date(clock().getTime() + waitMs(run.attempts)),
  });
  if (!isDelivered && !isLast) throw new Error("The message will be sent again.");
}

interface Due {
  readonly id: number;
  readonly state: string;
  readonly attempts: number;
  readonly messageId: string;
  readonly body: string;
  readonly createdAt: Date;
  readonly webhookId: string;
  readonly accountId: string;
  readonly url: string;
  readonly enabled: boolean;
  readonly secret: Buffer;
  readonly oldSecret: Buffer | null;
  readonly oldSecretUntil: Date | null;
}

const DUE = `select d.id, d.state, d.attempts, d.message_id as "messageId", m.body, m.created_at as "createdAt",
  d.webhook_id as "webhookId", w.account_id as "accountId", w.url, w.enabled, w.secret, w.old_secret as "oldSecret",
  w.old_secret_until as "oldSecretUntil"
  from webhook_delivery d join webhook_message m on m.id = d.message_id join webhook w on w.id = d.webhook_id
  where d.id = $1`;

const GIVE_UP = `update webhook_delivery set state = 'failed', next_attempt_at = null, status = null, answer = null,
  error = 'The webhook was disabled.' where id = $1`;

async function write(
  { database, clock, onDisabled }: DeliverParts,
  due: Due,
  { status, answer, error }: Outcome,
  { state, next }: { readonly state: string; readonly next: Date | null },
): Promise<void> {
  const now = clock();
  await inTransaction(database, async (transaction) => {
    // A redelivery may have reset the attempts meanwhile; this attempt counts as its first.
    await transaction.query(
      `update webhook_delivery set state = $2, attempts = attempts + 1, last_attempt_at = $3, next_attempt_at = $4,
              status = $5, answer = $6, error = $7 where id = $1`,
      [due.id, state, now, next, status, answer, error],
    );
    if (state !== "failed") return;
    const reason = status === 410 ? "gone" : "failing";
    if (!(await disable(transaction, due, reason, now))) return;
    const { webhookId: id, accountId, url } = due;
    await onDisabled({ id, accountId, url, reason }, transaction);
  });
}

/** If the endpoint accepted another message since this one was written, only this message has failed. */
async function disable(queries: Queries, due: Due, reason: DisabledReason, now: Date): Promise<boolean> {
  const disabled = await queries.query(
    `update webhook set enabled = false, disabled_reason = $2 where id = $1 and enabled and ($2 = 'gone' or not exists (
       select from webhook_delivery d where d.webhook_id = $1 and d.state = 'delivered' and d.last_attempt_at >= $3))`,
    [due.webhookId, reason, due.createdAt],
  );
  if (disabled.rowCount === 0) return false;
  await writeAudit(queries, { actor: "system", now }, "webhook.disable", due.webhookId, null, { reason });
  return true;
}

/** How long graphile-worker waits after the nth run of a job. */
function waitMs(n: number): number {
  return Math.exp(Math.min(n, 10)) * 1000;
}
