import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { onlyProcessor } from "../../src/wire/inference/load.ts";
import { smallLlama } from "../small-llama.ts";
import { starterModelPath } from "../starter-model.ts";
import { collect, endless, newJob, startModel } from "./jobs.ts";

const modelPath = await starterModelPath();

describe.skipIf(modelPath === null)("a runner whose process ends", () => {
  it("fails each open call once when it is killed, and rejects new ones", async () => {
    const runner = await startModel(modelPath!, { slots: 4 });
    const streams = Array.from({ length: 8 }, (_, index) =>
      runner.generate(newJob(`Story ${index}:`, { sampling: endless, numPredict: 900 })),
    );
    const first = streams[0]![Symbol.asyncIterator]();
    await first.next();
    const rest = streams.slice(1).map((stream) => collect(stream));
    const settled = Promise.allSettled(rest);
    process.kill(runner.pid, "SIGKILL");
    expect(await runner.exited).toMatchObject({ signal: "SIGKILL", code: null, asked: false });
    for (const result of await settled) {
      expect(result).toMatchObject({ status: "rejected", reason: { code: "runner_died" } });
    }
    await expect(
      (async () => {
        while (!(await first.next()).done);
      })(),
    ).rejects.toMatchObject({ code: "runner_died" });
    await expect(collect(runner.generate(newJob("x")))).rejects.toMatchObject({ code: "runner_died" });
    await expect(runner.tokenize("x", { addSpecial: false, parseSpecial: false })).rejects.toMatchObject({
      code: "runner_died",
    });
  });

  it("closes when asked, and reports that it was asked", async () => {
    const runner = await startModel(modelPath!);
    const open = collect(runner.generate(newJob("x", { sampling: endless, numPredict: 900 })));
    const refused = expect(open).rejects.toMatchObject({ code: "shutting_down" });
    expect(await runner.close()).toMatchObject({ code: 0, signal: null, asked: true });
    await refused;
  });

  it("closes in the middle of a step that takes longer than the limit for closing", async () => {
    const runner = await startModel(modelPath!, { numCtx: 2048, numBatch: 2048, numThread: 1 });
    const prompt = Array.from({ length: 2000 }, (_, index) => 1000 + index);
    const refused = expect(collect(runner.generate(newJob(prompt, { numCtx: 2048 })))).rejects.toMatchObject({
      code: "shutting_down",
    });
    expect(await runner.close()).toMatchObject({ code: 0, signal: null });
    await refused;
  });

  it("stops a load when its signal aborts", async () => {
    const { startRunner } = await import("../../src/runner/start.ts");
    const abort = new AbortController();
    const load = startRunner(
      {
        modelPath: modelPath!,
        adapters: [],
        numCtx: 256,
        slots: 1,
        numBatch: null,
        numThread: 1,
        placement: onlyProcessor,
        useMmap: false,
        flashAttention: "auto",
        kvCacheType: "f16",
      },
      { signal: abort.signal, onProgress: () => abort.abort(new Error("no longer wanted")) },
    );
    await expect(load).rejects.toThrow("no longer wanted");
  });
});

describe("a runner that cannot load", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "runner-test-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each([
    ["an unknown architecture", renamed("llama", "glama"), "unknown model architecture: 'glama'"],
    [
      "a missing tensor",
      renamed("blk.1.attn_q.weight", "blk.1.attn_z.weight"),
      "'blk.1.attn_q.weight' not found",
    ],
    ["an unknown version of GGUF", ofVersion(99), "version 99"],
    ["tensors that are cut off", smallLlama(1).subarray(0, -5_000), "not within the file bounds"],
  ])("gives the engine's own reason: %s", async (_, bytes, reason) => {
    const path = join(folder, "bad.gguf");
    await writeFile(path, bytes);
    const error = await startModel(path).catch((error: unknown) => error);
    expect(error).toMatchObject({
      code: "model_load_failed",
      details: { reason: expect.stringContaining(reason) },
    });
    expect(String(error)).not.toContain(folder);
  });

  it("fails for a file that is missing, empty, random or cut off", async () => {
    const noise = join(folder, "noise.gguf");
    await writeFile(noise, Buffer.from("GGUF\x03\0\0\0 and then nothing that makes sense".repeat(50)));
    const empty = join(folder, "empty.gguf");
    await writeFile(empty, "");
    const paths = [join(folder, "missing.gguf"), empty, noise];
    if (modelPath !== null) {
      const cut = join(folder, "cut.gguf");
      const file = await open(modelPath);
      const { buffer } = await file.read(Buffer.alloc(3_000_000), 0, 3_000_000, 0);
      await file.close();
      await writeFile(cut, buffer);
      paths.push(cut);
    }
    for (const path of paths) {
      await expect(startModel(path)).rejects.toMatchObject({ code: "model_load_failed" });
    }
  });

  it.skipIf(modelPath === null)(
    "fails for a file that is not an adapter, and for more slots than the engine allows",
    async () => {
      const adapters = [{ path: modelPath!, scale: 1 }];
      await expect(startModel(modelPath!, { adapters })).rejects.toMatchObject({ code: "model_load_failed" });
      await expect(startModel(modelPath!, { slots: 300 })).rejects.toMatchObject({
        code: "model_load_failed",
      });
    },
  );
});

/** Copies a small model's file and replaces one word by another word of the same length. */
function renamed(from: string, to: string): Buffer {
  return Buffer.from(smallLlama(1).toString("latin1").replaceAll(from, to), "latin1");
}

function ofVersion(version: number): Buffer {
  const bytes = smallLlama(1);
  bytes.writeUInt32LE(version, 4);
  return bytes;
}
