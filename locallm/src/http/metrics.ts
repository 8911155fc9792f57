import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Counters of one server, in a registry of their own: two servers in a process do not mix. */
export interface Metrics {
  readonly registry: Registry;
  readonly requests: Counter<"route" | "status">;
  readonly promptTokens: Counter<"model">;
  readonly cachedTokens: Counter<"model">;
  readonly generatedTokens: Counter<"model">;
  readonly queueSeconds: Histogram<"model">;
  readonly loadSeconds: Histogram<"model">;
  readonly evictions: Counter<"model">;
  readonly waiting: Gauge<"model">;
  readonly slots: Gauge<"model">;
  readonly activeSlots: Gauge<"model">;
  readonly modelBytes: Gauge<"model" | "device">;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const byModel = ["model"] as const;
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames: byModel, registers });
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: byModel, registers });
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
    promptTokens: counter("locallm_prompt_tokens_total", "Prompt tokens, reused ones included"),
    cachedTokens: counter("locallm_cached_prompt_tokens_total", "Prompt tokens that a slot still held"),
    generatedTokens: counter("locallm_generated_tokens_total", "Tokens generated"),
    queueSeconds: seconds("locallm_queue_seconds", "From a request to its slot, load included"),
    loadSeconds: seconds("locallm_load_seconds", "Time to load a model"),
    evictions: counter("locallm_evictions_total", "Times the model lost its place to another"),
    waiting: gauge("locallm_queue_depth", "Requests waiting"),
    slots: gauge("locallm_slots", "Parallel places of the loaded model"),
    activeSlots: gauge("locallm_slots_active", "Of those, in use"),
    modelBytes: new Gauge({
      name: "locallm_model_bytes",
      help: "Memory of the loaded model, by the device on which it lies",
      labelNames: ["model", "device"] as const,
      registers,
    }),
  };
}

const secondBuckets = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
