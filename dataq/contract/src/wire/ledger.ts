import { z } from "zod";
import { findOperation } from "../catalog.ts";
import type { Received } from "./answer.ts";
import { entryKinds, usageGroups } from "./choices.ts";
import { moment } from "./moment.ts";
import { pageLimit } from "./page.ts";

/** One change of an account's tokens. The sum of `tokens` over all entries is the balance. */
export const entry = z.strictObject({
  id: z.string(),
  at: moment,
  kind: z.enum(entryKinds),
  request_id: z.string().nullable(),
  operation: z.string().nullable(),
  key_id: z.string().nullable(),
  tokens: z.number().int(),
  balance_after: z.number().int(),
  price_version: z.number().int().nullable(),
  note: z.string().nullable(),
});
export type Entry = Received<typeof entry>;

export const ledgerQuery = z.strictObject({
  cursor: z.coerce.number().int().positive().optional(),
  limit: pageLimit,
});
export const exportQuery = z.strictObject({ format: z.enum(["csv", "jsonl"]).default("jsonl") });

/** Calls and tokens of a group; days are those of China's calendar. */
export const usageRow = z.strictObject({
  day: z.string().optional(),
  operation: z
    .string()
    .nullable()
    .optional()
    .meta({ description: "Null for calls without a known operation" }),
  key: z.string().optional(),
  project: z.string().nullable().optional().meta({ description: "Null for calls outside of projects" }),
  code: z.string().nullable().optional().meta({ description: "Null for calls that succeeded" }),
  calls: z.number().int(),
  billed_calls: z.number().int(),
  cached_calls: z.number().int(),
  failed_calls: z.number().int().meta({ description: "Calls that returned an error" }),
  tokens: z.number().int(),
});
export type UsageRow = Received<typeof usageRow>;

const day = z.iso.date().refine((date) => date >= "2000-01-01" && date <= "2999-12-31", {
  error: "must be a date from 2000-01-01 to 2999-12-31",
  params: { fix: "send a date such as 2026-01-31", fixZh: "请发送日期，例如 2026-01-31" },
});
export const usageQuery = z.strictObject({
  from: day.optional().meta({ description: "First day, China time; 30 days before `to` by default" }),
  to: day.optional().meta({ description: "Last day, China time; today by default" }),
  group_by: z
    .string()
    .default("day")
    .transform((text) => [...new Set(text.split(","))])
    .pipe(z.array(z.enum(usageGroups)))
    .meta({
      description:
        "day, operation, key, project, code (of the error), or several of them, separated by commas",
      pattern: `^(${usageGroups.join("|")})(,(${usageGroups.join("|")}))*$`,
    }),
});

/** One call. The request log keeps neither parameters nor answers. */
export const requestRow = z.strictObject({
  id: z.string(),
  at: moment,
  key_id: z.string(),
  operation: z.string().nullable(),
  status: z.number().int(),
  code: z.string().nullable(),
  cached: z.boolean(),
  latency_ms: z.number().int(),
  tokens: z.number().int(),
  client_request_id: z.string().nullable(),
});
export type RequestRow = Received<typeof requestRow>;

/** One call with its ledger entries. If the log has lost the call, only the entries are known. */
export const requestDetail = requestRow
  .partial()
  .required({ id: true, at: true, operation: true })
  .extend({
    entries: z.array(entry),
    account_id: z.string().optional().meta({ description: "The account that made the call; for operators" }),
    reason: z
      .string()
      .nullable()
      .optional()
      .meta({ description: "Why the source behind the operation failed; for operators" }),
    vendor_requests: z
      .array(
        z.strictObject({
          contract: z.string(),
          at: moment,
          cost_fen: z.number(),
          outcome: z
            .string()
            .nullable()
            .meta({ description: "answered, failed or left; null if it is not known" }),
          status: z.number().int().nullable(),
          ms: z.number().int().nullable(),
        }),
      )
      .optional()
      .meta({ description: "The requests to vendors that this call caused, with their cost; for operators" }),
  });
export type RequestDetail = Received<typeof requestDetail>;

export const requestsQuery = z.strictObject({
  cursor: z.string().max(64).optional(),
  limit: pageLimit,
  operation: z
    .string()
    .refine((name) => findOperation(name) !== undefined, {
      error: "is not an operation",
      params: { fix: "send a name from /v1/catalog", fixZh: "请使用 /v1/catalog 中的接口名" },
    })
    .optional(),
  status: z.coerce.number().int().min(100).max(599).optional(),
  key: z.string().min(1).max(64).optional().meta({ description: "Only calls of the key with this id" }),
});
