import { z } from "zod";
import { optional } from "../body.ts";
import { remoteKeyName, remoteLimits, remoteProtocols } from "../remote-address.ts";

/** Older clients send `name` instead of `model`. */
const named = { model: optional(z.string()), name: optional(z.string()) };
const digestsByFile = optional(z.record(z.string().max(1024), z.string().max(256)));

export const capabilities = [
  "completion",
  "tools",
  "insert",
  "vision",
  "audio",
  "embedding",
  "rerank",
  "thinking",
] as const;
export type Capability = (typeof capabilities)[number];

export const showRequest = z.object({
  ...named,
  verbose: optional(z.boolean()),
  system: optional(z.string()),
  options: optional(z.record(z.string(), z.unknown())),
});

const address = z.object({
  url: z.string(),
  model: z.string(),
  protocol: optional(z.enum(remoteProtocols)),
  key: optional(z.string().regex(remoteKeyName, "must be the name of a key in the credentials file")),
  weight: optional(z.int().min(1).max(remoteLimits.weight)),
  requests: optional(z.int().min(1).max(remoteLimits.requests)),
});

export const remoteHostRequest = z.object({ host: z.string().max(300) });

export const createRequest = z.object({
  ...named,
  /** A model name, or the address of an engine: `https://host:port/v1#model`. */
  from: optional(z.string()),
  /** Ollama's form of a remote model: `from` is then the name at that host. */
  remote_host: optional(z.string()),
  /** The replicas of a remote model. A locallm extension. */
  remotes: optional(z.array(address).max(remoteLimits.addresses)),
  /** What a remote model can do, because its weights cannot be read. Ollama's field. */
  info: optional(
    z.object({
      capabilities: optional(z.array(z.enum(capabilities))),
      context_length: optional(
        z
          .int()
          .min(1)
          .max(2 ** 31 - 1),
      ),
      embedding_length: optional(
        z
          .int()
          .min(1)
          .max(2 ** 31 - 1),
      ),
    }),
  ),
  files: digestsByFile,
  adapters: digestsByFile,
  draft_files: digestsByFile,
  template: optional(z.string()),
  system: optional(z.string()),
  license: optional(z.union([z.string(), z.array(z.string())])),
  parameters: optional(z.record(z.string(), z.unknown())),
  messages: optional(z.array(z.object({ role: z.string(), content: z.string() }))),
  renderer: optional(z.string()),
  parser: optional(z.string()),
  requires: optional(z.string()),
  quantize: optional(z.string()),
  /** Allows `quantize` for weights that are already quantised. A locallm extension. */
  requantize: optional(z.boolean()),
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
