import { z } from "zod";
import type { Received } from "./answer.ts";

/** When an account is warned, by email to its owners and by webhook. Changes keep the fields that they omit. */
const fields = {
  low_balance: z
    .number()
    .int()
    .min(0)
    .max(1e12)
    .meta({ description: "`balance.low` is sent when the balance falls below this" }),
  cap_percent: z.number().int().min(0).max(100).meta({
    description:
      "`key.near_cap` is sent when a key has spent this share of its monthly cap, in percent; 0: never",
  }),
  spend_factor: z.number().min(0).max(1000).meta({
    description:
      "`key.unusual` is sent when a key spends more than this many times its highest day of the last 28; 0: never",
  }),
};
export const alertThresholds = z.strictObject(fields);
export type AlertThresholds = Received<typeof alertThresholds>;
export const changedAlertThresholds = alertThresholds.partial();
