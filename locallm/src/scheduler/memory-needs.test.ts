import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GgufHeader } from "../library/gguf/header.ts";
import { type LoadRequest, mostCheckpoints } from "../wire/inference/load.ts";
import type { RunnableModel } from "./lease.ts";
import { ampleBytes, layerNeeds, type MeasuredLoad, MemoryNeeds } from "./memory-needs.ts";

/** A header of architecture `x` with these keys and tensors, by size. */
function header(keys: Record<string, number>, tensors: Record<string, number>, tokens = 0): GgufHeader {
  const metadata = new Map<string, unknown>([["general.architecture", "x"]]);
  for (const [key, value] of Object.entries(keys)) metadata.set(`x.${key}`, value);
  if (tokens > 0) metadata.set("tokenizer.ggml.tokens", { length: tokens });
  return {
    metadata,
    tensors: Object.entries(tensors).map(([name, sizeBytes]) => ({ name, sizeBytes })),
  } as unknown as GgufHeader;
}

it("each layer takes its tensors and an equal share of the cache; the lookup table and the output are apart", () => {
  const tensors = {
    "token_embd.weight": 1_000,
    "output_norm.weight": 10,
    "output.weight": 500,
    "rope_freqs.weight": 7,
    "blk.0.attn_q.weight": 100,
    "blk.1.attn_q.weight": 200,
    "blk.1.ffn_up_exps.weight": 3_000,
    "blk.1.ffn_gate_exps.weight": 4_000,
    "blk.1.ffn_down_exps.weight": 500,
    "blk.2.attn_q.weight": 9_999,
  };
  const needs = layerNeeds(header({ block_count: 2, expert_count: 4 }, tensors), 60);
  expect(needs).toMatchObject({ lookup: 1_000, output: 510, hasExperts: true });
  expect(needs.layers.map(({ bytes }) => bytes)).toEqual([130, 7_730]);
  // What can be elsewhere if only the attention, or all but some matrices, has room.
  expect(needs.layers.map(({ elsewhere }) => elsewhere)).toEqual([
    { attention: 0, up: 0, gate: 0, dense: 0 },
    { attention: 7_500, up: 4_500, gate: 500, dense: 7_500 },
  ]);
});

it("an output that is tied to the embeddings is loaded a second time, and one expert is none", () => {
  const tensors = { "token_embd.weight": 1_000, "output_norm.weight": 10, "blk.0.attn_q.weight": 1 };
  const needs = layerNeeds(header({ expert_count: 0 }, tensors), 0);
  expect(needs).toMatchObject({ lookup: 1_000, output: 1_010, hasExperts: false });
  expect(needs.layers).toHaveLength(1);
});

const load = { numCtx: 1_000, numBatch: 64, slots: 3, kvCacheType: "f16", flashAttention: true } as never;

it("the upper bound counts weights, cache, attention scores, feed-forward and vocabulary", () => {
  const keys = { context_length: 4_096, embedding_length: 512, block_count: 5, "attention.head_count": 16 };
  const given = header({ ...keys, feed_forward_length: 2_000 }, { "blk.0.a": 77 }, 300);
  const cache = 3 * 5 * 4 * (1_024 * 2 * 16 * 128);
  const scores = 4 * 64 * (1_024 * 3 * 17 + 16 * 2_000);
  expect(ampleBytes(given, load)).toBe(77 + cache + scores + 4 * 67 * 300);
  // A window ends with what the model was trained on, and an embedding model reads all of it at once.
  const embedder = header({ ...keys, context_length: 600, pooling_type: 1, expert_used_count: 3 }, {});
  const rows = 768;
  expect(ampleBytes(embedder, load)).toBe(
    3 * 5 * 4 * (rows * 2 * 16 * 128) + 4 * rows * (rows * 3 * 17 + 16 * 3 * 2_048),
  );
});

it("the upper bound has room for a recurrent state and its checkpoints", () => {
  // Mamba-2 with 130 million weights. The engine keeps the last three columns that its convolution has read, too.
  const [inner, state, columns] = [1_536, 128, 4];
  const keys = { "ssm.inner_size": inner, "ssm.state_size": state, "ssm.conv_kernel": columns };
  const numbers = inner * state + (columns - 1) * (inner + 2 * state);
  const more = ampleBytes(header({ block_count: 24, ...keys }, {}), load);
  const held = more - ampleBytes(header({ block_count: 24 }, {}), load);
  expect(held).toBeGreaterThanOrEqual(24 * 3 * (1 + mostCheckpoints) * 4 * numbers);
});

it("the upper bound never falls where a model or its window grows", () => {
  const names = [
    ...["context_length", "embedding_length", "block_count", "feed_forward_length", "expert_used_count"],
    ...["attention.head_count", "attention.key_length", "attention.value_length", "attention.kv_lora_rank"],
    ...["ssm.inner_size", "ssm.state_size", "ssm.conv_kernel"],
  ];
  const keys = fc.record(Object.fromEntries(names.map((name) => [name, fc.integer({ min: 1, max: 9_000 })])));
  fc.assert(
    fc.property(keys, fc.constantFrom(...names), fc.integer({ min: 1, max: 9_000 }), (given, name, more) => {
      const grown = { ...given, [name]: given[name]! + more };
      const [small, large] = [given, grown].map((one) => ampleBytes(header(one, {}), load));
      expect(large).toBeGreaterThanOrEqual(small! * (1 - 1e-12));
      const heads = Math.max(given["attention.head_count"]!, Math.max(given["embedding_length"]!, 64) / 32);
      const length = Math.max(
        given["attention.key_length"]!,
        given["attention.value_length"]!,
        given["attention.kv_lora_rank"]! + 128,
      );
      const window = Math.min(1_000, given["context_length"]!);
      const states = given["ssm.inner_size"]! * (given["ssm.state_size"]! + given["ssm.conv_kernel"]!);
      expect(small).toBeGreaterThan(3 * 4 * given["block_count"]! * (window * 2 * heads * length + states));
    }),
    { numRuns: 500, seed: 41 },
  );
});

describe("what a model takes", () => {
  let folder = "";
  let model: RunnableModel;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "needs-"));
    for (const [name, bytes] of Object.entries({ model: 5, more: 6, adapter: 70 }))
      await writeFile(join(folder, name), Buffer.alloc(bytes));
    const [modelPath, more, path] = ["model", "more", "adapter"].map((name) => join(folder, name));
    model = {
      ...{
        name: "m",
        digest: "d",
        weights: "w",
        modelPath: modelPath!,
        furtherPaths: [more!],
        trainContext: null,
      },
      adapters: [{ path: path!, scale: 1 }],
    };
  });
  afterAll(() => rm(folder, { recursive: true }));

  const wish = (changes: Partial<MeasuredLoad> = {}): MeasuredLoad => ({
    ...{
      numCtx: 1_000,
      numBatch: null,
      slots: 2,
      kvCacheType: "f16",
      flashAttention: "auto",
      drafts: "auto",
    },
    ...changes,
  });
  const tensors = { "token_embd.weight": 100, "output.weight": 50, "blk.0.attn_q.weight": 850 };
  /** A token of the window takes a byte of the cache; the engine computes in 10 bytes, and 5 for each thousand of them. */
  const sizesOf = ({ numCtx }: LoadRequest) =>
    ({ weights: 900, context: numCtx, compute: 10 + Math.floor(numCtx / 200), checkpoints: 7 }) as const;

  function needs({
    hasGpu = true,
    availableBytes = 0,
    measure = async (asked: LoadRequest): Promise<ReturnType<typeof sizesOf> | null> => sizesOf(asked),
  } = {}) {
    const asked: LoadRequest[] = [];
    const read: (readonly string[])[] = [];
    const given = header({ block_count: 1 }, tensors);
    const drafter = header({ block_count: 1 }, { "blk.0.attn_q.weight": 30 });
    const ofWhole = async (paths: readonly string[]) => {
      read.push(paths);
      return given;
    };
    const found = new MemoryNeeds({
      store: { headers: { ofWhole, of: async () => drafter } } as never,
      measure: async (request) => {
        asked.push(request);
        return await measure(request);
      },
      hasGpu,
      availableBytes: () => availableBytes,
    });
    return { of: (load: MeasuredLoad, one = model) => found.of(one, load), asked, read, given, drafter };
  }

  it("is measured once for each load, without the adapters, whose bytes are added", async () => {
    const { of, asked, read } = needs();
    expect(await of(wish())).toMatchObject({
      compute: 15 + 70,
      total: 900 + 1_000 + 15 + 70 + 7,
      lookup: 100,
      output: 50,
    });
    await Promise.all([of(wish()), of(wish())]);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ numCtx: 1_000, slots: 2, adapters: [], numThread: 1, drafts: "on" });
    expect("cells" in asked[0]!).toBe(false);
    expect(read[0]).toEqual([model.modelPath, ...model.furtherPaths!]);
    await of(wish({ numCtx: 2_000 }));
    await of(wish({ cells: 3_000 }));
    await of(wish({ slots: 3 }));
    expect(asked).toHaveLength(4);
    expect(asked[2]).toMatchObject({ cells: 3_000 });
  });

  it("is measured again if a file has changed, and if that failed", async () => {
    let fails = true;
    const { of, asked } = needs({
      measure: async (request) => {
        if (fails) throw new Error("no");
        return sizesOf(request);
      },
    });
    await expect(of(wish())).rejects.toThrow("no");
    fails = false;
    await of(wish());
    await of(wish());
    expect(asked).toHaveLength(2);
    await truncate(join(folder, "more"), 4);
    await of(wish());
    expect(asked).toHaveLength(3);
  });

  it("is extrapolated from two shorter windows where the window is long", async () => {
    const { of, asked } = needs();
    await of(wish({ numCtx: 65_536 }));
    expect(asked.map(({ numCtx }) => numCtx)).toEqual([65_536]);
    const long = await of(wish({ numCtx: 163_840, cells: 400_000 }));
    expect(asked.slice(1).map(({ numCtx, cells }) => [numCtx, cells])).toEqual([
      [32_768, 80_000],
      [65_536, 160_000],
    ]);
    const [half, whole] = [10 + 163, 10 + 327];
    const compute = whole + 3 * (whole - half);
    expect(long.total).toBe(900 + 163_840 + compute + 70 + 7);
    for (const missing of [32_768, 65_536]) {
      const { of } = needs({ measure: async (one) => (one.numCtx === missing ? null : sizesOf(one)) });
      expect((await of(wish({ numCtx: 163_840 }))).total).toBe(1_200 + 70);
    }
  });

  it("is assumed from the weights if the dry load tells nothing", async () => {
    const { of } = needs({ measure: async () => null });
    expect(await of(wish())).toMatchObject({ total: 1_200 + 70, compute: 200 + 70 });
  });

  it("is not measured where twice an upper bound is available and there is no GPU", async () => {
    const least = 2 * ampleBytes(needs().given, wish());
    const measured = async (hasGpu: boolean, availableBytes: number, changes: Partial<MeasuredLoad> = {}) => {
      const { of, asked } = needs({ hasGpu, availableBytes });
      const { total } = await of(wish(changes));
      return [asked.map(({ drafts }) => drafts), total === least / 2 + 70];
    };
    expect(await measured(false, least)).toEqual([[], true]);
    expect(await measured(false, least - 1)).toEqual([["auto"], false]);
    expect(await measured(true, least)).toEqual([["on"], false]);
    expect(await measured(true, least, { drafts: "off" })).toEqual([["off"], false]);
  });

  it("is the upper bound of both if another model drafts", async () => {
    const { of, asked, given, drafter } = needs({ hasGpu: false, availableBytes: 1e12 });
    const drafting = { ...model, draftPath: join(folder, "more") };
    const both = ampleBytes(given, wish()) + ampleBytes(drafter, wish());
    expect((await of(wish({ drafts: "on" }), drafting)).total).toBe(both + 70);
    expect((await of(wish({ drafts: "off" }), drafting)).total).toBe(ampleBytes(given, wish()) + 70);
    expect(asked).toEqual([]);
  });
});
