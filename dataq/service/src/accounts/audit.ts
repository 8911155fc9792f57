import type { Queries } from "../database/database.ts";

/** Who changes something, and through which request. */
export interface Author {
  /** `key_…`, `system`, or `operator` for the command line. */
  readonly actor: string;
  readonly now: Date;
  readonly ip?: string | undefined;
  readonly userAgent?: string | undefined;
  readonly requestId?: string | undefined;
}

/** Actions that the log records. The console translates each of them. */
export const auditActions = [
  "account.close",
  "account.create",
  "account.credit",
  "account.freeze",
  "account.note",
  "account.tier",
  "account.unfreeze",
  "alerts.change",
  "account.view",
  "approval.ask",
  "approval.give",
  "approval.reject",
  "export.account",
  "export.audit",
  "export.ledger",
  "import.start",
  "dataset.remove",
  "dataset.restore",
  "connector.connect",
  "connector.disconnect",
  "connector.test",
  "coupon.create",
  "coupon.end",
  "coupon.redeem",
  "index.refresh",
  "invoice.buyer",
  "invoice.correct",
  "invoice.issue",
  "invoice.request",
  "key.change",
  "key.create",
  "key.leak",
  "key.refused",
  "key.revoke",
  "key.rotate",
  "package.end",
  "package.offer",
  "project.change",
  "project.create",
  "topup.allow",
  "topup.end",
  "project.delete",
  "ledger.adjust",
  "ledger.reverse",
  "ledger.topup",
  "login.failure",
  "login.success",
  "logout.sso",
  "model.pull",
  "maintenance.begin",
  "maintenance.end",
  "member.invite",
  "member.join",
  "member.remove",
  "member.role",
  "member.withdraw",
  "payment.confirm",
  "payment.create",
  "payment.given_back",
  "payment.paid",
  "payment.return",
  "payment.trouble",
  "person.approve",
  "person.link",
  "person.reset_link",
  "price.account",
  "price.free",
  "price.publish",
  "price.volume",
  "terms.accept",
  "voucher.create",
  "voucher.redeem",
  "watch.change",
  "watch.create",
  "watch.delete",
  "webhook.change",
  "webhook.create",
  "webhook.delete",
  "webhook.disable",
  "webhook.redeliver",
  "webhook.rotate",
] as const;
export type AuditAction = (typeof auditActions)[number];

/** Actors without a key or a session. */
export const namedActors = ["leak-report", "nobody", "operator", "system"] as const;

/** Writes one line. `before` and `after` must contain neither keys nor query texts. */
export async function writeAudit(
  queries: Queries,
  author: Author,
  action: AuditAction,
  target: string,
  before: object | null,
  after: object | null,
): Promise<void> {
  await queries.query(
    `insert into audit (at, actor, action, target, before, after, ip, user_agent, request_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      author.now,
      author.actor,
      action,
      target,
      before && jsonOf(before),
      after && jsonOf(after),
      author.ip ?? null,
      author.userAgent?.slice(0, 200) ?? null,
      author.requestId ?? null,
    ],
  );
}

/** JSON for PostgreSQL, which rejects half a surrogate pair in JSON. Text columns store U+FFFD for it. */
function jsonOf(value: object): string {
  return JSON.stringify(value, (_name, inner) => (typeof inner === "string" ? inner.toWellFormed() : inner));
}

export interface AuditLine {
  readonly id: number;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly before: object | null;
  readonly after: object | null;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly request_id: string | null;
}

export const auditColumns = [
  "id",
  "at",
  "actor",
  "action",
  "target",
  "before",
  "after",
  "ip",
  "user_agent",
  "request_id",
] as const satisfies readonly (keyof AuditLine)[];

/** Reads the log, newest first. If `before` is given, returns only lines before it. */
export async function readAudit(queries: Queries, limit: number, before?: number): Promise<AuditLine[]> {
  const found = await queries.query<AuditLine>(
    `select ${auditColumns.join(", ")} from audit
     where ($2::bigint is null or id < $2) order by id desc limit $1`,
    [limit, before ?? null],
  );
  return found.rows;
}
