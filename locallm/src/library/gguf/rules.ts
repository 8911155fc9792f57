import { counted } from "../../wire/counted.ts";
import { LocallmError } from "../../wire/errors.ts";
import type { GgufArray, GgufHeader, GgufItemType, GgufScalar } from "./header.ts";

/** What a GGUF file is for, according to its `general.type` or its architecture. */
export type GgufKind = "model" | "adapter" | "projector" | "vocabulary";

export function ggufKind(header: GgufHeader): GgufKind {
  const type = header.metadata.get("general.type");
  if (type === "adapter") return "adapter";
  const architecture = header.metadata.get("general.architecture");
  if (type === "mmproj" || type === "projector" || architecture === "clip") return "projector";
  // The first file of a split model may contain only metadata.
  return header.tensors.length === 0 && !header.metadata.has("split.count") ? "vocabulary" : "model";
}

/**
 * Checks assumptions that native code does not verify: counts that it divides by, and arrays whose lengths
 * must match. Throws `invalid_gguf`. Only for weights, because adapters and projectors have other keys.
 */
export function checkModelRules(header: GgufHeader): void {
  const architecture = header.metadata.get("general.architecture");
  if (typeof architecture !== "string" || !/^[a-z0-9][a-z0-9_.-]{0,63}$/i.test(architecture)) {
    throw broken("general.architecture must be a short name");
  }
  // State-space models have no attention heads, which they express as 0.
  const isRecurrent = [...header.metadata.keys()].some((key) => /\.(ssm|wkv)\./.test(key));
  wholeNumber(header, `${architecture}.block_count`, { least: 1, most: 16_384 });
  wholeNumber(header, `${architecture}.embedding_length`, { least: 1, most: 1_048_576 });
  wholeNumber(header, `${architecture}.context_length`, { least: 1, most: 2 ** 31 });
  for (const key of ["attention.head_count", "attention.head_count_kv"]) {
    wholeNumber(header, `${architecture}.${key}`, { least: isRecurrent ? 0 : 1, most: 65_536 });
  }
  for (const key of ["attention.key_length", "attention.value_length", "rope.dimension_count"]) {
    wholeNumber(header, `${architecture}.${key}`, { least: 0, most: 65_536 });
  }
  for (const key of ["expert_count", "expert_used_count", "feed_forward_length", "vocab_size"]) {
    wholeNumber(header, `${architecture}.${key}`, { least: 0, most: 2 ** 31 });
  }
  checkFloats(header, architecture);
  checkVocabulary(header);
}

/** libmtmd makes room for all blocks, 720 bytes for each, before it looks for their tensors. Throws `invalid_gguf`. */
export function checkProjectorRules(header: GgufHeader): void {
  for (const key of header.metadata.keys())
    if (/^clip\..*block_count$/.test(key)) wholeNumber(header, key, { least: 0, most: 16_384 });
}

/** Checks the floats that the engine computes with: all must be finite, some must not be negative. */
function checkFloats(header: GgufHeader, architecture: string): void {
  for (const [key, value] of header.metadata) {
    if (!key.startsWith(`${architecture}.`) || typeof value !== "number") continue;
    if (!Number.isFinite(value)) throw broken(`${key} must be a finite number`);
    if (/epsilon$|freq_base|scaling\.factor$/.test(key) && value < 0)
      throw broken(`${key} must not be negative`);
  }
}

interface Range {
  least: number;
  most: number;
}

/** Accepts absent values, which the engine checks itself, and arrays with one value per layer. */
function wholeNumber(header: GgufHeader, key: string, { least, most }: Range): void {
  const value = header.metadata.get(key);
  if (value === undefined) return;
  if (isArray(value)) {
    if (
      value.length === 0 ||
      value.itemType === "string" ||
      value.itemType === "f32" ||
      value.itemType === "f64"
    ) {
      throw broken(`${key} must contain whole numbers`);
    }
    return;
  }
  if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most) {
    throw broken(`${key} must be a whole number from ${least} to ${most}`);
  }
}

const vocabularyArrays: Readonly<Record<string, readonly GgufItemType[]>> = {
  "tokenizer.ggml.tokens": ["string"],
  "tokenizer.ggml.scores": ["f32"],
  "tokenizer.ggml.token_type": ["i32", "u32"],
  "tokenizer.ggml.merges": ["string"],
};

function checkVocabulary(header: GgufHeader): void {
  const tokens = header.metadata.get("tokenizer.ggml.tokens");
  for (const [key, allowed] of Object.entries(vocabularyArrays)) {
    const value = header.metadata.get(key);
    if (value === undefined) continue;
    if (!isArray(value) || !allowed.includes(value.itemType)) {
      throw broken(`${key} must be an array of ${allowed[0]}`);
    }
    if (
      key !== "tokenizer.ggml.merges" &&
      (!isArray(tokens ?? 0) || value.length !== (tokens as GgufArray).length)
    ) {
      throw broken(`${key} has ${value.length} items, but tokenizer.ggml.tokens has another length`);
    }
  }
  if (tokens === undefined || !isArray(tokens)) return;
  for (const [key, value] of header.metadata) {
    if (!/^tokenizer\.ggml\.\w+_token_id$/.test(key)) continue;
    if (typeof value !== "number" || !Number.isInteger(value) || value < -1) {
      throw broken(`${key} must be a token id`);
    }
    // Some converters write 2^32 - 1 for "none".
    if (value >= tokens.length && value !== 0xffffffff) {
      throw broken(`${key} is ${value}, but the vocabulary has ${counted(tokens.length, "token")}`);
    }
  }
}

function isArray(value: GgufScalar | GgufArray): value is GgufArray {
  return typeof value === "object";
}

function broken(rule: string): LocallmError {
  return new LocallmError("invalid_gguf", { rule });
}
