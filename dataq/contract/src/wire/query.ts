import { z } from "zod";
import { errorBody, usage } from "../envelope.ts";
import { specialReasons } from "../price.ts";
import type { Received } from "./answer.ts";

const reason = z
  .enum(["free_tier", ...specialReasons])
  .optional()
  .meta({ description: "Why the account pays less than the list price" });

/** The price of a call, or of several. */
export const estimate = z.strictObject({
  tokens: z.number().int(),
  cached: z.boolean().meta({ description: "Whether the cache has the whole answer" }),
  balance_after: z.number().int(),
  sample: z.literal(true).optional().meta({ description: "Only generated samples answer; the call is free" }),
  reason,
  data: z
    .array(
      z.strictObject({
        tokens: z.number().int(),
        cached: z.boolean(),
        sample: z.literal(true).optional(),
        reason,
      }),
    )
    .optional()
    .meta({ description: "For each of several queries, in order" }),
});
export type Estimate = Received<typeof estimate>;

/** The answer to `dry_run`: the price, and no data. */
export const dryRun = estimate.extend({
  dry_run: z.literal(true),
  operation: z.string(),
  request_id: z.string(),
});

/** How many queries one call may have. */
export const mostQueries = 20;

/**
 * The answer to `queries`. Each item is the body that the query alone would get: an answer, or an error with its
 * `status`.
 */
export const severalAnswers = z.strictObject({
  data: z
    .array(z.union([z.looseObject({ data: z.unknown(), operation: z.string(), usage }), errorBody]))
    .meta({ description: "One item for each query, in order: its answer, or its error" }),
  request_id: z.string(),
  usage: usage.meta({ description: "The cost of all queries together" }),
});
export type SeveralAnswers = Received<typeof severalAnswers>;

/**
 * Media types of an answer, the preferred one first, with the names that callers use for them. `queries` and `dry_run`
 * are answered as JSON only.
 */
export const answerTypes = {
  json: ["application/json", "application/problem+json"],
  csv: ["text/csv"],
  ndjson: ["application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"],
} as const;
export type AnswerType = keyof typeof answerTypes;

/** What a CSV or JSON Lines answer says about itself in headers: each is the envelope's field of the same meaning. */
export const listHeaders = {
  page: "x-page",
  page_size: "x-page-size",
  total: "x-total",
  total_relation: "x-total-relation",
  total_pages: "x-total-pages",
  has_more: "x-has-more",
  sample: "x-sample",
  relaxed: "x-relaxed",
  summary: "x-summary",
  warnings: "x-warnings",
} as const;
