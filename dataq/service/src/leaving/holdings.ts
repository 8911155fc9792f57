/** What becomes of a table's rows when their account is closed, and what the account's export has of it. */
export interface Holding {
  /** The column that names the account. */
  readonly by: string;
  /**
   * `delete`: nothing requires it. `keep`: the books, which Chinese law has sellers keep: accounting records for ten
   * years or longer (会计档案管理办法), data of transactions for three (电子商务法, 31).
   */
  readonly atClosing: "delete" | "keep";
  /** The column that orders the export. Tables without one hold nothing that the account does not see elsewhere in it. */
  readonly order?: string;
  /** Columns that no export contains: secrets, and what only this service can read. */
  readonly secret?: readonly string[];
}

/** Every table that names an account; a test compares the list with the database. Children come before their parents. */
export const holdings: Readonly<Record<string, Holding>> = {
  account: { by: "id", atClosing: "keep", order: "id" },
  wallet: { by: "account_id", atClosing: "keep", order: "account_id" },
  entry: { by: "account_id", atClosing: "keep", order: "seq" },
  seal: { by: "account_id", atClosing: "keep" },
  verified: { by: "account_id", atClosing: "keep" },
  hold: { by: "account_id", atClosing: "keep" },
  payment: { by: "account_id", atClosing: "keep", order: "id" },
  invoice: { by: "account_id", atClosing: "keep", order: "id" },
  voucher: { by: "redeemed_by", atClosing: "keep", order: "hint", secret: ["code_sha256"] },
  usage_quarter: { by: "account_id", atClosing: "keep" },
  usage_position: { by: "account_id", atClosing: "keep" },
  // By these, old prices can be computed again.
  account_price: { by: "account_id", atClosing: "keep" },
  special_price: { by: "account_id", atClosing: "keep" },
  discount: { by: "account_id", atClosing: "keep" },
  volume_day: { by: "account_id", atClosing: "keep" },
  free_use: { by: "account_id", atClosing: "keep" },
  // Decisions about money.
  approval: { by: "account_id", atClosing: "keep" },
  // Gone after a day, for which they count together.
  sum_in_flight: { by: "account_id", atClosing: "keep" },
  // What operators wrote about the customer, who gets it with the export. Like the audit log, it can only be added to.
  account_note: { by: "account_id", atClosing: "keep", order: "id" },
  // Logs of a network are kept for half a year (网络安全法); the sweeper then deletes those of closed accounts.
  request: { by: "account_id", atClosing: "keep", order: "id" },
  // Revoked and without their names: entries of the ledger refer to them.
  api_key: { by: "account_id", atClosing: "keep", order: "id", secret: ["hmac"] },
  // What was bought, and how much of it calls used.
  package: { by: "account_id", atClosing: "keep", order: "id" },
  package_position: { by: "account_id", atClosing: "keep" },
  package_use: { by: "account_id", atClosing: "keep" },
  // What the budgets were, and what was spent of them.
  project: { by: "account_id", atClosing: "keep", order: "id" },
  idempotency: { by: "account_id", atClosing: "delete" },
  session_spend: { by: "account_id", atClosing: "delete" },
  asked: { by: "account_id", atClosing: "delete" },
  open_call: { by: "account_id", atClosing: "delete" },
  invoice_buyer: { by: "account_id", atClosing: "delete", order: "account_id" },
  auto_top_up: { by: "account_id", atClosing: "delete", order: "account_id" },
  alert: { by: "account_id", atClosing: "delete" },
  alert_threshold: { by: "account_id", atClosing: "delete", order: "account_id" },
  alert_told: { by: "account_id", atClosing: "delete" },
  watch: { by: "account_id", atClosing: "delete", order: "id" },
  webhook: { by: "account_id", atClosing: "delete", order: "id", secret: ["secret", "old_secret"] },
  webhook_message: { by: "account_id", atClosing: "delete", order: "id" },
  "people.invitation": { by: "account_id", atClosing: "delete", order: "id", secret: ["token_sha256"] },
  "people.local_link": { by: "account_id", atClosing: "delete" },
  // `closing.ts` also deletes people who have no other account.
  "people.member": { by: "account_id", atClosing: "delete" },
};
