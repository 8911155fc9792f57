import { z } from "zod";
import type { Received } from "./answer.ts";
import { moment } from "./moment.ts";

/** An import or an index build. */
export const job = z.strictObject({
  id: z.string(),
  kind: z.enum(["import", "index"]),
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

export const jobList = z.strictObject({
  data: z.array(job),
  operations: z.array(z.string()).meta({ description: "What can be imported" }),
});

export const newImport = z.strictObject({
  operation: z.string().min(1).max(64),
  from: z
    .string()
    .trim()
    .min(1)
    .max(1000)
    .meta({ description: "A path on the server, an https address, or a package" }),
});
