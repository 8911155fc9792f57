import { z } from "zod";
import type { Received } from "./answer.ts";
import { moment } from "./moment.ts";
import { tokenCount } from "./page.ts";
import { wellFormed } from "./well-formed.ts";

/** Keys of an account that share a budget. */
export const project = z.strictObject({
  id: z.string(),
  name: z.string(),
  monthly_budget: z.number().int().nullable().meta({
    description: "Tokens that its keys may spend together in a month (China time); null: no budget",
  }),
  alert_percent: z.number().int().meta({
    description: "`project.near_budget` is sent when this share of the budget is spent, in percent; 0: never",
  }),
  month: z.string().meta({ description: "The month in China that spent is of" }),
  spent: z.number().int().meta({ description: "Tokens of this month, with those of calls that still run" }),
  resets_at: moment.meta({ description: "When the next month begins" }),
  keys: z.number().int().meta({ description: "Keys of the project that work" }),
  created_at: moment,
});
export type Project = Received<typeof project>;

const fields = {
  name: wellFormed(z.string().trim().min(1).max(100)),
  monthly_budget: tokenCount.nullable(),
  alert_percent: z.number().int().min(0).max(100),
};
export const newProject = z.strictObject({
  name: fields.name,
  monthly_budget: fields.monthly_budget.default(null),
  alert_percent: fields.alert_percent.default(80),
});
export type NewProject = z.input<typeof newProject>;
export const changedProject = z.strictObject(fields).partial();
export type ChangedProject = Received<typeof changedProject>;
