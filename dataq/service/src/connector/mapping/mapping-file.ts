import { findOperation } from "@dataq/contract";
import { z } from "zod";
import { fieldRule } from "./field-rule.ts";
import { computedValue } from "./template.ts";

/** Holds if the value at the path is one of these. "0" and 0 are the same. */
export const condition = z.strictObject({
  path: z.string(),
  equals: z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])).min(1),
});
export type Condition = z.infer<typeof condition>;

/** What an answer means that is not the wanted one. `again` and `limited`: another try later may succeed. */
export const meanings = [
  "not_found",
  "verification_required",
  "out_of_money",
  "refused",
  "limited",
  "again",
  "wrong",
  "record",
] as const;

/** A line of a vendor's table of errors: a condition on the body, an HTTP status, or both. */
export const errorRule = z
  .strictObject({
    /** With `means: "record"`: the fields of the record that the answer is. */
    record: z.record(z.string(), z.unknown()).optional(),
    path: z.string().optional(),
    equals: z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
    status: z.array(z.number().int()).optional(),
    means: z.enum(meanings),
  })
  .refine(
    ({ path, equals, status }) =>
      (path === undefined) === (equals === undefined) && (path ?? status) !== undefined,
    "a path with equals, or a status",
  )
  .refine(
    ({ means, record }) => (means === "record") === (record !== undefined),
    "a record, if it means one",
  );
export type ErrorRule = z.infer<typeof errorRule>;

const address = z.string().regex(/^(?:https?:\/\/|\{)/, "an address that starts with http:// or https://");

export const request = z.strictObject({
  method: z.enum(["GET", "POST"]).default("GET"),
  /** Placeholders such as `{tax_id}` are replaced with the encoded parameters of the call. */
  url: address,
  /** Added to the address. What has only empty placeholders is left out. */
  query: z.record(z.string(), z.string()).default({}),
  headers: z.record(z.string(), z.string()).default({}),
  /** Sent as a form. */
  form: z.record(z.string(), z.string()).optional(),
  /** Sent as JSON, with placeholders replaced. */
  json: z.unknown().optional(),
  /** The vendor does not charge for this request. */
  free: z.boolean().default(false),
});
export type RequestFile = z.infer<typeof request>;

/** A request before the last one: what it takes from the answer is a placeholder of the next ones. */
export const step = z.strictObject({
  request,
  ok: condition.optional(),
  /** For each placeholder: its path in the answer. */
  take: z.record(z.string(), z.string()).default({}),
  /** What it means if a path has no value. */
  missing: z.enum(["not_found", "wrong"]).default("wrong"),
});
export type Step = z.infer<typeof step>;

/**
 * How lists are asked for in pieces. `page`: `{page}`, counted from `first`. `offset`: `{offset}`. `cursor`: `{cursor}`,
 * read from `next` in each answer. `most` is the largest piece, `deepest` the last record that can be reached.
 */
export const paging = z.strictObject({
  by: z.enum(["page", "offset", "cursor"]),
  most: z.number().int().min(1).max(1_000),
  first: z.number().int().min(0).max(1).default(1),
  next: z.string().optional(),
  /** What the first request sends as `{cursor}`. */
  start: z.string().default(""),
  deepest: z.number().int().positive().optional(),
});
export type Paging = z.infer<typeof paging>;

export const answer = z.strictObject({
  ok: condition.optional(),
  not_found: condition.optional(),
  /** Path of the object, or of the list for list operations. */
  record: z.string(),
  /** Of the list at `record`, only the one with the greatest number at this path: the newest year of many. */
  newest: z.string().optional(),
  /** Path of the number of hits, for lists. */
  total: z.string().optional(),
  /** For each of our fields: its path below the record, or a rule. */
  fields: z.record(z.string(), fieldRule),
  constants: z.record(z.string(), z.unknown()).default({}),
  /** For each of our fields: the vendor's values and ours. */
  values: z.record(z.string(), z.record(z.string(), z.string())).default({}),
});
export type AnswerFile = z.infer<typeof answer>;

/** How a vendor is asked what it knows of things that others found: some numbers at once, `{numbers}`, or one, `{number}`. */
export const byNumbers = z.strictObject({
  kind: z.enum(["doi", "arxiv", "issn", "orcid", "patent"]),
  request,
  /** Between the numbers. */
  separator: z.string().min(1).default(","),
  most: z.number().int().min(1).max(50).default(50),
});

/** How one operation is asked of a vendor that is described by data. */
export const operationMapping = z.strictObject({
  /** What a request costs, in fen, if it is not what the contract says. */
  cost_fen: z.number().min(0).optional(),
  steps: z.array(step).max(5).default([]),
  request,
  paging: paging.optional(),
  by_number: byNumbers.optional(),
  answer,
});
export type OperationMapping = z.infer<typeof operationMapping>;

export const operationName = z
  .string()
  .refine((name) => findOperation(name) !== undefined, "the name of an operation");

/** What all operations of a vendor share. */
export const shared = z.strictObject({
  /** Computed for every request, in this order. */
  computed: z.record(z.string(), computedValue).default({}),
  query: z.record(z.string(), z.string()).default({}),
  headers: z.record(z.string(), z.string()).default({}),
  /** Holds for every answer that is not an error. */
  ok: condition.optional(),
  errors: z.array(errorRule).default([]),
  /** Where the vendor says why, for the operator. */
  message: z.string().optional(),
});
export type Shared = z.infer<typeof shared>;

/** What the vendor itself says is left: in the answer to a request of its own, or without one in every answer. */
export const balance = z.strictObject({
  request: request.optional(),
  /** Path of the number. */
  path: z.string(),
  unit: z.enum(["fen", "yuan", "requests"]),
});
export type BalanceFile = z.infer<typeof balance>;
