import { z } from "zod";
import { findOperation } from "../catalog.ts";
import type { Received } from "./answer.ts";
import { moment } from "./moment.ts";

const tokensPerMonth = z
  .number()
  .int()
  .min(1)
  .max(1e12)
  .meta({ description: "The most that its calls may cost per month (China time), in tokens" });

/** A question that is asked again after every refresh of its data. */
export const watch = z.strictObject({
  id: z.string(),
  name: z.string(),
  operation: z.string(),
  params: z.record(z.string(), z.unknown()),
  monthly_limit: tokensPerMonth,
  spent: z.number().int().meta({ description: "Tokens that its calls have cost this month" }),
  enabled: z.boolean(),
  stopped_reason: z.string().nullable().meta({
    description: "The error code for which the service stopped it, such as `insufficient_balance`",
  }),
  last_error: z.string().nullable().meta({
    description:
      "Why it could not be asked the last time; `no_webhook`: no webhook is enabled for `watch.found`",
  }),
  last_asked_at: moment.nullable(),
  created_at: moment,
});
export type Watch = Received<typeof watch>;

export const createdWatch = watch.extend({
  records: z.number().int().meta({ description: "Records in the first answer, which are not new" }),
  tokens: z.number().int().meta({ description: "What the first answer cost" }),
});
export type CreatedWatch = Received<typeof createdWatch>;

const name = z.string().max(100);

export const newWatch = z.strictObject({
  name: name.optional(),
  operation: z.string().refine((one) => findOperation(one)?.paged === true, {
    error: "is not an operation that can be watched",
    params: {
      fix: "send a search, such as legal_cases, legal_laws or research_paper_search",
      fixZh: "请使用检索类接口，例如 legal_cases、legal_laws、research_paper_search",
    },
  }),
  params: z.record(z.string(), z.unknown()).meta({ description: "The parameters of the operation" }),
  monthly_limit: tokensPerMonth,
});
export type NewWatch = Received<typeof newWatch>;

/** Omitted fields keep their values. Enabling it also forgets why it was stopped. */
export const changedWatch = z.strictObject({
  name: name.optional(),
  monthly_limit: tokensPerMonth.optional(),
  enabled: z.boolean().optional(),
});
export type ChangedWatch = Received<typeof changedWatch>;
