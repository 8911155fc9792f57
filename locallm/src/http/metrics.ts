import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** The metrics of one server, in their own registry, so that two servers in one process do not mix. */
export interface Metrics {
  readonly registry: Registry;
  readonly requests: Counter<"route" | "status">;
  readonly promptTokens: Counter<"model">;
  readonly cachedTokens: Counter<"model">;
  readonly generatedTokens: Counter<"model">;
  readonly draftTokens: Counter<"model">;
  readonly acceptedDraftTokens: Counter<"model">;
  /** `encoded`, `found` if it was encoded before, or `failed`. */
  readonly pictures: Counter<"outcome">;
  readonly queueSeconds: Histogram<"model">;
  readonly loadSeconds: Histogram<"model">;
  readonly evictions: Counter<"model">;
  readonly waiting: Gauge<"model">;
  readonly slots: Gauge<"model">;
  readonly activeSlots: Gauge<"model">;
  readonly modelBytes: Gauge<"model" | "device">;
  readonly keyRequests: Counter<"key">;
  readonly keyPromptTokens: Counter<"key">;
  readonly keyGeneratedTokens: Counter<"key">;
  /** The host is the one of the replica. */
  readonly remoteRequests: Counter<"model" | "host" | "outcome">;
  readonly remoteErrors: Counter<"model" | "host" | "code">;
  readonly remoteRetries: Counter<"model" | "host">;
  readonly remoteFirstToken: Histogram<"model" | "host">;
  readonly remoteOpen: Gauge<"model" | "host">;
  readonly remoteBreaker: Gauge<"model" | "host">;
  readonly remoteDrained: Gauge<"model" | "host">;
  readonly conversations: Gauge<"where">;
  readonly conversationBytes: Gauge<"where">;
  readonly conversationLimitBytes: Gauge<"where">;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const byModel = ["model"] as const;
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames: byModel, registers });
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: byModel, registers });
  const byKey = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ["key"] as const, registers });
  const byReplica = ["model", "host"] as const;
  const replicaGauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: byReplica, registers });
  const byPlace = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ["where"] as const, registers });
  const seconds = (name: string, help: string) =>
    new Histogram({ name, help, labelNames: byModel, registers, buckets: secondBuckets });
  return {
    registry,
    requests: new Counter({
      name: "locallm_requests_total",
      help: "Requests answered",
      labelNames: ["route", "status"] as const,
      registers,
    }),
    promptTokens: counter("locallm_prompt_tokens_total", "Prompt tokens, including reused ones"),
    cachedTokens: counter("locallm_cached_prompt_tokens_total", "Prompt tokens reused from a cache"),
    generatedTokens: counter("locallm_generated_tokens_total", "Tokens generated"),
    draftTokens: counter("locallm_draft_tokens_total", "Tokens guessed and computed ahead"),
    acceptedDraftTokens: counter("locallm_accepted_draft_tokens_total", "Those of them that answers took"),
    pictures: new Counter({
      name: "locallm_pictures_total",
      help: "Pictures of requests to models of this machine: encoded, found encoded, or failed",
      labelNames: ["outcome"] as const,
      registers,
    }),
    queueSeconds: seconds("locallm_queue_seconds", "Time a request waits for its slot, including model load"),
    loadSeconds: seconds("locallm_load_seconds", "Time to load a model"),
    evictions: counter("locallm_evictions_total", "Times the model was unloaded to make room for another"),
    waiting: gauge("locallm_queue_depth", "Requests waiting"),
    slots: gauge("locallm_slots", "Slots of the loaded model"),
    activeSlots: gauge("locallm_slots_active", "Slots of the loaded model in use"),
    modelBytes: new Gauge({
      name: "locallm_model_bytes",
      help: "Memory of the loaded model, by device",
      labelNames: ["model", "device"] as const,
      registers,
    }),
    keyRequests: byKey("locallm_key_requests_total", "Requests admitted with the API key"),
    keyPromptTokens: byKey("locallm_key_prompt_tokens_total", "Prompt tokens, by API key"),
    keyGeneratedTokens: byKey("locallm_key_generated_tokens_total", "Tokens generated, by API key"),
    remoteRequests: new Counter({
      name: "locallm_remote_requests_total",
      help: "Requests sent to a replica of a remote model, by outcome: answered, failed or cancelled",
      labelNames: [...byReplica, "outcome"] as const,
      registers,
    }),
    remoteErrors: new Counter({
      name: "locallm_remote_errors_total",
      help: "Failed requests to a replica, by error code",
      labelNames: [...byReplica, "code"] as const,
      registers,
    }),
    remoteRetries: new Counter({
      name: "locallm_remote_retries_total",
      help: "Requests that went to another replica after this one failed",
      labelNames: byReplica,
      registers,
    }),
    remoteFirstToken: new Histogram({
      name: "locallm_remote_first_token_seconds",
      help: "Time from sending a request to a replica to the first piece of its answer",
      labelNames: byReplica,
      registers,
      buckets: secondBuckets,
    }),
    remoteOpen: replicaGauge("locallm_remote_open", "Requests that a replica computes"),
    remoteBreaker: replicaGauge(
      "locallm_remote_breaker",
      "State of a replica's breaker: 0 closed, 1 half-open, 2 open",
    ),
    remoteDrained: replicaGauge("locallm_remote_drained", "1 if the replica's host is drained"),
    conversations: byPlace(
      "locallm_conversations",
      "Conversations kept without a slot, in memory or on disk",
    ),
    conversationBytes: byPlace("locallm_conversation_bytes", "Size of the kept conversations"),
    conversationLimitBytes: byPlace("locallm_conversation_limit_bytes", "Limit of that size"),
  };
}

const secondBuckets = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
