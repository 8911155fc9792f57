import { z } from "zod";
import type { Received } from "./answer.ts";

/** The price of a call, or of several. */
export const estimate = z.strictObject({
  tokens: z.number().int(),
  cached: z.boolean().meta({ description: "Whether the cache has the whole answer" }),
  balance_after: z.number().int(),
  sample: z.literal(true).optional().meta({ description: "Only generated samples answer; the call is free" }),
  data: z
    .array(
      z.strictObject({ tokens: z.number().int(), cached: z.boolean(), sample: z.literal(true).optional() }),
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
