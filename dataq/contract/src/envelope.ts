import { z } from "zod";
import type { Operation } from "./operation.ts";

/** The cost of a call. `reason` says why it differs from the list price. */
export const usage = z.object({
  tokens: z.number().int(),
  list_tokens: z.number().int(),
  cached: z.boolean(),
  billed: z.boolean(),
  reason: z
    .string()
    .nullable()
    .describe(
      "cache_hit, no_result, not_held, insufficient_elements, sample, sandbox, replayed, free_tier, account_price, volume_discount, coupon",
    ),
  balance: z.number().int(),
  trial_balance: z.number().int(),
  budget_left: z
    .number()
    .int()
    .optional()
    .describe("What is left of the session's budget. Present only if the request has X-Tokens-Budget"),
});
export type Usage = z.infer<typeof usage>;

/** The state of the index that an answer comes from. */
export const indexState = z.object({
  snapshot: z.string(),
  refreshed_at: z.string(),
  next_refresh_at: z.string().nullable(),
  size: z.number().int(),
});
export type IndexState = z.infer<typeof indexState>;

/** What is held, where a question asks for more. The days are null where records have none. */
export const partHeld = z.object({
  text: z.object({ en: z.string(), zh: z.string() }),
  oldest_day: z.string().nullable(),
  newest_day: z.string().nullable(),
});
export type PartHeld = z.infer<typeof partHeld>;

/** The answer of `POST /v1/data/query`. The specification defines `data`, `page` and `total_pages`. */
export interface Envelope {
  data: readonly object[] | object;
  page: number;
  page_size: number;
  total: number;
  total_relation: "eq" | "gte";
  total_pages: number;
  has_more: boolean;
  domain: string;
  operation: string;
  request_id: string;
  usage: Usage;
  warnings: readonly string[];
  index?: IndexState;
  summary?: object;
  relaxed?: boolean;
  sample?: true;
  coverage?: PartHeld;
}

/** The schema of an operation's answer, for OpenAPI and for tests. */
export function envelopeSchema(operation: Operation) {
  return z.object({
    data: operation.kind === "list" ? z.array(operation.record) : operation.record,
    page: z.number().int(),
    page_size: z.number().int(),
    total: z.number().int(),
    total_relation: z.enum(["eq", "gte"]),
    total_pages: z.number().int(),
    has_more: z.boolean(),
    domain: z.string(),
    operation: z.string(),
    request_id: z.string(),
    usage,
    warnings: z.array(z.string()),
    index: indexState.optional(),
    summary: operation.summary === undefined ? z.object({}).optional() : operation.summary.optional(),
    relaxed: z.boolean().optional(),
    sample: z
      .literal(true)
      .optional()
      .describe("The records are generated samples, not facts; the call is free"),
    coverage: partHeld
      .optional()
      .describe(
        "What is held. Present if the question asks for more, such as another year, platform or region, so that the answer is a part",
      ),
  });
}

/** The body of every error: a problem document with `retry_after` at top level, and a nested `error`. */
export const errorBody = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  instance: z.string(),
  code: z.string(),
  retryable: z.boolean(),
  next_action: z.string(),
  request_id: z.string(),
  retry_after: z.number().int().optional(),
  /** The price in tokens. Present only with 402. */
  required: z.number().int().optional(),
  balance: z.number().int().optional(),
  shortfall: z.number().int().optional(),
  /** The path of the console's payment page. Present only with `insufficient_balance`. */
  top_up_url: z.string().optional(),
  /** What is held. Present with `not_found` if the question asks for more, such as another region. */
  coverage: partHeld.optional(),
  error: z.object({
    type: z.string(),
    code: z.string(),
    message: z.string(),
    param: z.string().nullable(),
    request_id: z.string(),
    retry_after: z.number().int().optional(),
    details: z.array(z.object({ param: z.string(), code: z.string(), message: z.string(), fix: z.string() })),
  }),
});
export type ErrorBody = z.infer<typeof errorBody>;
