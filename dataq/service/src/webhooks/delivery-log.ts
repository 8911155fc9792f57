import { Failure } from "@dataq/contract";
import type { DeliveryState, WebhookEvent } from "@dataq/contract/wire";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Database, Queries } from "../database/database.ts";
import { inTransaction } from "../database/transaction.ts";

/** One message to one webhook. */
export interface Delivery {
  /** The place in the log, for pages. */
  readonly place: number;
  readonly messageId: string;
  readonly type: WebhookEvent;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly lastAttemptAt: Date | null;
  readonly nextAttemptAt: Date | null;
  readonly status: number | null;
  readonly error: string | null;
  readonly answer: string | null;
  readonly body: string;
}

const KEPT_DAYS = 30;

/** Lists the messages of a webhook, newest first. If `before` is given, only those before it. */
export async function listDeliveries(
  database: Database,
  accountId: string,
  webhookId: string,
  filter: {
    readonly limit: number;
    readonly before?: number | undefined;
    readonly state?: DeliveryState | undefined;
  },
): Promise<Delivery[]> {
  await assertOwn(database, accountId, webhookId);
  const found = await database.reads.recent.query<Delivery>(
    `${SELECT} where d.webhook_id = $1 and ($3::bigint is null or d.id < $3) and ($4::text is null or d.state = $4)
     order by d.id desc limit $2`,
    [webhookId, filter.limit, filter.before ?? null, filter.state ?? null],
  );
  return found.rows;
}

/** Sends a message again at once, with its ID and body, and with all attempts. */
export async function redeliver(
  database: Database,
  accountId: string,
  webhookId: string,
  messageId: string,
  author: Author,
): Promise<Delivery> {
  return inTransaction(database, async (transaction) => {
    const enabled = await assertOwn(transaction, accountId, webhookId);
    if (!enabled) throw new Failure("webhook_disabled");
    const reset = await transaction.query<{ id: number }>(
      `update webhook_delivery set state = 'waiting', attempts = 0, next_attempt_at = $3
       where webhook_id = $1 and message_id = $2 returning id`,
      [webhookId, messageId, author.now],
    );
    const row = reset.rows[0];
    if (!row) throw new Failure("not_found", { what: `The message ${messageId}` });
    await transaction.query("select webhook_enqueue($1, $2)", [row.id, webhookId]);
    await writeAudit(transaction, author, "webhook.redeliver", webhookId, null, { message: messageId });
    return (await transaction.query<Delivery>(`${SELECT} where d.id = $1`, [row.id])).rows[0]!;
  });
}

/** Deletes messages that are older than 30 days and have been delivered or given up. */
export async function sweepMessages(queries: Queries, now: Date): Promise<void> {
  await queries.query(
    `delete from webhook_message m where created_at < $1
       and not exists (select from webhook_delivery d where d.message_id = m.id and d.state = 'waiting')`,
    [new Date(now.getTime() - KEPT_DAYS * 86_400_000)],
  );
}

/** Whether the webhook is enabled. Throws `not_found` for that of another account. */
async function assertOwn(queries: Queries, accountId: string, webhookId: string): Promise<boolean> {
  const found = await queries.query<{ enabled: boolean }>(
    "select enabled from webhook where account_id = $1 and id = $2",
    [accountId, webhookId],
  );
  if (!found.rows[0]) throw new Failure("not_found", { what: `The webhook ${webhookId}` });
  return found.rows[0].enabled;
}

const SELECT = `select d.id as place, d.message_id as "messageId", m.type, d.state, d.attempts,
  m.created_at as "createdAt", d.last_attempt_at as "lastAttemptAt", d.next_attempt_at as "nextAttemptAt",
  d.status, d.error, d.answer, m.body
  from webhook_delivery d join webhook_message m on m.id = d.message_id`;
