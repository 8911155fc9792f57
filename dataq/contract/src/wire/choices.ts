/**
 * Allowed values of fields in the management API. This file contains no schemas, because the console reads it
 * too.
 */

/** What a key may do. */
export const scopes = [
  "data:query",
  "read:account",
  "manage:keys",
  "manage:members",
  "manage:billing",
  "manage:webhooks",
  "admin",
  // Parts of `admin`, for the people and programs of an operator that have one task each.
  "admin:read",
  "admin:support",
  "admin:finance",
] as const;
export type Scope = (typeof scopes)[number];

/** What a key may be created for instead of a list of scopes. */
export const keyRoles = ["owner", "developer", "finance", "read-only"] as const;

/** What a member may do in an account; the service maps each role to scopes. Only the operator's account has `support`. */
export const memberRoles = [...keyRoles, "support"] as const;
export type Role = (typeof memberRoles)[number];

/** Rate limits depend on the tier; `trial` becomes `standard` with the first top-up. */
export const tiers = ["trial", "standard", "pro", "operator"] as const;
export type Tier = (typeof tiers)[number];

export const accountRoles = ["admin", "customer"] as const;
export type AccountRole = (typeof accountRoles)[number];

/** A test key gets samples and is never charged. */
export const keyModes = ["live", "test"] as const;
export type KeyMode = (typeof keyModes)[number];

/**
 * Why a key was revoked: by hand, by a rotation without a grace period, or because it was found in public.
 */
export const revocationReasons = ["revoked", "rotated", "leaked", "person_left", "role_changed"] as const;
export type RevocationReason = (typeof revocationReasons)[number];

export const entryKinds = [
  "grant",
  "topup",
  "hold",
  "capture",
  "void",
  "reverse",
  "expire",
  "adjust",
  "refund",
  "chargeback",
] as const;
export type EntryKind = (typeof entryKinds)[number];

/** How a customer can pay. Each is off until the operator has set its keys. */
export const paymentProviders = ["stripe", "alipay", "wechat", "bank"] as const;
export type PaymentProvider = (typeof paymentProviders)[number];

/** What does not fit about a payment. `other` is what an earlier version wrote, in English. */
export const paymentTroubles = [
  "paid_twice",
  "other_amount",
  "account_closed",
  "returned_too_much",
  "other",
] as const;
export type PaymentTroubleCode = (typeof paymentTroubles)[number];

/** `open`: not paid yet. `failed`: the provider did not accept it. A late payment makes any of them `paid`. */
export const paymentStates = ["open", "paid", "expired", "failed"] as const;
export type PaymentState = (typeof paymentStates)[number];

/** How the service learned that a payment was made. */
export const paymentNews = ["notification", "question", "operator"] as const;
export type PaymentNews = (typeof paymentNews)[number];

/** `waiting`: no card is saved yet. `stopped`: several charges in a row failed. */
export const autoTopUpStates = ["off", "waiting", "on", "stopped"] as const;
export type AutoTopUpState = (typeof autoTopUpStates)[number];

/** Why a saved card was not charged. */
export const chargeFailures = [
  "card_declined",
  "insufficient_funds",
  "expired_card",
  "authentication_required",
  "no_answer",
  "other",
] as const;
export type ChargeFailure = (typeof chargeFailures)[number];

/** Why money of a payment went back. */
export const moneyReturns = ["refund", "chargeback"] as const;
export type MoneyReturnKind = (typeof moneyReturns)[number];

/** `failed`: the money did not leave, or came back; the account has its tokens again. */
export const moneyReturnStates = ["pending", "done", "failed"] as const;
export type MoneyReturnState = (typeof moneyReturnStates)[number];

/** Lines of a monthly statement: calls by operation, and every other entry. */
export const statementLines = [
  "calls",
  "grant",
  "topup",
  "expire",
  "adjust",
  "refund",
  "chargeback",
] as const;
export type StatementLine = (typeof statementLines)[number];

export const invoiceStates = ["requested", "issued"] as const;
export type InvoiceState = (typeof invoiceStates)[number];
/** What an operator lists: invoices in a state, or the issued ones that no longer fit what is left of their payments. */
export const invoiceFilters = [...invoiceStates, "to_correct"] as const;
export type InvoiceFilter = (typeof invoiceFilters)[number];
/** `red`: over what went back after an invoice was issued. `again`: over what came back after that. */
export const correctionKinds = ["red", "again"] as const;
export type CorrectionKind = (typeof correctionKinds)[number];

export const usageGroups = ["day", "operation", "key", "project", "code"] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** A waiting one lapses after a week. */
export const approvalMethods = ["POST", "PATCH"] as const;
export type ApprovalMethod = (typeof approvalMethods)[number];

export const approvalStates = ["waiting", "approved", "rejected"] as const;
export type ApprovalState = (typeof approvalStates)[number];

export const couponKinds = ["tokens", "percent"] as const;
export type CouponKind = (typeof couponKinds)[number];

export const voucherStates = ["open", "redeemed", "expired"] as const;
export type VoucherState = (typeof voucherStates)[number];

/** What a webhook can be sent. Only accounts of operators get the operators' events. */
export const webhookEvents = [
  "balance.low",
  "key.refused",
  "key.near_cap",
  "key.unusual",
  "project.near_budget",
  "top_up.failed",
  "payment.charged_back",
  "watch.found",
  "watch.stopped",
  "import.done",
  "refresh.done",
  "vendor.failing",
  "payments.failing",
  "customer.charged_back",
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];
export const operatorEvents: readonly WebhookEvent[] = [
  "import.done",
  "refresh.done",
  "vendor.failing",
  "payments.failing",
  "customer.charged_back",
];

/** Why the service disabled a webhook: a message failed for a day, or the endpoint answered 410. */
export const disabledReasons = ["failing", "gone"] as const;
export type DisabledReason = (typeof disabledReasons)[number];

export const deliveryStates = ["waiting", "delivered", "failed"] as const;
export type DeliveryState = (typeof deliveryStates)[number];
