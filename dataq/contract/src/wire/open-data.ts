import { z } from "zod";
import type { Received } from "./answer.ts";
import { bilingual } from "./bilingual.ts";

/** A set of the catalogue of open data. */
const openDataSet = z.strictObject({
  name: z.string(),
  title: bilingual,
  makes: z.array(z.string()).meta({ description: "Operations that have real records with it" }),
  coverage: bilingual,
  licence: bilingual,
  duties: bilingual.nullable().meta({ description: "What the licence asks; null for nothing" }),
  publishers: z.array(
    z.strictObject({
      name: z.string(),
      title: bilingual.meta({ description: "Its name for readers of each language" }),
      url: z.string(),
      at: z.string(),
      licence: z.string().nullable(),
      files: z.array(z.string()).optional().meta({ description: "The files of the repository or package" }),
    }),
  ),
  bytes: z.number().int(),
  origin: z.enum(["files", "address", "live"]).meta({
    description:
      "address: a file that its publisher replaces; live: read from its publisher, request by request. Both when an operator names them",
  }),
  seconds: z
    .number()
    .int()
    .meta({ description: "About how long an import takes; of a live set, a first reading with its texts" }),
  taken: z.iso.date().nullable().meta({ description: "Null for a set of an address and a live one" }),
  state: z
    .enum(["here", "part", "missing"])
    .meta({ description: "part: not all of its files are imported, or older ones" }),
  can_get: z.boolean().meta({ description: "False where only a mirror has it and none is set" }),
});
export type OpenDataSet = Received<typeof openDataSet>;

export const openData = z.strictObject({
  data: z.array(openDataSet),
  real: z
    .strictObject({
      now: z.number().int(),
      of: z.number().int(),
      with: z.number().int().meta({ description: "With the sets that can be brought" }),
      bytes: z.number().int(),
      seconds: z.number().int(),
      needs_mirror: z.boolean(),
    })
    .meta({ description: "How many operations have real data" }),
});
export type OpenData = Received<typeof openData>;
