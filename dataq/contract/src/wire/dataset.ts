import { z } from "zod";
import type { Received } from "./answer.ts";
import { moment } from "./moment.ts";

/** An imported data set with the outcome of every row. */
export const dataset = z.strictObject({
  name: z.string(),
  operation: z.string(),
  state: z.enum(["serving", "removed"]),
  rows: z.number().int().nullable().meta({ description: "Null if an older version did not count them" }),
  refused: z.number().int(),
  for_other_operations: z.number().int(),
  records: z.number().int().meta({ description: "Records made from the rows" }),
  duplicates: z.number().int().meta({ description: "Records whose id occurs again later" }),
  served: z.number().int(),
  duplicate_ids: z.array(z.string()).meta({ description: "The first of them" }),
  changed_at: moment,
  next_refresh_at: moment.nullable(),
  imports: z.array(
    z.strictObject({
      origin: z.string(),
      sha256: z.string(),
      mode: z.enum(["replace", "update"]),
      publisher: z.string().nullable(),
      kind: z.enum(["official", "licensed", "third_party"]),
      licence: z.string().nullable(),
      at: moment,
      rows: z.number().int().nullable(),
      refused: z.number().int(),
      records: z.number().int(),
    }),
  ),
  restorable: z
    .strictObject({ served: z.number().int(), ended_at: moment, until: moment })
    .nullable()
    .meta({ description: "What a restore would bring back" }),
});
export type DatasetRow = Received<typeof dataset>;
