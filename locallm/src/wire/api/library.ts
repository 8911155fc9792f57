import { z } from "zod";
import { optional } from "../body.ts";

/** Older clients send `name` instead of `model`. */
const named = { model: optional(z.string()), name: optional(z.string()) };
const digestsByFile = optional(z.record(z.string().max(1024), z.string().max(256)));

export const showRequest = z.object({
  ...named,
  verbose: optional(z.boolean()),
  system: optional(z.string()),
  options: optional(z.record(z.string(), z.unknown())),
});

export const createRequest = z.object({
  ...named,
  from: optional(z.string()),
  files: digestsByFile,
  adapters: digestsByFile,
  template: optional(z.string()),
  system: optional(z.string()),
  license: optional(z.union([z.string(), z.array(z.string())])),
  parameters: optional(z.record(z.string(), z.unknown())),
  messages: optional(z.array(z.object({ role: z.string(), content: z.string() }))),
  renderer: optional(z.string()),
  parser: optional(z.string()),
  requires: optional(z.string()),
  quantize: optional(z.string()),
  stream: optional(z.boolean()),
});

export const copyRequest = z.object({ source: z.string(), destination: z.string() });

export const deleteRequest = z.object(named);

/** Body of a pull or push. */
export const transferRequest = z.object({
  ...named,
  insecure: optional(z.boolean()),
  stream: optional(z.boolean()),
  username: optional(z.string()),
  password: optional(z.string()),
});

export type CreateRequest = z.output<typeof createRequest>;

/** locallm only: identifies the server's models folder, in answers to `HEAD /api/blobs/:digest`. */
export const modelsFolderHeader = "x-models-folder";

/** One progress line of create, pull or push. */
export interface ProgressLine {
  status: string;
  digest?: string;
  total?: number;
  completed?: number;
}
