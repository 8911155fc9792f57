import { stat } from "node:fs/promises";
import type { Needs } from "../gpu/placement.ts";
import { headerLengths, headerValue } from "../library/details.ts";
import type { GgufHeader } from "../library/gguf/header.ts";
import type { Store } from "../library/store.ts";
import type { LoadRequest } from "../wire/inference/load.ts";
import type { RunnableModel } from "./lease.ts";

/** What of a load decides its memory. */
export type EstimateLoad = Pick<
  LoadRequest,
  "numCtx" | "numBatch" | "slots" | "kvCacheType" | "flashAttention"
>;

export interface Estimate {
  readonly weights: number;
  readonly context: number;
  readonly compute: number;
}

/** Memory that a model will take when loaded, from its header alone. */
export async function estimateNeeds(store: Store, model: RunnableModel, load: EstimateLoad): Promise<Needs> {
  const header = await store.headers.ofWhole([model.modelPath, ...(model.furtherPaths ?? [])]);
  const { weights, context, compute } = estimate(header, load);
  const sizes = await Promise.all(model.adapters.map(async ({ path }) => (await stat(path)).size));
  const adapters = sizes.reduce((sum, bytes) => sum + bytes, 0);
  return {
    ...layerNeeds(header, context),
    // An adapter lies where the layers lie that it changes.
    compute: compute + adapters,
    total: weights + context + compute + adapters,
  };
}

/** What goes to a GPU with each layer. The cache is the same for all; tokens are looked up on the processor. */
export function layerNeeds(
  header: GgufHeader,
  contextBytes: number,
): Pick<Needs, "layers" | "output" | "lookup"> {
  const { layers: count } = shapeOf(header);
  const layers = new Array<number>(count).fill(contextBytes / count);
  let output = 0;
  let lookup = 0;
  for (const { name, sizeBytes } of header.tensors) {
    const layer = /^blk\.(\d+)\./.exec(name)?.[1];
    if (layer !== undefined && Number(layer) < count) layers[Number(layer)]! += sizeBytes;
    else if (name === "token_embd.weight") lookup = sizeBytes;
    else if (name.startsWith("output")) output += sizeBytes;
  }
  // Without weights of its own the output takes the lookup's, a second time.
  const isTied = !header.tensors.some(({ name }) => name === "output.weight");
  return { layers, output: isTied ? output + lookup : output, lookup };
}

/** Memory that may still be taken, within what a container allows. */
export function availableBytes(): number {
  return process.availableMemory();
}

/**
 * The engine's three kinds of buffers. Weights and cache are exact; what a step computes in is fitted to what
 * the engine was seen to allocate (`estimate.test.ts` in `test/` holds it to 5 % of the whole).
 */
export function estimate(header: GgufHeader, load: EstimateLoad): Estimate {
  const shape = shapeOf(header);
  const weights = header.tensors.reduce((sum, tensor) => sum + tensor.sizeBytes, 0);
  const window = Math.min(load.numCtx, shape.trainContext);
  return shape.isEncoder
    ? { weights, context: 0, compute: encoderBytes(shape, window) }
    : { weights, context: cacheBytes(shape, window, load), compute: stepBytes(shape, window, load) };
}

interface Shape {
  readonly layers: number;
  readonly embedding: number;
  readonly feedForward: number;
  readonly heads: number;
  /** Numbers that one layer keeps of one token: keys and values together. */
  readonly cachedPerLayer: number;
  readonly stateBytesPerSlot: number;
  readonly vocabulary: number;
  readonly trainContext: number;
  /** Reads a text whole and makes a vector: no cache, no next token. */
  readonly isEncoder: boolean;
}

function shapeOf(header: GgufHeader): Shape {
  const number = (key: string, otherwise: number) => {
    const value = headerValue(header, key);
    return typeof value === "number" ? value : otherwise;
  };
  const layers = number("block_count", 1);
  const { contextLength, embeddingLength } = headerLengths(header);
  const embedding = embeddingLength ?? 0;
  const heads = number("attention.head_count", 1);
  const headsKv = number("attention.head_count_kv", heads);
  const headLength = heads > 0 ? embedding / heads : 0;
  const keyLength = number("attention.key_length", headLength);
  const valueLength = number("attention.value_length", headLength);
  const tokens = header.metadata.get("tokenizer.ggml.tokens");
  const inner = number("ssm.inner_size", 0);
  const state = inner * (number("ssm.state_size", 0) + number("ssm.conv_kernel", 1) - 1);
  return {
    layers,
    embedding,
    feedForward: number("feed_forward_length", 4 * embedding),
    heads,
    cachedPerLayer: headsKv * (keyLength + valueLength),
    stateBytesPerSlot: layers * state * 4,
    vocabulary: typeof tokens === "object" ? tokens.length : number("vocab_size", 0),
    trainContext: contextLength ?? Number.POSITIVE_INFINITY,
    isEncoder: headerValue(header, "attention.causal") === false,
  };
}

/** Bytes of one number in the cache; the quantised kinds keep blocks of 32 with a scale. */
const cacheNumberBytes = { f16: 2, q8_0: 34 / 32, q4_0: 18 / 32 };
/** The engine rounds a window up to whole blocks of cells. */
const cellBlock = 256;

function cells(window: number): number {
  return Math.ceil(window / cellBlock) * cellBlock;
}

function cacheBytes(shape: Shape, window: number, { slots, kvCacheType }: EstimateLoad): number {
  const perCell = shape.layers * shape.cachedPerLayer * cacheNumberBytes[kvCacheType];
  return slots * (cells(window) * perCell + shape.stateBytesPerSlot);
}

const defaultBatch = 512;

/**
 * A step's buffers: activations of every token of the batch, the attention mask (and, without flash attention,
 * the scores of every head) over the window, and the logits of one token a slot.
 */
function stepBytes(shape: Shape, window: number, { numBatch, slots, flashAttention }: EstimateLoad): number {
  const { embedding, feedForward, heads, vocabulary } = shape;
  const batch = Math.min(Math.max(numBatch ?? defaultBatch, slots, 2), window * slots);
  const logits = slots * vocabulary * 4;
  const activations = batch * 4 * Math.max(6 * feedForward - 4 * embedding, 8 * embedding);
  const perPair = flashAttention === "off" ? 4 * heads + 4 : 2;
  const attention = batch * cells(window) * perPair;
  if (flashAttention !== "off") return logits + activations + attention;
  return logits + Math.max(activations, attention + batch * 4 * 5 * embedding);
}

/** Texts of one batch of vectors. */
const encoderSequences = 64;

function encoderBytes(shape: Shape, window: number): number {
  return encoderSequences * shape.vocabulary * 4 + window * 4 * 8 * shape.embedding;
}
