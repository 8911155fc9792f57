import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import koffi from "koffi";
import { describe, expect, it } from "vitest";
import { anonymousBytes } from "../../src/engine/anonymous-bytes.ts";
import { clearedMemory } from "../../src/engine/cleared-memory.ts";
import { smallLlama } from "../small-llama.ts";
import { collect, newJob, startModel } from "./jobs.ts";

const mib = 2 ** 20;

describe.skipIf(process.platform !== "linux")("memory that was filled with zeros", () => {
  const c = koffi.load(null);
  const mmap = c.func("mmap", "void *", ["void *", "size_t", "int", "int", "int", "int64_t"]);
  const munmap = c.func("munmap", "int", ["void *", "size_t"]);

  /** Fills new memory with zeros, then writes a byte at each place. */
  function write(bytes: number, places: readonly number[]): { address: bigint; view: Uint8Array } {
    const readAndWrite = 3;
    const privateWithoutFile = 0x22;
    const address = mmap(null, bytes, readAndWrite, privateWithoutFile, -1, 0) as bigint;
    const view = new Uint8Array(koffi.view(address, bytes)).fill(0);
    for (const place of places) view[place] = 1;
    return { address, view };
  }

  it("is given back, and all other bytes keep their values", () => {
    const bytes = 8 * mib + 4321;
    const places = fc.array(fc.integer({ min: 0, max: bytes - 1 }), { maxLength: 12 });
    fc.assert(
      fc.property(places, (written) => {
        const older = write(4 * mib, [5]);
        const { result: newer, giveBack } = clearedMemory(() => write(bytes, written));
        const before = anonymousBytes("self")!;
        giveBack(bytes);
        const givenBack = before - anonymousBytes("self")!;
        const expected = new Uint8Array(bytes);
        for (const place of written) expected[place] = 1;
        expect(Buffer.compare(newer.view, expected)).toBe(0);
        expect(older.view.indexOf(1)).toBe(5);
        if (written.length < 2) expect(givenBack).toBeGreaterThan(3 * mib);
        munmap(older.address, 4 * mib);
        munmap(newer.address, bytes);
      }),
      { numRuns: 8, examples: [[[]], [[0]], [[bytes - 1]], [[2 * mib, 5 * mib]]] },
    );
  });

  it("is not given back if it is more than the engine filled", () => {
    const filled = 12 * mib;
    const { result, giveBack } = clearedMemory(() => write(filled, []));
    const before = anonymousBytes("self")!;
    giveBack(filled / 4);
    expect(before - anonymousBytes("self")!).toBeLessThan(4 * mib);
    giveBack(filled);
    expect(before - anonymousBytes("self")!).toBeGreaterThan(8 * mib);
    munmap(result.address, filled);
  });

  it("is not given back if it was there before", () => {
    const older = write(96 * mib, []);
    const before = anonymousBytes("self")!;
    const { giveBack } = clearedMemory(() => null);
    giveBack(192 * mib);
    // V8 may give back memory of its own.
    expect(before - anonymousBytes("self")!).toBeLessThan(48 * mib);
    munmap(older.address, 96 * mib);
  });
});

describe.skipIf(process.platform !== "linux")("the cache of a model", () => {
  it("takes no memory before it is used, and then gives the same answer as a small cache", async () => {
    const folder = await mkdtemp(join(tmpdir(), "locallm-cleared-"));
    const path = join(folder, "small.gguf");
    await writeFile(path, smallLlama(6));
    const [large, small] = await Promise.all([
      startModel(path, { slots: 64, numCtx: 4096 }),
      startModel(path, { numCtx: 512 }),
    ]);
    const { context, compute } = large.info.sizeBytes;
    expect(context).toBeGreaterThan(60 * mib);
    // The buffers of the first step. Known at once, so that memory counts as taken while it is given back.
    expect(large.unusedBytes).toBeGreaterThan(compute / 2);
    await expect.poll(() => large.unusedBytes).toBeGreaterThan(0.95 * context);
    const job = newJob("the story of a village ".repeat(12), { numCtx: 512 });
    expect((await collect(large.generate(job))).text).toBe((await collect(small.generate(job))).text);
    expect(large.unusedBytes).toBeGreaterThan(0.5 * context);
    await Promise.all([large.kill(), small.kill()]);
    expect(large.unusedBytes).toBe(0);
    await rm(folder, { recursive: true, force: true });
  });

  it("is not promised beyond one window where all slots share it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "locallm-cleared-"));
    const path = join(folder, "small.gguf");
    await writeFile(path, smallLlama(7));
    const shared = { slots: 64, numCtx: 4096, cells: 131_072, numBatch: 64 };
    const runner = await startModel(path, shared);
    const { context, compute } = runner.info.sizeBytes;
    await expect.poll(() => runner.spareBytes).toBeGreaterThan(context / 2);
    expect(runner.spareBytes).toBeLessThan(context * (1 - 1 / 32));
    expect(runner.unusedBytes).toBeLessThan(context + 2 * compute - runner.spareBytes);
    const job = newJob("the story of a village ".repeat(12), { numCtx: 512 });
    expect((await collect(runner.generate(job))).tokens).toBeGreaterThan(0);
    await runner.kill();
    await rm(folder, { recursive: true, force: true });
  });
});
