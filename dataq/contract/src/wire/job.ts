import { z } from "zod";
import { date } from "../provenance.ts";
import type { Received } from "./answer.ts";
import { moment } from "./moment.ts";

/** An import or an index build. */
export const job = z.strictObject({
  id: z.string(),
  kind: z.enum(["import", "index", "remove", "restore"]),
  operation: z.string(),
  from: z.string(),
  state: z.enum(["running", "done", "failed"]),
  done: z.number().int(),
  total: z.number().int().nullable(),
  message: z.string(),
  message_zh: z.string(),
  started_at: moment,
  ended_at: moment.nullable(),
});
export type Job = Received<typeof job>;

/** The outcome of an import for every row. */
export const importReport = z.strictObject({
  dataset: z.string(),
  outcome: z.enum(["imported", "unchanged", "dry_run"]),
  encoding: z.string().nullable(),
  rows: z.number().int(),
  records: z.number().int(),
  refused: z.number().int(),
  for_other_operations: z.number().int(),
  duplicates: z.number().int().nullable(),
  duplicate_ids: z.array(z.string()),
  problems: z
    .array(z.strictObject({ line: z.number().int(), problem: z.string(), problem_zh: z.string() }))
    .meta({ description: "The first refused rows, with the reason" }),
  notes: z
    .array(z.strictObject({ note: z.string(), note_zh: z.string() }))
    .meta({ description: "What was held back for the operator to decide" }),
  fields: z
    .record(z.string(), z.number().int())
    .meta({ description: "Number of rows in which each field is filled" }),
});
export type ImportReport = Received<typeof importReport>;

/** A job of this service. A finished import has a report. */
export const jobDetail = job.extend({ report: importReport.nullable() });
export type JobDetail = Received<typeof jobDetail>;

export const jobList = z.strictObject({
  data: z.array(job),
  operations: z.array(z.string()).meta({ description: "What can be imported" }),
});

export const indexRefresh = z.strictObject({
  operation: z
    .string()
    .min(1)
    .max(64)
    .default("legal_cases")
    .meta({ description: "The operation whose index is rebuilt; it must have one" }),
});

export const newImport = z.strictObject({
  operation: z.string().min(1).max(64),
  from: z
    .string()
    .trim()
    .min(1)
    .max(1000)
    .meta({ description: "A path on the server, an https address, a package, or upload:<id>" }),
  dataset: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: "Name of the data set; an import of the same name replaces it" }),
  update: z.boolean().optional().meta({ description: "Add to the data set instead of replacing it" }),
  dry_run: z.boolean().optional().meta({ description: "Read and check everything, write nothing" }),
  yes: z
    .boolean()
    .optional()
    .meta({ description: "Replace the data set even if less than half of its records remain" }),
  source: z.string().trim().min(1).max(200).optional().meta({ description: "Publisher" }),
  kind: z.enum(["official", "licensed", "third_party"]).optional(),
  licence: z.string().trim().min(1).max(200).optional(),
  retrieved: date.optional().meta({ description: "Day on which the file was retrieved from its publisher" }),
  table: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: "Table to read from an SQLite file" }),
  accept_versions: z.boolean().optional().meta({
    description: "Serve the file's versions of laws even if they drop more than a tenth of a law's articles",
  }),
});
export type NewImport = Received<typeof newImport>;

/** A file that the browser sends in pieces. */
export const newUpload = z.strictObject({
  name: z.string().trim().min(1).max(200),
  bytes: z.number().int().min(1),
});
export const upload = z.strictObject({
  id: z.string(),
  received: z.number().int().meta({ description: "Bytes on disk; the next piece begins there" }),
  piece_bytes: z.number().int().meta({ description: "The largest piece" }),
});
export type Upload = Received<typeof upload>;
export const uploadQuery = z.strictObject({
  at: z.coerce.number().int().min(0).meta({ description: "Where in the file the piece begins" }),
});
