import { balance, estimate, usageGroups, usageRow } from "@dataq/contract/wire";
import type { z } from "zod";
import { jsonSchema, typeOf } from "./json-schema.ts";

/** Writes `src/account.ts`: the service's answers about an account's tokens, as plain types. */
export function accountTypes(): string {
  return [
    "/** The price of a call now, in tokens. */",
    `export interface Estimate ${fieldsOf(estimate)}`,
    "",
    "/** The tokens of an account. */",
    `export interface Balance ${fieldsOf(balance)}`,
    "",
    `export type UsageGroup = ${usageGroups.map((group) => JSON.stringify(group)).join(" | ")};`,
    "",
    "/** Calls and tokens of one group. */",
    `export interface UsageRow ${fieldsOf(usageRow)}`,
    "",
  ].join("\n");
}

function fieldsOf(schema: z.ZodObject): string {
  return typeOf(jsonSchema(schema, "input"));
}
