import fc from "fast-check";
import { expect, it } from "vitest";
import type { GgufHeader } from "../library/gguf/header.ts";
import { ampleBytes, layerNeeds } from "./memory-needs.ts";

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
