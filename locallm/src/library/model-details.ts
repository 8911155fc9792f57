import type { GgufHeader } from "./gguf/header.ts";
import { fileTypeName } from "./gguf/quantisation.ts";
import { mediaTypes } from "./manifest.ts";
import type { Model } from "./model.ts";
import type { Store } from "./store.ts";

/** `details` of tags, ps and show, with Ollama's field names. */
export interface ModelDetails {
  parent_model: string;
  format: string;
  family: string;
  families: string[] | null;
  parameter_size: string;
  quantization_level: string;
  context_length?: number;
  embedding_length?: number;
}

/**
 * A model's details for lists. They come from the configuration blob; stores written by other programs may omit the
 * lengths, which then come from the cached header of the weights.
 */
export async function modelDetails(store: Store, model: Model): Promise<ModelDetails> {
  const { config } = model;
  const header = await headerOf(store, model);
  const lengths = header === null ? {} : headerLengths(header);
  const contextLength = config.context_length || lengths.contextLength;
  const embeddingLength = config.embedding_length || lengths.embeddingLength;
  return {
    parent_model: model.manifest.layers.find(({ mediaType }) => mediaType === mediaTypes.model)?.from ?? "",
    format: config.model_format ?? "",
    family: config.model_family ?? "",
    families: config.model_families ?? null,
    parameter_size: config.model_type ?? "",
    quantization_level: config.file_type ?? "",
    ...(contextLength === undefined ? {} : { context_length: contextLength }),
    ...(embeddingLength === undefined ? {} : { embedding_length: embeddingLength }),
  };
}

export interface TemplateSource {
  language: "go" | "jinja";
  text: string;
}

/** The model's Go template, else the Jinja template in its weights, else null. */
export function modelTemplate(model: Model, header: GgufHeader | null): TemplateSource | null {
  if (model.template !== null) return { language: "go", text: model.template };
  const own = header?.metadata.get("tokenizer.chat_template");
  return typeof own === "string" && own !== "" ? { language: "jinja", text: own } : null;
}

/**
 * The header of the weights, or null for a model without weights. For a split model: the first file's header with the
 * tensors of all files. Throws `invalid_gguf`.
 */
export async function headerOf(store: Store, model: Model): Promise<GgufHeader | null> {
  return model.modelPaths.length === 0 ? null : await store.headers.ofWhole(model.modelPaths);
}

/** Fields of the configuration blob that come from the header. */
export function detailsFromHeader(header: GgufHeader) {
  const architecture = header.metadata.get("general.architecture");
  const fileType = header.metadata.get("general.file_type");
  const family = typeof architecture === "string" ? architecture : "";
  return {
    model_format: "gguf",
    model_family: family,
    model_families: [family],
    model_type: humanCount(header.parameterCount),
    file_type: typeof fileType === "number" ? fileTypeName(fileType) : "unknown",
  };
}

export function headerLengths(header: GgufHeader): { contextLength?: number; embeddingLength?: number } {
  const contextLength = headerValue(header, "context_length");
  const embeddingLength = headerValue(header, "embedding_length");
  return {
    ...(typeof contextLength === "number" ? { contextLength } : {}),
    ...(typeof embeddingLength === "number" ? { embeddingLength } : {}),
  };
}

/** A metadata value with the architecture as prefix: `context_length` → `llama.context_length`. */
export function headerValue(header: Pick<GgufHeader, "metadata">, key: string) {
  return header.metadata.get(`${String(header.metadata.get("general.architecture"))}.${key}`);
}

/** The type of most bytes of the matrices, or null if there are none. */
export function mainType({ tensors }: Pick<GgufHeader, "tensors">): string | null {
  const bytes = new Map<string, number>();
  for (const { type, shape, sizeBytes } of tensors)
    if (shape.length > 1) bytes.set(type, (bytes.get(type) ?? 0) + sizeBytes);
  return [...bytes].sort(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}

/** 134515008 → `134.52M`, like Ollama. */
export function humanCount(count: number): string {
  if (count >= 1e9) return `${trimmed(count / 1e9, 1)}B`;
  if (count >= 1e6) return `${trimmed(count / 1e6, 2)}M`;
  if (count >= 1e3) return `${(count / 1e3).toFixed(0)}K`;
  return String(count);
}

function trimmed(value: number, digits: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(digits);
}
