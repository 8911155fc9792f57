import { describe, expect, it } from "vitest";
import { Allocation } from "./allocation.ts";
import { Checkpoints, checkpointNeeds } from "./checkpoints.ts";

describe("the checkpoints of a slot", () => {
  const added = (most: number, lengths: readonly number[]) => {
    const checkpoints = new Checkpoints(most);
    for (const tokens of lengths)
      checkpoints.add(tokens, 8, (into) => {
        into.fill(tokens % 256);
        return true;
      });
    return checkpoints;
  };
  const tokens = ({ held }: Checkpoints) => held.map((one) => one.tokens);

  it("keep the last one, and those that save most", () => {
    expect(tokens(added(3, [10_000, 10_400, 10_800, 11_200, 11_600]))).toEqual([10_000, 10_800, 11_600]);
    expect(tokens(added(3, [100, 5_000, 5_300, 9_000]))).toEqual([5_000, 5_300, 9_000]);
    expect(tokens(added(1, [9_000, 9_010]))).toEqual([9_010]);
    expect(tokens(added(0, [1, 2]))).toEqual([]);
  });

  it("take no more buffers than there are checkpoints, also after some were dropped", () => {
    const checkpoints = added(3, [1, 2, 3, 4]);
    const buffers = new Set(checkpoints.held.map(({ bytes }) => bytes.buffer));
    checkpoints.cut(2);
    for (const more of [5, 6, 7, 8]) {
      checkpoints.add(more, 8, (into) => {
        into.fill(more);
        return true;
      });
      for (const { tokens, bytes } of checkpoints.held) expect(bytes).toEqual(new Uint8Array(8).fill(tokens));
    }
    expect(checkpoints.held.every(({ bytes }) => buffers.has(bytes.buffer))).toBe(true);
    expect(new Set(checkpoints.held.map(({ bytes }) => bytes.buffer)).size).toBe(3);
  });

  it("go into a kept state as far as they take no more than it, the last and the first ones before others", () => {
    const checkpoints = added(3, [10, 20, 30]);
    const kept = (bytes: number) => checkpoints.within(bytes).map((one) => one.tokens);
    expect([kept(24), kept(23), kept(15), kept(0)]).toEqual([[10, 20, 30], [10, 30], [30], [30]]);
    expect(added(3, []).within(100)).toEqual([]);
  });

  it("do not keep one that could not be written", () => {
    const checkpoints = added(2, [5]);
    expect(checkpoints.add(6, 8, () => false)).toBeNull();
    expect(tokens(checkpoints)).toEqual([5]);
    expect(checkpoints.upTo(5)?.bytes).toEqual(new Uint8Array(8).fill(5));
    expect(checkpoints.upTo(4)).toBeNull();
  });

  it("do not keep one that there is no memory for", () => {
    const checkpoints = added(2, [5]);
    expect(checkpoints.add(6, Number.MAX_SAFE_INTEGER, () => true)).toBeNull();
    expect(tokens(checkpoints)).toEqual([5]);
    expect(checkpoints.add(7, 8, () => true)?.tokens).toBe(7);
  });
});

describe("the number and size of checkpoints", () => {
  const allocation = (...lines: readonly string[]) => {
    const heard = new Allocation();
    for (const line of lines) heard.hear(line);
    return heard;
  };
  /** The engine's log for Gemma 3 12B with two slots. */
  const gemma = (cells: number) =>
    allocation(
      `llama_kv_cache_iswa: creating non-SWA KV cache, size = 32768 cells`,
      `llama_kv_cache: size = 4096.00 MiB ( 32768 cells,   8 layers,  2/2 seqs), K (f16): 2048.00 MiB, V (f16): 2048.00 MiB`,
      `llama_kv_cache_iswa: creating     SWA KV cache, size = ${cells} cells`,
      `llama_kv_cache: size = ${((cells * 2 * 327_680) / 2 ** 20).toFixed(2)} MiB ( ${cells} cells,  40 layers,  2/2 seqs), K (f16): 480.00 MiB, V (f16): 480.00 MiB`,
    );
  const kind = { hasCache: true, hasState: false, slidingWindow: 1024 };

  it("is what the cells that a sliding window saves pay for, at least 1 and at most 3", () => {
    const bytes = 1024 * 327_680;
    const perSlot = [1536, 1792, 3584, 4096, 4608, 32_768].map((window) => {
      const needs = checkpointNeeds(kind, gemma(1536), window);
      expect(needs.bytes).toBe(window === 1536 ? 0 : bytes);
      return needs.perSlot;
    });
    expect(perSlot).toEqual([0, 1, 2, 2, 3, 3]);
  });

  it("is 3 states of a model with a state", () => {
    const line = `llama_memory_recurrent: size =   18.50 MiB (     2 cells,  32 layers,  2 seqs  0 rs_seq), R (f32):    2.50 MiB, S (f32):   16.00 MiB, P (f32):    0.00 MiB`;
    expect(
      checkpointNeeds({ hasCache: true, hasState: true, slidingWindow: 0 }, allocation(line), 4096),
    ).toEqual({
      perSlot: 3,
      bytes: 9.25 * 2 ** 20,
    });
  });

  it("is 0 for a cache that can be cut anywhere", () => {
    const whole = { hasCache: true, hasState: false, slidingWindow: 0 };
    const line = `llama_kv_cache: size =   45.00 MiB (  2048 cells,  30 layers,  1/1 seqs), K (f16):   22.50 MiB, V (f16):   22.50 MiB`;
    expect(checkpointNeeds(whole, allocation(line), 2048)).toEqual({ perSlot: 0, bytes: 0 });
  });
});
