import { z } from "zod";
import type { ErrorCode } from "../errors.ts";
import { account, balance, ownAccount, redeemed, redemption } from "./account.ts";
import {
  accountsQuery,
  accountWithWallet,
  adjusted,
  adjustment,
  auditLine,
  auditQuery,
  changedAccount,
  createdAccount,
  createdVouchers,
  newAccount,
  newPrice,
  newVouchers,
  refund,
  refunded,
  toppedUp,
  topup,
  verdict,
  verifyQuery,
  voucher,
  vouchersQuery,
} from "./admin.ts";
import { catalog, catalogEntry, catalogQuery, olderCapabilities, price, pricing, status } from "./catalog.ts";
import { connector, connectorTest, connectorTrial } from "./connector.ts";
import { dataset } from "./dataset.ts";
import { job, jobDetail, jobList, newImport, newUpload, upload, uploadQuery } from "./job.ts";
import { apiKey, changedKey, createdKey, createdKeys, leakReport, newKey, newKeys, rotation } from "./key.ts";
import {
  entry,
  exportQuery,
  ledgerQuery,
  requestDetail,
  requestRow,
  requestsQuery,
  usageQuery,
  usageRow,
} from "./ledger.ts";
import { changedMember, createdInvitation, memberList, memberRole, newInvitation } from "./member.ts";
import { listOf, pageOf } from "./page.ts";
import { estimate } from "./query.ts";

/** A route of the public API: what it takes, what it answers, and how it refuses. */
export interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With its parameters in braces: `/v1/keys/{id}`. */
  readonly path: string;
  readonly summary: string;
  readonly tag: "data" | "account" | "keys" | "members" | "catalog" | "admin" | "service";
  /** `public` needs no key. */
  readonly access: "public" | "key";
  readonly query?: z.ZodObject;
  /** Absent for `/v1/data/…`, whose body depends on the operation. */
  readonly body?: z.ZodType;
  /** An empty body means `{}`. */
  readonly isBodyOptional?: true;
  readonly status: 200 | 201 | 202 | 204 | 302;
  /** JSON of this schema; a media type; or nothing. */
  readonly answer?: z.ZodType | MediaType | readonly MediaType[];
  /** Errors beside those that every such route can return (`errorCodesOf`). */
  readonly errors?: readonly ErrorCode[];
}

type MediaType = "text/csv" | "application/x-ndjson" | "text/plain" | "text/html";

const data = { tag: "data", access: "key", method: "POST", status: 200 } as const;
const read = { access: "key", method: "GET", status: 200 } as const;
const open = { tag: "catalog", access: "public", method: "GET", status: 200 } as const;
const admin = { tag: "admin", access: "key" } as const;
const callLimits = ["concurrency_limited", "daily_limit"] as const;

/** Every public route by the name that OpenAPI gives it (`operationId`). */
export const routes = {
  query: {
    ...data,
    path: "/v1/data/query",
    summary: "Call an operation",
    errors: [
      "missing_parameter",
      "insufficient_balance",
      "spend_limit_reached",
      "price_above_max",
      "account_frozen",
      "not_found",
      "not_cached",
      "idempotency_conflict",
      "idempotency_mismatch",
      "verification_required",
      "not_configured",
      "upstream_error",
      "upstream_timeout",
      ...callLimits,
    ],
  },
  estimate: {
    ...data,
    path: "/v1/data/estimate",
    summary: "Get the price of a call; free",
    answer: estimate,
    errors: ["missing_parameter", "verification_required", ...callLimits],
  },

  getBalance: { ...read, tag: "account", path: "/v1/balance", summary: "Get the balance", answer: balance },
  getAccount: {
    ...read,
    tag: "account",
    path: "/v1/account",
    summary: "Get the account, its limits and the key that asks",
    answer: ownAccount,
  },
  redeemVoucher: {
    tag: "account",
    access: "key",
    method: "POST",
    path: "/v1/vouchers/redeem",
    summary: "Redeem a voucher",
    body: redemption,
    status: 200,
    answer: redeemed,
    errors: ["invalid_voucher"],
  },
  listEntries: {
    ...read,
    tag: "account",
    path: "/v1/ledger",
    summary: "List ledger entries, newest first",
    query: ledgerQuery,
    answer: pageOf(entry),
  },
  exportLedger: {
    ...read,
    tag: "account",
    path: "/v1/ledger/export",
    summary: "Download the whole ledger with its hash chain",
    query: exportQuery,
    answer: ["text/csv", "application/x-ndjson"],
    errors: ["concurrency_limited"],
  },
  getUsage: {
    ...read,
    tag: "account",
    path: "/v1/usage",
    summary: "Get calls and tokens by day, operation and key",
    query: usageQuery,
    answer: listOf(usageRow),
  },
  downloadUsage: {
    ...read,
    tag: "account",
    path: "/v1/usage.csv",
    summary: "Download calls and tokens by day, operation and key",
    query: usageQuery,
    answer: "text/csv",
  },
  listRequests: {
    ...read,
    tag: "account",
    path: "/v1/requests",
    summary: "List calls, newest first",
    query: requestsQuery,
    answer: pageOf(requestRow),
  },
  getRequest: {
    ...read,
    tag: "account",
    path: "/v1/requests/{id}",
    summary: "Get a call with its ledger entries",
    answer: requestDetail,
  },

  listKeys: { ...read, tag: "keys", path: "/v1/keys", summary: "List API keys", answer: listOf(apiKey) },
  createKey: {
    tag: "keys",
    access: "key",
    method: "POST",
    path: "/v1/keys",
    summary: "Create an API key",
    body: newKey,
    isBodyOptional: true,
    status: 201,
    answer: createdKey,
    errors: ["ambiguous_parameter"],
  },
  changeKey: {
    tag: "keys",
    access: "key",
    method: "PATCH",
    path: "/v1/keys/{id}",
    summary: "Change an API key",
    body: changedKey,
    status: 200,
    answer: apiKey,
    errors: ["ambiguous_parameter"],
  },
  rotateKey: {
    tag: "keys",
    access: "key",
    method: "POST",
    path: "/v1/keys/{id}/rotate",
    summary: "Replace an API key with a new one",
    body: rotation,
    isBodyOptional: true,
    status: 201,
    answer: createdKey,
  },
  revokeKey: {
    tag: "keys",
    access: "key",
    method: "DELETE",
    path: "/v1/keys/{id}",
    summary: "Revoke an API key",
    status: 204,
  },
  reportLeak: {
    tag: "keys",
    access: "public",
    method: "POST",
    path: "/v1/keys/leak-report",
    summary: "Report a leaked key; the answer does not tell whether it is one",
    body: leakReport,
    status: 202,
    answer: z.strictObject({ status: z.literal("accepted") }),
    errors: ["rate_limited"],
  },

  listMembers: {
    ...read,
    tag: "members",
    path: "/v1/members",
    summary: "List members and open invitations",
    answer: memberList,
  },
  inviteMember: {
    tag: "members",
    access: "key",
    method: "POST",
    path: "/v1/members/invitations",
    summary: "Invite somebody to the account",
    body: newInvitation,
    status: 201,
    answer: createdInvitation,
    errors: ["already_exists"],
  },
  withdrawInvitation: {
    tag: "members",
    access: "key",
    method: "DELETE",
    path: "/v1/members/invitations/{id}",
    summary: "Withdraw an invitation",
    status: 204,
  },
  changeMember: {
    tag: "members",
    access: "key",
    method: "PATCH",
    path: "/v1/members/{id}",
    summary: "Change a member's role",
    body: memberRole,
    status: 200,
    answer: changedMember,
    errors: ["last_owner"],
  },
  removeMember: {
    tag: "members",
    access: "key",
    method: "DELETE",
    path: "/v1/members/{id}",
    summary: "Remove a member, or leave the account",
    status: 204,
    errors: ["last_owner"],
  },

  listOperations: {
    ...open,
    path: "/v1/catalog",
    summary: "List the operations with parameters, record and price",
    query: catalogQuery,
    answer: catalog,
  },
  getOperation: {
    ...open,
    path: "/v1/catalog/{operation}",
    summary: "Get an operation",
    answer: catalogEntry,
  },
  listPrices: {
    ...open,
    path: "/v1/pricing",
    summary: "List prices in force and announced",
    answer: pricing,
  },
  getStatus: {
    ...open,
    path: "/v1/status",
    summary: "Get the state and the age of the data",
    answer: z.strictObject({ data: status }),
  },
  getCapabilities: {
    ...open,
    path: "/capabilities.json",
    summary: "List the operations in the form of the older client",
    answer: olderCapabilities,
  },
  getOpenApi: {
    ...open,
    path: "/openapi.json",
    summary: "Get this document",
    answer: z.record(z.string(), z.unknown()),
  },
  getDocs: { ...open, path: "/docs", summary: "Read the reference", answer: "text/html" },
  getErrorDocs: { ...open, path: "/docs/errors/{code}", summary: "Read about an error code", status: 302 },
  getLlmsText: {
    ...open,
    path: "/llms.txt",
    summary: "Read the reference as an agent",
    answer: "text/plain",
  },

  getHealth: {
    ...open,
    tag: "service",
    path: "/healthz",
    summary: "Check that the process runs",
    answer: z.strictObject({ status: z.literal("ok") }),
  },
  getReadiness: {
    ...open,
    tag: "service",
    path: "/readyz",
    summary: "Check that the service can answer calls",
    answer: z.strictObject({ status: z.literal("ready") }),
  },
  getMetrics: {
    ...read,
    tag: "service",
    path: "/metrics",
    summary: "Get metrics for Prometheus; from this machine without a key",
    answer: "text/plain",
  },

  listAccounts: {
    ...admin,
    method: "GET",
    path: "/admin/v1/accounts",
    summary: "List accounts, newest first",
    query: accountsQuery,
    status: 200,
    answer: pageOf(account),
  },
  createAccount: {
    ...admin,
    method: "POST",
    path: "/admin/v1/accounts",
    summary: "Create an account",
    body: newAccount,
    status: 201,
    answer: createdAccount,
    errors: ["already_exists"],
  },
  getAnyAccount: {
    ...admin,
    method: "GET",
    path: "/admin/v1/accounts/{id}",
    summary: "Get an account with its wallet",
    status: 200,
    answer: accountWithWallet,
  },
  changeAccount: {
    ...admin,
    method: "PATCH",
    path: "/admin/v1/accounts/{id}",
    summary: "Change an account's tier or credit line, freeze or unfreeze it",
    body: changedAccount,
    status: 200,
    answer: accountWithWallet,
    errors: ["insufficient_balance"],
  },
  createAccountKeys: {
    ...admin,
    method: "POST",
    path: "/admin/v1/accounts/{id}/keys",
    summary: "Create API keys for an account",
    body: newKeys,
    isBodyOptional: true,
    status: 201,
    answer: createdKeys,
  },
  adjustBalance: {
    ...admin,
    method: "POST",
    path: "/admin/v1/accounts/{id}/adjust",
    summary: "Adjust an account's balance",
    body: adjustment,
    status: 200,
    answer: adjusted,
    errors: ["insufficient_balance"],
  },
  topUpAccount: {
    ...admin,
    method: "POST",
    path: "/admin/v1/accounts/{id}/topups",
    summary: "Record a payment",
    body: topup,
    status: 201,
    answer: toppedUp,
    errors: ["already_exists"],
  },
  refundRequest: {
    ...admin,
    method: "POST",
    path: "/admin/v1/refunds",
    summary: "Refund a call",
    body: refund,
    status: 200,
    answer: refunded,
    errors: ["not_found", "already_exists"],
  },
  listVouchers: {
    ...admin,
    method: "GET",
    path: "/admin/v1/vouchers",
    summary: "List vouchers, newest first, without their codes",
    query: vouchersQuery,
    status: 200,
    answer: pageOf(voucher),
  },
  createVouchers: {
    ...admin,
    method: "POST",
    path: "/admin/v1/vouchers",
    summary: "Create vouchers",
    body: newVouchers,
    status: 201,
    answer: createdVouchers,
  },
  publishPrice: {
    ...admin,
    method: "POST",
    path: "/admin/v1/prices",
    summary: "Announce a price",
    body: newPrice,
    status: 201,
    answer: price,
  },
  listAuditLines: {
    ...admin,
    method: "GET",
    path: "/admin/v1/audit",
    summary: "List the audit log, newest first",
    query: auditQuery,
    status: 200,
    answer: pageOf(auditLine),
  },
  exportAuditLog: {
    ...admin,
    method: "GET",
    path: "/admin/v1/audit/export",
    summary: "Download the whole audit log with its hash chain",
    query: exportQuery,
    status: 200,
    answer: ["text/csv", "application/x-ndjson"],
    errors: ["concurrency_limited"],
  },
  verifyLedger: {
    ...admin,
    method: "GET",
    path: "/admin/v1/ledger/verify",
    summary: "Check the books and the audit log",
    query: verifyQuery,
    status: 200,
    answer: verdict,
    errors: ["concurrency_limited"],
  },
  listJobs: {
    ...admin,
    method: "GET",
    path: "/admin/v1/jobs",
    summary: "List imports and index builds",
    status: 200,
    answer: jobList,
  },
  startImport: {
    ...admin,
    method: "POST",
    path: "/admin/v1/imports",
    summary: "Start an import",
    body: newImport,
    status: 202,
    answer: job,
    errors: ["already_exists", "concurrency_limited"],
  },
  refreshIndex: {
    ...admin,
    method: "POST",
    path: "/admin/v1/index/refresh",
    summary: "Start an index build",
    status: 202,
    answer: job,
    errors: ["already_exists", "concurrency_limited"],
  },
  getJob: {
    ...admin,
    method: "GET",
    path: "/admin/v1/jobs/{id}",
    summary: "Get a job with the report of its import",
    status: 200,
    answer: jobDetail,
  },
  startUpload: {
    ...admin,
    method: "POST",
    path: "/admin/v1/uploads",
    summary: "Announce a file to upload",
    body: newUpload,
    status: 201,
    answer: upload,
    errors: ["body_too_large"],
  },
  uploadPiece: {
    ...admin,
    method: "POST",
    path: "/admin/v1/uploads/{id}",
    summary: "Upload the next piece of a file; the body is its bytes",
    query: uploadQuery,
    status: 200,
    answer: upload,
  },
  listDatasets: {
    ...admin,
    method: "GET",
    path: "/admin/v1/datasets",
    summary: "List data sets, and the removed ones that can be restored",
    status: 200,
    answer: listOf(dataset),
  },
  getDataset: {
    ...admin,
    method: "GET",
    path: "/admin/v1/datasets/{operation}/{name}",
    summary: "Get a data set",
    status: 200,
    answer: dataset,
  },
  removeDataset: {
    ...admin,
    method: "POST",
    path: "/admin/v1/datasets/{operation}/{name}/remove",
    summary: "Start the removal of a data set",
    status: 202,
    answer: job,
    errors: ["already_exists", "concurrency_limited"],
  },
  restoreDataset: {
    ...admin,
    method: "POST",
    path: "/admin/v1/datasets/{operation}/{name}/restore",
    summary: "Start the return of what a data set was before it was replaced or removed",
    status: 202,
    answer: job,
    errors: ["already_exists", "concurrency_limited"],
  },
  listConnectors: {
    ...admin,
    method: "GET",
    path: "/admin/v1/connectors",
    summary: "List contracts with vendors",
    status: 200,
    answer: listOf(connector),
  },
  testConnector: {
    ...admin,
    method: "POST",
    path: "/admin/v1/connectors/{operation}/test",
    summary: "Ask a vendor once and show each step",
    body: connectorTest,
    isBodyOptional: true,
    status: 200,
    answer: connectorTrial,
  },
} as const satisfies Record<string, Route>;

/** Every error that a route can return: its own, and those of all routes like it. */
export function errorCodesOf(route: Route): readonly ErrorCode[] {
  const takesBody = route.method === "POST" || route.method === "PATCH";
  const codes: ErrorCode[] = [
    ...(takesBody ? (["invalid_json", "body_too_large", "unsupported_media_type"] as const) : []),
    ...(route.path.includes("{") ? (["not_found"] as const) : []),
    ...(route.access === "key"
      ? ([
          "missing_api_key",
          "invalid_api_key",
          "ambiguous_credentials",
          "key_in_url",
          "scope_denied",
          "grant_denied",
          "live_key_required",
          "ip_denied",
          "foreign_page",
          "rate_limited",
        ] as const)
      : []),
    ...(route.errors ?? []),
    "invalid_params",
    "host_not_allowed",
    "internal_error",
    "unavailable",
  ];
  return [...new Set(codes)];
}

/** The route that answers a method and a path, if one does. */
export function findRoute(method: string, path: string): Route | undefined {
  return patterns.find(({ route, pattern }) => route.method === method && pattern.test(path))?.route;
}

const patterns = Object.values(routes as Record<string, Route>)
  // A literal path comes before one with parameters.
  .sort((a, b) => Number(a.path.includes("{")) - Number(b.path.includes("{")))
  .map((route) => {
    const source = route.path.replace(/[.+*]/g, "\\$&").replace(/\{[^}]+\}/g, "[^/]+");
    return { route, pattern: new RegExp(`^${source}/?$`) };
  });
