import { z } from "zod";

/** Number of rows per page. */
export const pageLimit = z.coerce.number().int().min(1).max(500).default(50);

/**
 * A page of rows, newest first. Send `next_cursor` as `cursor` to get the next page. It is null on the last
 * page.
 */
export function pageOf<Row extends z.ZodType>(row: Row) {
  return z.strictObject({ data: z.array(row), next_cursor: z.string().nullable() });
}

/** A list without pages. */
export function listOf<Row extends z.ZodType>(row: Row) {
  return z.strictObject({ data: z.array(row) });
}

/** A number of tokens in a request. */
export const tokenCount = z.number().int().min(0).max(1e12);
