import { goJson } from "../wire/go-json.ts";
import type { Layer } from "./manifest.ts";
import type { ModelConfig } from "./model.ts";

/** The fields in the order in which Ollama writes them, so that equal models have equal digests. */
const fieldOrder = [
  "model_format",
  "model_family",
  "model_families",
  "model_type",
  "file_type",
  "renderer",
  "parser",
  "requires",
  "remote_host",
  "remote_model",
  "capabilities",
  "context_length",
  "embedding_length",
  "base_name",
  // Not a field of Ollama, so it comes last.
  "remotes",
] as const;

/** The content of the configuration blob of a model with these layers. */
export function configBytes(fields: ModelConfig, layers: readonly Layer[]): string {
  const ordered: Record<string, unknown> = {};
  for (const field of fieldOrder) {
    const value = fields[field];
    if (value !== undefined && value !== null) ordered[field] = value;
  }
  return goJson({
    ...ordered,
    architecture: "amd64",
    os: "linux",
    rootfs: { type: "layers", diff_ids: layers.map((layer) => layer.digest) },
  });
}
