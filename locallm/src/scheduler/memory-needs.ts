import { stat } from "node:fs/promises";
import type { Needs } from "../gpu/placement.ts";
import type { GgufHeader } from "../library/gguf/header.ts";
import { headerLengths, headerValue } from "../library/model-details.ts";
import { RecentlyUsed } from "../library/recently-used.ts";
import type { Store } from "../library/store.ts";
import {
  elsewherePattern,
  type Kept,
  type LoadRequest,
  type ModelInfo,
  mostCheckpoints,
  onlyProcessor,
} from "../wire/inference/load.ts";
import { filesOf, type RunnableModel } from "./lease.ts";

/** The load options that affect memory use. */
export type MeasuredLoad = Pick<
  LoadRequest,
  "numCtx" | "numBatch" | "slots" | "cells" | "kvCacheType" | "flashAttention" | "drafts"
>;

type Sizes = ModelInfo["sizeBytes"];

export interface MemoryNeedsParts {
  readonly store: Store;
  /** Runs a dry load in a separate process. Returns null if it returned no sizes. */
  readonly measure: (request: LoadRequest) => Promise<Sizes | null>;
  /** With a GPU, exact sizes are needed to split layers between devices. */
  readonly hasGpu: boolean;
  readonly availableBytes: () => number;
}

const keptMeasurements = 256;
/** A number of tokens. */
const longWindow = 65_536;
/**
 * If the dry load returned nothing, the needed memory is assumed to be the weights' size times this factor.
 * The real load shows whether it fits.
 */
const unmeasuredFactor = 1.2;

/**
 * Determines how much memory a model takes when loaded. A dry load measures it, because no formula of ours
 * covers experts, sliding windows, recurrent states and embedding models. Results are cached by weights and
 * options. A dry load takes about 250 ms, so it is skipped if there is no GPU and if twice the upper bound
 * for the model is available.
 */
export class MemoryNeeds {
  readonly #parts: MemoryNeedsParts;
  readonly #measured = new RecentlyUsed<string, Promise<Sizes | null>>(keptMeasurements);

  constructor(parts: MemoryNeedsParts) {
    this.#parts = parts;
  }

  /** Throws the engine's error if it cannot load the model. */
  async of(model: RunnableModel, load: MeasuredLoad): Promise<Needs> {
    const { store, hasGpu, availableBytes } = this.#parts;
    const paths = [model.modelPath, ...(model.furtherPaths ?? [])];
    const header = await store.headers.ofWhole(paths);
    const { draftPath } = model;
    const isDrafted = draftPath !== undefined && this.#drafts(load) === "on";
    const drafter = isDrafted ? ampleBytes(await store.headers.of(draftPath), load) : 0;
    const ample = ampleBytes(header, load) + drafter;
    const isAmple = !hasGpu && 2 * ample <= availableBytes();
    const sizes = isAmple
      ? spread(header, ample)
      : ((await this.#measureAny(model, load)) ?? spread(header, unmeasuredFactor * weightsBytes(header)));
    const adapters = await Promise.all(model.adapters.map(async ({ path }) => (await stat(path)).size));
    const compute = sizes.compute + adapters.reduce((sum, bytes) => sum + bytes, 0);
    return {
      ...layerNeeds(header, sizes.context),
      // An adapter is placed on the same devices as the layers it changes.
      compute,
      total: sizes.weights + sizes.context + compute + sizes.checkpoints,
    };
  }

  /**
   * Measures any window. Memory grows linearly beyond `longWindow`, so larger windows are extrapolated from
   * two shorter ones. Even a dry load keeps a record for each token of the window.
   */
  async #measureAny(model: RunnableModel, load: MeasuredLoad): Promise<Sizes | null> {
    if (load.numCtx <= longWindow) return await this.#measure(model, load);
    const half = await this.#measure(model, shortened(load, longWindow / 2));
    const whole = await this.#measure(model, shortened(load, longWindow));
    if (half === null || whole === null) return null;
    const further = (load.numCtx - longWindow) / (longWindow / 2);
    const grow = (part: "context" | "compute") => whole[part] + further * (whole[part] - half[part]);
    return { ...whole, context: grow("context"), compute: grow("compute") };
  }

  /** The dry load has no GPU, even if the model will have one. */
  #drafts({ drafts }: MeasuredLoad): MeasuredLoad["drafts"] {
    return drafts === "auto" && this.#parts.hasGpu ? "on" : drafts;
  }

  async #measure(model: RunnableModel, load: MeasuredLoad): Promise<Sizes | null> {
    // A changed file under the same path is a different model.
    const stamps = await Promise.all(
      [model.modelPath, ...(model.furtherPaths ?? []), model.draftPath ?? []].flat().map(async (path) => {
        const { ino, size, mtimeMs } = await stat(path);
        return [path, ino, size, mtimeMs];
      }),
    );
    const { numCtx, numBatch, slots, cells, kvCacheType, flashAttention } = load;
    const drafts = this.#drafts(load);
    const key = JSON.stringify([
      ...[stamps, numCtx, numBatch, slots, cells, kvCacheType, flashAttention, drafts],
    ]);
    const known = this.#measured.get(key);
    if (known !== undefined) return await known;
    const measuring = this.#parts.measure({
      ...filesOf(model),
      adapters: [],
      numThread: 1,
      placement: onlyProcessor,
      useMmap: null,
      ...{ numCtx, numBatch, slots, kvCacheType, flashAttention },
      ...(cells === undefined ? {} : { cells }),
      ...(drafts === undefined ? {} : { drafts }),
    });
    this.#measured.set(key, measuring);
    measuring.catch(() => this.#measured.delete(key));
    return await measuring;
  }
}

/**
 * Returns the memory by layer. Every layer has the same share of the cache, and the token lookup table stays
 * on the CPU.
 */
export function layerNeeds(
  header: GgufHeader,
  contextBytes: number,
): Pick<Needs, "layers" | "hasExperts" | "output" | "lookup"> {
  const count = numberOf(header, "block_count", 1);
  const layers = Array.from({ length: count }, () => ({
    bytes: contextBytes / count,
    elsewhere: { attention: 0, up: 0, gate: 0, dense: 0 },
  }));
  let output = 0;
  let lookup = 0;
  for (const { name, sizeBytes } of header.tensors) {
    const number = Number(/^blk\.(\d+)\./.exec(name)?.[1] ?? Number.NaN);
    const layer = layers[number];
    if (layer !== undefined) {
      layer.bytes += sizeBytes;
      for (const kept of kinds)
        if (new RegExp(elsewherePattern(number, kept)).test(name)) layer.elsewhere[kept] += sizeBytes;
    } else if (name === "token_embd.weight") lookup = sizeBytes;
    else if (name.startsWith("output")) output += sizeBytes;
  }
  // If the output is tied to the token embeddings, the engine loads the embeddings a second time for the
  // output.
  const isTied = !header.tensors.some(({ name }) => name === "output.weight");
  const hasExperts = numberOf(header, "expert_count", 0) > 0;
  return { layers, hasExperts, output: isTied ? output + lookup : output, lookup };
}

const kinds: readonly Kept[] = ["attention", "up", "gate", "dense"];

/**
 * Returns an upper bound for a model of these dimensions. It assumes 32-bit keys, values and attention scores
 * of all heads.
 */
export function ampleBytes(header: GgufHeader, { numCtx, numBatch, slots, cells }: MeasuredLoad): number {
  const { contextLength = Number.POSITIVE_INFINITY, embeddingLength = 0 } = headerLengths(header);
  const window = Math.ceil(Math.min(numCtx, contextLength) / 256) * 256;
  const held = Math.min(slots * window, Math.ceil((cells ?? slots * window) / 256) * 256);
  const embedding = Math.max(embeddingLength, 64);
  const layers = numberOf(header, "block_count", 128);
  const heads = Math.max(numberOf(header, "attention.head_count", 0), embedding / 32);
  const headLength = Math.max(
    numberOf(header, "attention.key_length", 0),
    numberOf(header, "attention.value_length", 0),
    numberOf(header, "attention.kv_lora_rank", 0) + 128,
    embedding / heads,
  );
  const state =
    numberOf(header, "ssm.inner_size", 0) *
    (numberOf(header, "ssm.state_size", 0) + numberOf(header, "ssm.conv_kernel", 0) + 1);
  // A sliding window with its checkpoints takes at most twice what a cache for the whole window takes, with 16 bits.
  const context = layers * 4 * (held * 2 * heads * headLength + slots * (1 + mostCheckpoints) * state);

  // An embedding model processes its whole context in one step.
  const rows = headerValue(header, "pooling_type") === undefined ? (numBatch ?? 512) : window;
  const feedForward =
    numberOf(header, "feed_forward_length", 4 * embedding) *
    Math.max(1, numberOf(header, "expert_used_count", 1));
  const tokens = header.metadata.get("tokenizer.ggml.tokens");
  const vocabulary = typeof tokens === "object" ? tokens.length : 0;
  const compute =
    4 * rows * (held * (heads + 1) + 16 * Math.max(feedForward, embedding)) + 4 * (slots + 64) * vocabulary;
  return weightsBytes(header) + context + compute;
}

/** The same load with a shorter window, and a shared cache of as many windows. */
function shortened(load: MeasuredLoad, numCtx: number): MeasuredLoad {
  const { cells } = load;
  return {
    ...load,
    numCtx,
    ...(cells === undefined ? {} : { cells: Math.ceil((cells / load.numCtx) * numCtx) }),
  };
}

function weightsBytes(header: GgufHeader): number {
  return header.tensors.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

function spread(header: GgufHeader, totalBytes: number): Sizes {
  const weights = weightsBytes(header);
  return { weights, context: 0, compute: totalBytes - weights, checkpoints: 0 };
}

function numberOf(header: GgufHeader, key: string, otherwise: number): number {
  const value = headerValue(header, key);
  return typeof value === "number" ? value : otherwise;
}
