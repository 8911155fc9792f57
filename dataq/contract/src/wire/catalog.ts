import { z } from "zod";
import { indexState } from "../envelope.ts";
import { domains } from "../operation.ts";
import type { Received } from "./answer.ts";
import { bilingual } from "./bilingual.ts";
import { maintenanceWindow } from "./maintenance.ts";
import { moment } from "./moment.ts";
import { packageOffer } from "./package.ts";

/** Where an operation's answers for live keys come from. */
export const dataKinds = ["connector", "imported", "sample", "none"] as const;
const dataKind = z.enum(dataKinds).meta({
  description: "What answers live keys: a connector, imported records, generated samples (free), or nothing",
});
const newestDay = z.iso
  .date()
  .nullable()
  .meta({ description: "Day of the newest imported record; null if records have no date" });
const day = z.iso.date().nullable();
/** What the imported records of an operation cover, counted in the data at that moment. */
const coverage = z
  .strictObject({
    text: bilingual.meta({ description: "The numbers below in a sentence" }),
    records: z.number().int().meta({ description: "Imported records, without generated ones" }),
    oldest_day: day,
    newest_day: day,
    parts: z
      .array(z.strictObject({ what: bilingual, count: z.number().int(), oldest_day: day, newest_day: day }))
      .meta({ description: "By kind of law or by platform. A kind with 0 is not held at all" }),
  })
  .nullable()
  .meta({ description: "What the imported records cover; null where nothing is imported" });
export type Coverage = NonNullable<Received<typeof coverage>>;
const pricedPer = z.strictObject({ count: z.number().int(), what: bilingual }).optional().meta({
  description: "The price is per `count` of these things in the call, rounded up; a call with none is free",
});
const jsonSchema = z.record(z.string(), z.unknown());

/** An operation as `/v1/catalog` describes it. */
export const catalogEntry = z.strictObject({
  operation: z.string(),
  domain: z.enum(domains),
  title: bilingual,
  description: bilingual,
  params: jsonSchema.meta({ description: "JSON Schema of the parameters" }),
  record: jsonSchema.meta({ description: "JSON Schema of a record" }),
  meanings: z
    .strictObject({ params: z.record(z.string(), bilingual), record: z.record(z.string(), bilingual) })
    .meta({ description: "What the fields mean, by path such as judges[].name" }),
  kind: z.enum(["list", "single"]),
  paged: z.boolean(),
  price: z.strictObject({
    tokens: z.number().int(),
    cached_tokens: z.number().int().nullable(),
    per: pricedPer,
  }),
  cache_seconds: z.number().int(),
  example: z
    .strictObject({ params: z.record(z.string(), z.string()) })
    .meta({ description: "Finds a record on a new installation" }),
  data: dataKind,
  newest_day: newestDay,
  coverage,
  publishers: z.array(z.string()).meta({
    description: "Who published the records that answer it, at most 20; empty where only samples do",
  }),
  publisher_names: z
    .array(bilingual)
    .meta({ description: "The same publishers, as readers of each language call them" }),
  real_since: z.string().nullable().meta({
    description: "Since when it has real records here; null where it has none, or that is not known",
  }),
  needs: bilingual.meta({ description: "What an operator connects or imports for it" }),
  open_data: z.array(z.string()).meta({
    description:
      "Sets of open data that give it real records: the operator runs `dataq data get` with one of them",
  }),
  vendors: z.array(z.string()).meta({
    description:
      "Vendors and public sources that answer it: the operator runs `dataq connect` with one of them",
  }),
  samples: z
    .array(z.strictObject({ params: z.record(z.string(), z.string()) }))
    .meta({ description: "All values that samples answer; any other value is 501 not_configured" }),
});
export type CatalogEntry = Received<typeof catalogEntry>;

/** The operations as function definitions, in the form of OpenAI's chat interface. */
const modelTools = z.array(
  z.strictObject({
    type: z.literal("function"),
    function: z.strictObject({ name: z.string(), description: z.string(), parameters: jsonSchema }),
  }),
);
export const catalog = z.union([z.strictObject({ data: z.array(catalogEntry) }), modelTools]);
export const catalogQuery = z.strictObject({ format: z.literal("openai-tools").optional() });

/** The form in which the older published client looks for operations. */
export const olderCapabilities = z.strictObject({
  capabilities: z.array(
    z.strictObject({
      domain: z.string(),
      type: z.string(),
      operation: z.string(),
      description: z.string(),
      filters: jsonSchema,
      units: z.number().int(),
    }),
  ),
});

/** A price in force or announced. */
export const price = z.strictObject({
  operation: z.string(),
  tokens: z.number().int(),
  cached_tokens: z.number().int().nullable().meta({ description: "Null: a repeated call costs the same" }),
  version: z.number().int(),
  effective_from: moment,
  per: pricedPer,
});
export type Price = Received<typeof price>;

/** Calls of an operation that are free for each account and day, in force or announced. */
export const freeTier = z.strictObject({
  operation: z.string(),
  calls: z.number().int().meta({ description: "Free calls of each account and day; China time" }),
  version: z.number().int(),
  effective_from: moment,
});
export type FreeTier = Received<typeof freeTier>;

export const volumeStep = z.strictObject({
  from_tokens: z.number().int().min(1).max(1e15),
  percent: z.number().int().min(1).max(90),
});

/** What accounts pay less from the day after they spent so much in a month, in force or announced. */
export const volumeLadder = z.strictObject({
  version: z.number().int(),
  steps: z.array(volumeStep),
  effective_from: moment,
});
export type VolumeLadder = Received<typeof volumeLadder>;

export const pricing = z.strictObject({
  data: z.array(price.extend({ data: dataKind, newest_day: newestDay, coverage })),
  free_calls: z.array(freeTier),
  volume: z.array(volumeLadder),
  packages: z.array(packageOffer),
  currency: z.literal("CNY"),
  tokens_per_cny: z.number().int(),
});

export type Pricing = Received<typeof pricing>;

/** How calls of an operation fare: none lately, all well, some fail by our fault or a source's, most fail. */
export const healthStates = ["quiet", "working", "disturbed", "down"] as const;
export type HealthState = (typeof healthStates)[number];

/** The data behind every operation and its age, and how its calls fare. */
export const status = z.strictObject({
  maintenance: maintenanceWindow
    .nullable()
    .meta({ description: "While it lasts, calls are refused with `maintenance` and cost nothing" }),
  operations: z.array(
    z.strictObject({
      operation: z.string(),
      data: dataKind,
      newest_day: newestDay,
      coverage,
      index: indexState.nullable(),
      generated: z
        .number()
        .int()
        .meta({ description: "Generated records in the index; imported ones rank before them" }),
      building: z
        .strictObject({ done: z.number().int(), total: z.number().int().nullable(), text: z.string() })
        .nullable(),
      vectors: z
        .strictObject({
          done: z.number().int(),
          total: z.number().int(),
          state: z.enum(["building", "ready", "failing"]),
        })
        .nullable()
        .meta({ description: "Vectors for the search by meaning; null where it is off" }),
      overdue: z.boolean().meta({ description: "The refresh is more than a day late" }),
      health: z.enum(healthStates).meta({ description: "How the calls of the last hour fared" }),
      answered: z.number().nullable().meta({
        description:
          "Percent of the calls of the last 24 hours that did not fail on our side or a source's; null below 20 calls",
      }),
    }),
  ),
});
export type Status = Received<typeof status>;
