import { z } from "zod";
import type { Received } from "./answer.ts";

/** A contract with a vendor, as the operator configured it. */
export const connector = z.strictObject({
  operation: z.string(),
  vendor: z.string(),
  kind: z.enum(["official", "licensed", "third_party"]),
  licence: z.string().nullable(),
  calls: z.number().int().meta({
    description: "Calls of all services to the vendor since PostgreSQL last recovered from a crash",
  }),
  cost_fen: z.number().int().meta({ description: "What these calls cost the operator, in fen" }),
  last_failure: z.string().nullable().meta({ description: "Why the last call failed" }),
});
export type ConnectorRow = Received<typeof connector>;

export const connectorTest = z.strictObject({
  params: z
    .record(z.string(), z.string().max(2_000))
    .optional()
    .meta({ description: "Parameters of the operation; its example if omitted" }),
});

/** One call to a vendor, step by step. Credentials are masked. */
export const connectorTrial = z.strictObject({
  operation: z.string(),
  vendor: z.string(),
  params: z.record(z.string(), z.string()),
  request: z.strictObject({
    method: z.string(),
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string().optional(),
  }),
  status: z.number().int().nullable().meta({ description: "HTTP status; null if no answer arrived" }),
  ms: z.number().int(),
  answer: z.string().nullable().meta({ description: "The first 20,000 characters" }),
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
