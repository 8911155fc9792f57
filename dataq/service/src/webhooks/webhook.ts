import { Failure } from "@dataq/contract";
import type { DisabledReason, WebhookEvent } from "@dataq/contract/wire";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Database, Queries } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import { inTransaction } from "../database/transaction.ts";
import { makeSecret, type SecretBox } from "./secret.ts";
import { assertPossibleTarget, type TargetRule } from "./targets.ts";

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly enabled: boolean;
  readonly disabledReason: DisabledReason | null;
  readonly createdAt: Date;
  readonly oldSecretUntil: Date | null;
}

export interface WantedWebhook {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly enabled?: boolean | undefined;
}

/** An account may have this many webhooks. */
export const mostWebhooks = 20;

/** Creates, changes and deletes the webhooks of accounts. */
export class Webhooks {
  readonly #database: Database;
  readonly #box: SecretBox;
  readonly #rule: TargetRule;

  constructor(database: Database, box: SecretBox, rule: TargetRule) {
    this.#database = database;
    this.#box = box;
    this.#rule = rule;
  }

  async list(accountId: string): Promise<Webhook[]> {
    const found = await this.#database.query<Webhook>(
      `select ${COLUMNS} from webhook where account_id = $1 order by id`,
      [accountId],
    );
    return found.rows;
  }

  /** Only this result and that of a rotation contain the secret. */
  async create(
    accountId: string,
    wanted: WantedWebhook,
    author: Author,
  ): Promise<{ webhook: Webhook; secret: string }> {
    assertPossibleTarget(wanted.url, this.#rule);
    const id = makeIdentifier("whk", author.now);
    const secret = makeSecret();
    return inTransaction(this.#database, async (transaction) => {
      // Locks the account, so that simultaneous requests cannot exceed the limit together.
      await transaction.query("select from account where id = $1 for update", [accountId]);
      const present = await transaction.query<{ count: number }>(
        "select count(*) from webhook where account_id = $1",
        [accountId],
      );
      if (present.rows[0]!.count >= mostWebhooks)
        throw new Failure("too_many", { what: "webhooks", limit: mostWebhooks });
      const made = await transaction.query<Webhook>(
        `insert into webhook (id, account_id, url, events, enabled, secret, created_at)
         values ($1, $2, $3, $4, $5, $6, $7) returning ${COLUMNS}`,
        [
          id,
          accountId,
          wanted.url,
          wanted.events,
          wanted.enabled ?? true,
          this.#box.seal(secret, id),
          author.now,
        ],
      );
      const webhook = made.rows[0]!;
      await writeAudit(transaction, author, "webhook.create", id, null, describe(webhook));
      return { webhook, secret };
    });
  }

  /** Enabling it also forgets why the service disabled it. */
  async change(
    accountId: string,
    id: string,
    wanted: Partial<WantedWebhook>,
    author: Author,
  ): Promise<Webhook> {
    if (wanted.url !== undefined) assertPossibleTarget(wanted.url, this.#rule);
    return inTransaction(this.#database, async (transaction) => {
      const before = await lockWebhook(transaction, accountId, id);
      const changed = await transaction.query<Webhook>(
        `update webhook set url = $2, events = $3, enabled = $4,
                disabled_reason = case when $4 then null else disabled_reason end
         where id = $1 returning ${COLUMNS}`,
        [id, wanted.url ?? before.url, wanted.events ?? before.events, wanted.enabled ?? before.enabled],
      );
      const webhook = changed.rows[0]!;
      await writeAudit(transaction, author, "webhook.change", id, describe(before), describe(webhook));
      return webhook;
    });
  }

  async remove(accountId: string, id: string, author: Author): Promise<void> {
    await inTransaction(this.#database, async (transaction) => {
      const before = await lockWebhook(transaction, accountId, id);
      await transaction.query("delete from webhook where id = $1", [id]);
      await writeAudit(transaction, author, "webhook.delete", id, describe(before), null);
    });
  }

  /** Gives the webhook a new secret. For `graceS` seconds messages are signed with the old one too. */
  async rotate(
    accountId: string,
    id: string,
    graceS: number,
    author: Author,
  ): Promise<{ webhook: Webhook; secret: string }> {
    const secret = makeSecret();
    return inTransaction(this.#database, async (transaction) => {
      await lockWebhook(transaction, accountId, id);
      const rotated = await transaction.query<Webhook>(
        `update webhook set old_secret = case when $4::timestamptz is null then null else secret end,
                old_secret_until = $4, secret = $3
         where account_id = $1 and id = $2 returning ${COLUMNS}`,
        [
          accountId,
          id,
          this.#box.seal(secret, id),
          graceS === 0 ? null : new Date(author.now.getTime() + graceS * 1000),
        ],
      );
      await writeAudit(transaction, author, "webhook.rotate", id, null, { grace_s: graceS });
      return { webhook: rotated.rows[0]!, secret };
    });
  }
}

async function lockWebhook(queries: Queries, accountId: string, id: string): Promise<Webhook> {
  const found = await queries.query<Webhook>(
    `select ${COLUMNS} from webhook where account_id = $1 and id = $2 for update`,
    [accountId, id],
  );
  if (!found.rows[0]) throw new Failure("not_found", { what: `The webhook ${id}` });
  return found.rows[0];
}

const COLUMNS = `id, url, events, enabled, disabled_reason as "disabledReason", created_at as "createdAt",
  old_secret_until as "oldSecretUntil"`;

/** The path and the query of a URL may contain secrets of the receiver. */
function describe({ url, events, enabled }: Webhook): object {
  return { url: new URL(url).origin, events, enabled };
}
