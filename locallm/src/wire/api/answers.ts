import { z } from "zod";
import { optional } from "../body.ts";

/** The parts of the server's answers that the command line reads. Other fields are not checked. */

const date = z.string().refine((text) => !Number.isNaN(Date.parse(text)), "must be a date");
const capabilities = optional(z.array(z.string())).transform((given) => given ?? []);
const count = optional(z.number());

/**
 * `version` is the version of Ollama whose API the server speaks, because clients of Ollama refuse older ones.
 * `locallm` is the server's own; a server before 0.2 has only `version`, and means itself.
 */
export const versionAnswer = z.object({ version: z.string(), locallm: z.string().optional() });

export const tagsAnswer = z.object({
  models: z.array(
    z.object({
      name: z.string(),
      digest: z.string(),
      size: z.number(),
      modified_at: date,
      remote_host: optional(z.string()),
    }),
  ),
  damaged: optional(z.array(z.object({ name: z.string(), error: z.string() }))),
});

const keptAnswer = z.object({ count: z.number(), bytes: z.number(), limit_bytes: z.number() });

const windowAnswer = z.object({
  model: z.string(),
  pid: count,
  context_length: z.number(),
  context_why: optional(z.string()),
  context_limit: count,
  context_limit_why: optional(z.string()),
  cache_refused: optional(z.object({ bytes: z.number(), why: z.string(), at: date })),
});

export const psAnswer = z.object({
  models: z.array(
    z.object({
      name: z.string(),
      digest: z.string(),
      size: z.number(),
      size_vram: z.number(),
      context_length: count,
      expires_at: date,
    }),
  ),
  explain: optional(
    z.object({
      conversations: optional(z.object({ memory: keptAnswer, disk: keptAnswer.nullable() })),
      loaded: optional(z.array(windowAnswer)),
    }),
  ),
});

const replicaAnswer = z.object({
  url: z.string(),
  host: z.string(),
  model: z.string(),
  state: z.string(),
  retry_seconds: z.number(),
  open: z.number(),
  answered: z.number(),
  failed: z.number(),
  last_error: z.object({ message: z.string() }).nullable(),
});

export const remotesAnswer = z.object({
  models: z.array(
    z.object({
      model: z.string(),
      waiting: z.number(),
      replicas: z.array(replicaAnswer),
      error: optional(z.string()),
    }),
  ),
});

export const remoteHostAnswer = z.object({ host: z.string(), open: z.number() });

export const showAnswer = z.object({
  license: optional(z.string()),
  modelfile: z.string(),
  parameters: optional(z.string()),
  template: optional(z.string()),
  system: optional(z.string()),
  details: z.object({
    parameter_size: z.string(),
    quantization_level: z.string(),
    context_length: count,
    embedding_length: count,
  }),
  model_info: optional(z.record(z.string(), z.unknown())),
  tensors: optional(z.array(z.object({ name: z.string(), type: z.string(), shape: z.array(z.number()) }))),
  capabilities,
  remotes: optional(
    z.array(
      z.object({
        url: z.string(),
        model: z.string(),
        protocol: z.string(),
        key: optional(z.string()),
        weight: z.number(),
        requests: count,
      }),
    ),
  ),
  loaded: optional(z.object({ device: z.string(), why: z.string() })),
});

export type ShowAnswer = z.output<typeof showAnswer>;

/** The part of the `/api/show` answer that the command line reads. */
export const abilitiesAnswer = z.object({ details: z.looseObject({}), capabilities });

/** One progress line of create, pull or push. */
export const progressLine = z.object({
  status: z.string(),
  digest: optional(z.string()),
  total: count,
  completed: count,
});

/** One line of a streamed chat, or the whole answer of chat or generate without streaming. */
export const chatLine = z.object({
  message: optional(z.object({ content: optional(z.string()), thinking: optional(z.string()) })),
  done: z.boolean(),
  done_reason: optional(z.string()),
  context_length: count,
  total_duration: count,
  load_duration: count,
  prompt_eval_count: count,
  prompt_eval_duration: count,
  eval_count: count,
  eval_duration: count,
  draft_n: optional(z.number()),
  draft_n_accepted: optional(z.number()),
  truncated: optional(z.object({ messages: z.number() })),
});

export type ChatLine = z.output<typeof chatLine>;

export const rerankAnswer = z.object({ results: z.array(z.object({ relevance_score: z.number() })) });
export const embedAnswer = z.object({ embeddings: z.array(z.array(z.number())) });
