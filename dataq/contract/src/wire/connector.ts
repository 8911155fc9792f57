import { z } from "zod";
import type { Received } from "./answer.ts";
import { bilingual } from "./bilingual.ts";

const kind = z.enum(["official", "licensed", "third_party"]);

const stated = z
  .strictObject({ amount: z.number(), unit: z.enum(["fen", "yuan", "requests"]), at: z.string() })
  .nullable()
  .meta({ description: "What the vendor itself says is left, and when it said it; null if it does not say" });

/** A contract with a vendor, as the operator configured it. */
export const connector = z.strictObject({
  name: z.string(),
  vendor: z.string().meta({ description: "Publisher in the source of every record" }),
  kind,
  licence: z.string().nullable(),
  operations: z.array(z.string()).meta({ description: "The operations that it answers" }),
  joins: z
    .boolean()
    .meta({ description: "Also asked for what it knows of records that another vendor found" }),
  requests: z.number().int().meta({ description: "Requests of all services to the vendor" }),
  cost_fen: z.number().meta({ description: "What these requests cost the operator, in fen" }),
  balance_fen: z.number().nullable().meta({
    description: "What is left of what the operator paid in, in fen; null if that was not said",
  }),
  stated,
  is_out_of_money: z.boolean().meta({ description: "The vendor said that the balance is used up" }),
  last_failure: z.string().nullable().meta({ description: "Why the last request failed" }),
  paused_until: z.string().nullable().meta({ description: "Nothing is sent until then" }),
  paused_why: z.string().nullable(),
});
export type ConnectorRow = Received<typeof connector>;

export const connectorTest = z.strictObject({
  params: z
    .record(z.string(), z.string().max(2_000))
    .optional()
    .meta({ description: "Parameters of the operation; its example if omitted" }),
  contract: z
    .string()
    .max(200)
    .optional()
    .meta({ description: "Name of the contract; the first one that answers the operation if omitted" }),
});

const exchange = z.strictObject({
  request: z.strictObject({
    method: z.string(),
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string().optional(),
  }),
  status: z.number().int().nullable().meta({ description: "HTTP status; null if no answer arrived" }),
  ms: z.number().int(),
  answer: z.string().nullable().meta({ description: "The first 20,000 characters" }),
});

/** A conversation with a vendor, step by step. Credentials and signatures are masked. */
export const connectorTrial = z.strictObject({
  operation: z.string(),
  contract: z.string(),
  vendor: z.string(),
  params: z.record(z.string(), z.string()),
  exchanges: z.array(exchange).meta({ description: "Every request and its answer" }),
  outcome: z.enum([
    "record",
    "records",
    "not_found",
    "verification_required",
    "unavailable",
    "wrong",
    "failed",
  ]),
  why: z.string().nullable(),
  why_zh: z.string().nullable(),
  records: z.number().int().nullable(),
  fields: z.array(
    z.strictObject({
      field: z.string(),
      path: z.string().nullable(),
      found: z.unknown(),
      value: z.unknown(),
      problem: z.string().nullable(),
      problem_zh: z.string().nullable(),
    }),
  ),
});
export type ConnectorTrial = Received<typeof connectorTrial>;

/** A vendor that dataq knows how to ask. */
export const vendor = z.strictObject({
  name: z.string(),
  publisher: bilingual,
  kind,
  licence: z.string().nullable(),
  duties: bilingual.nullable().meta({ description: "What the licence asks; null for nothing" }),
  about: bilingual.nullable(),
  operations: z.array(z.string()),
  credentials: z.array(
    z.strictObject({ name: z.string(), title: bilingual, secret: z.boolean(), optional: z.boolean() }),
  ),
  documents: z
    .array(z.strictObject({ url: z.string(), read: z.string() }))
    .meta({ description: "The vendor's pages that this was read from, and the day" }),
  checked: z
    .string()
    .nullable()
    .meta({ description: "Day of the last run against the real vendor; null if never" }),
  cost_fen: z
    .number()
    .meta({ description: "What a request costs, in fen, unless the contract says otherwise" }),
  is_connected: z.boolean(),
  balance_fen: z.number().nullable().meta({
    description: "What is left of what the operator paid in, in fen; null if that was not said",
  }),
  stated,
});
export type VendorRow = Received<typeof vendor>;

export const newConnector = z.strictObject({
  vendor: z.string().max(40).meta({ description: "Name of a vendor from the list of vendors" }),
  credentials: z.record(z.string().max(40), z.string().trim().min(1).max(2_000)).default({}),
  cost_fen: z.number().min(0).max(1_000_000).optional().meta({ description: "What a request costs, in fen" }),
  operations: z.array(z.string().max(100)).min(1).max(20).optional().meta({
    description: "The operations that it answers; all that it can if omitted",
  }),
  balance_fen: z.number().min(0).max(1_000_000_000_000).optional().meta({
    description: "What you have paid in and not used, in fen; the cost of requests is taken off from now on",
  }),
  join: z
    .boolean()
    .default(false)
    .meta({ description: "Also ask it for what it knows of records that another vendor found" }),
  untested: z
    .boolean()
    .default(false)
    .meta({ description: "Connect even if the vendor does not answer the test" }),
});

/** `connector` is null if the test failed and nothing was written. */
export const connected = z.strictObject({
  connector: connector.nullable(),
  trials: z.array(connectorTrial).meta({ description: "One test for each operation, until one fails" }),
});
export type ConnectedAnswer = Received<typeof connected>;
