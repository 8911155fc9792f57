import { z } from "zod";

/** How many rows a list returns at a time. */
export const pageLimit = z.coerce.number().int().min(1).max(500).default(50);

/** Newest first. `next_cursor` goes into `cursor` of the next request; null: this was the last page. */
export function pageOf<Row extends z.ZodType>(row: Row) {
  return z.strictObject({ data: z.array(row), next_cursor: z.string().nullable() });
}

/** A list that always comes whole. */
export function listOf<Row extends z.ZodType>(row: Row) {
  return z.strictObject({ data: z.array(row) });
}

/** A number of tokens that somebody sends. */
export const tokenCount = z.number().int().min(0).max(1e12);
