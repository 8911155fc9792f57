import type { GgufHeader } from "./gguf/header.ts";
import type { Model } from "./model.ts";
import { headerOf, headerValue } from "./model-details.ts";
import type { Store } from "./store.ts";

/** What weights are made for. */
export type Purpose = "completion" | "embedding" | "rerank";

/** What the model's weights are made for, read from their header. Null if this server can ask them nothing. */
export async function modelPurpose(store: Store, model: Model): Promise<Purpose | null> {
  const header = await headerOf(store, model);
  return header === null ? "completion" : purposeOf(header);
}

/** The engine must agree with it: see `canGenerate` in `engine/model.ts`. */
export function purposeOf(header: Pick<GgufHeader, "metadata" | "tensors">): Purpose | null {
  if (unasked.has(String(header.metadata.get("general.architecture")))) return null;
  const pooling = headerValue(header, "pooling_type");
  if (pooling === rankPooling) return hasRankHead(header) ? "rerank" : null;
  if (pooling !== undefined && pooling !== noPooling) return "embedding";
  const readsBothWays = headerValue(header, "attention.causal") === false;
  return readsBothWays ? "embedding" : "completion";
}

function hasRankHead({ tensors }: Pick<GgufHeader, "tensors">): boolean {
  return tensors.some(({ name }) => name === "cls.weight" || name === "cls.output.weight");
}

/** llama.cpp's numbers of a pooling. */
const noPooling = 0;
const rankPooling = 4;

/**
 * Architectures that llama.cpp loads and that answer in other ways than one token after the other: encoders with
 * decoders, diffusion of text, and voices.
 */
const unasked: ReadonlySet<string> = new Set([
  "t5",
  "dream",
  "llada",
  "llada-moe",
  "rnd1",
  "wavtokenizer-dec",
]);
