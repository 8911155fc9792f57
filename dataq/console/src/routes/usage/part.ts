import type { UsageRow } from "@dataq/contract/wire";

/** By what the calls of a day are grouped. */
export type Part = "operation" | "key" | "project" | "code";

/** The group of a row. Calls without a code succeeded; calls without an operation are among the others. */
export function partOfRow(row: UsageRow, part: Part): string {
  return row[part] ?? (part === "code" ? succeeded : "");
}

/** No error has this code. */
export const succeeded = "succeeded";
