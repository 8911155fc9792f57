import { readdirSync, readFileSync } from "node:fs";
import { z } from "zod";
import { adapters } from "./adapters.ts";
import { balance, operationMapping, operationName, shared } from "./mapping/mapping-file.ts";

const bilingual = z.strictObject({ en: z.string().min(1), zh: z.string().min(1) });

/** Limits of a contract. What is not said is not limited, but for time and requests at once. */
export const limits = z.strictObject({
  per_second: z.number().positive().optional(),
  per_minute: z.number().positive().optional(),
  per_day: z.number().int().positive().optional(),
  at_once: z.number().int().min(1).max(1_000).optional(),
  time_ms: z.number().int().min(100).max(25_000).optional(),
});
export type Limits = z.infer<typeof limits>;

const credential = z.strictObject({
  title: bilingual,
  /** A secret is masked wherever it may appear. */
  secret: z.boolean().default(true),
  optional: z.boolean().default(false),
});

/**
 * Everything about a vendor but the operator's own part of the contract: what it asks for, how each operation is asked,
 * and where that was read. It is data; what a description cannot say is an adapter in code (`adapters.ts`).
 */
export const presetFile = z.strictObject({
  /** Name of the contract, as in `dataq connect tianyancha`. */
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, "lower-case letters, digits and hyphens"),
  publisher: bilingual,
  kind: z.enum(["official", "licensed", "third_party"]),
  licence: z.string().min(1).nullable().default(null),
  /** What the licence asks of who uses the records; null for nothing. */
  duties: bilingual.nullable().default(null),
  /** The pages of the vendor that this was read from, and the day. */
  documents: z
    .array(z.strictObject({ url: z.url({ protocol: /^https?$/ }), read: z.iso.date() }))
    .default([]),
  /** The day on which it was last run against the real vendor; null if never. */
  checked: z.iso.date().nullable().default(null),
  /** What somebody must know who signs up: what it holds and what it does not. */
  about: bilingual.optional(),
  /** Address of the vendor, `{base}` in the requests. */
  base: z
    .string()
    .regex(/^https?:\/\//, "an address that starts with http:// or https://")
    .optional(),
  credentials: z.record(z.string().regex(/^[a-z][a-z0-9_]*$/), credential).default({}),
  limits: limits.default({}),
  /** What a request costs, in fen, as long as the contract says nothing else. */
  cost_fen: z.number().min(0).default(0),
  /** Where the vendor says what is left; absent if it does not. */
  balance: balance.optional(),
  ...shared.shape,
  operations: z
    .record(
      operationName,
      z.union([
        operationMapping,
        z.strictObject({ adapter: z.enum(Object.keys(adapters) as [string, ...string[]]) }),
      ]),
    )
    .refine((operations) => Object.keys(operations).length > 0, "at least one operation"),
});
export type Preset = z.infer<typeof presetFile>;

const folder = new URL("presets/", import.meta.url);
let known: readonly Preset[] | undefined;

/** The vendors that come with dataq, by name. */
export function presets(): readonly Preset[] {
  known ??= readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .toSorted()
    .map((name) => presetFile.parse(JSON.parse(readFileSync(new URL(name, folder), "utf8"))));
  return known;
}
