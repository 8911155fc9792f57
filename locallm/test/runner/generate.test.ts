import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Runner } from "../../src/runner/handle.ts";
import { starterModelPath } from "../starter-model.ts";
import { collect, free, longText, newJob, startModel } from "./jobs.ts";

const modelPath = await starterModelPath();

describe.skipIf(modelPath === null)("a runner with one slot", () => {
  let runner: Runner;
  beforeAll(async () => {
    runner = await startModel(modelPath!, { numCtx: 256 });
  });
  afterAll(() => runner.kill());

  it("reports what it loaded", () => {
    expect(runner.info).toMatchObject({
      contextLength: 256,
      trainContext: 8192,
      vocabSize: 49152,
      embeddingLength: 576,
      canGenerate: true,
      addBos: false,
    });
    expect(runner.info.sizeBytes.weights).toBeGreaterThan(90e6);
    // Cells × layers × (K and V) × heads × width × 2 bytes, as the log rounds it.
    expect(runner.info.sizeBytes.context / (256 * 30 * 2 * 3 * 64 * 2)).toBeCloseTo(1, 2);
    expect(runner.info.sizeBytes.compute).toBeGreaterThan(1e6);
  });

  it("answers the prompt exactly as sent, and counts the tokens of prompt and answer", async () => {
    const prompt = "The capital of France is";
    const { text, tokens, done } = await collect(runner.generate(newJob(prompt, { numPredict: 2 })));
    expect(text).toBe(" Paris.");
    expect(tokens).toBe(2);
    const ids = await runner.tokenize(prompt, { addSpecial: true, parseSpecial: true });
    expect(done).toMatchObject({
      reason: "length",
      stopString: null,
      promptTokens: ids.length,
      evalTokens: 2,
      truncatedTokens: 0,
      shiftedTokens: 0,
      context: null,
    });
    expect(done.promptNs).toBeGreaterThan(0);
    expect(done.evalNs).toBeGreaterThan(0);
    expect(Number.isInteger(done.promptNs) && Number.isInteger(done.evalNs)).toBe(true);
  });

  it("ends at a stop string, names it, and sends none of it", async () => {
    const free = await collect(runner.generate(newJob("The capital of France is", { numPredict: 20 })));
    const stop = free.text.slice(3, 9);
    const stops = ["never comes", stop];
    const { text, done } = await collect(
      runner.generate(newJob("The capital of France is", { numPredict: 20, stop: stops })),
    );
    expect(text).toBe(free.text.slice(0, 3));
    expect(done).toMatchObject({ reason: "stop", stopString: stop });
  });

  it("ends when the model ends its turn", async () => {
    const prompt = "<|im_start|>user\nSay yes.<|im_end|>\n<|im_start|>assistant\n";
    const { done, text } = await collect(runner.generate(newJob(prompt, { numPredict: 100 })));
    expect(done).toMatchObject({ reason: "stop", stopString: null });
    expect(text).not.toContain("<|im_end|>");
  });

  it("accepts token ids before text, and returns ids that continue the same way", async () => {
    const first = await collect(runner.generate(newJob("One, two,", { numPredict: 4, wantContext: true })));
    const context = first.done.context!;
    expect(await runner.detokenize(context)).toBe(`One, two,${first.text}`);
    const { done } = await collect(
      runner.generate(newJob([context, " and then"], { numPredict: 1, sampling: free })),
    );
    expect(done.promptTokens).toBe(context.length + 2);
    expect(done.cachedTokens).toBeGreaterThan(0);
  });

  it("evaluates only the prompt when num_predict is 0", async () => {
    const { text, done } = await collect(runner.generate(newJob("Hello there", { numPredict: 0 })));
    expect([text, done.reason, done.evalTokens, done.promptTokens]).toEqual(["", "length", 0, 2]);
  });

  it("rejects a prompt that exceeds the window, with both counts", async () => {
    const answer = collect(runner.generate(newJob(longText("a", 300))));
    await expect(answer).rejects.toMatchObject({
      code: "prompt_too_long",
      details: { promptTokens: expect.any(Number), contextLength: 256 },
    });
    const bound = collect(runner.generate(newJob(longText("a", 100), { numCtx: 50 })));
    await expect(bound).rejects.toMatchObject({ details: { contextLength: 50 } });
  });

  it("cuts the middle of a long prompt when asked, and reports how much", async () => {
    const prompt = `START ${longText("a", 300)}`;
    const all = await runner.tokenize(prompt, { addSpecial: true, parseSpecial: true });
    const cut = { truncate: true, numKeep: 2, numPredict: 10, wantContext: true };
    const { done } = await collect(runner.generate(newJob(prompt, { ...cut, numCtx: 100 })));
    expect(done.promptTokens).toBe(90);
    expect(done.truncatedTokens).toBe(all.length - 90);
    expect(done.context!.slice(0, 90)).toEqual([...all.slice(0, 2), ...all.slice(-88)]);
  });

  it("stops if the window is full, or shifts on request and reports it", async () => {
    const prompt = longText("b", 60);
    const full = await collect(runner.generate(newJob(prompt, { numCtx: 90, numPredict: -1 })));
    expect(full.done.reason).toBe("length");
    // The last token is never computed, because nothing follows it.
    expect(full.done.promptTokens + full.done.evalTokens).toBe(91);
    const shifting = newJob(prompt, { numCtx: 90, numPredict: 60, numKeep: 4, shift: true });
    const shifted = await collect(runner.generate(shifting));
    expect(shifted.done.evalTokens).toBe(60);
    expect(shifted.done.shiftedTokens).toBeGreaterThan(30);
  });

  it("rejects too many token ids like a text that is too long", async () => {
    const job = newJob([new Array<number>(300_000).fill(5), "x"]);
    await expect(collect(runner.generate(job))).rejects.toMatchObject({
      code: "prompt_too_long",
      details: { promptTokens: 300_001 },
    });
  });

  it("reports an invalid token id", async () => {
    await expect(collect(runner.generate(newJob([1, 60_000])))).rejects.toMatchObject({
      code: "invalid_token",
      details: { token: "60000", vocabSize: 49152 },
    });
    await expect(runner.detokenize([-1])).rejects.toMatchObject({ code: "invalid_token" });
  });

  it("renders control tokens only on request", async () => {
    const prompt = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHi!<|im_end|>\n";
    const bias = {
      sampling: { ...newJob("").sampling, logitBias: [{ token: 1, bias: 100 }] },
      numPredict: 2,
    };
    expect((await collect(runner.generate(newJob(prompt, bias)))).text).toBe("");
    const shown = await collect(runner.generate(newJob(prompt, { ...bias, renderSpecial: true })));
    expect(shown.text).toBe("<|im_start|><|im_start|>");
  });

  it.each(["q8_0", "q4_0"] as const)("answers correctly with a %s cache", async (kvCacheType) => {
    const smaller = await startModel(modelPath!, { numCtx: 256, kvCacheType });
    try {
      const { text } = await collect(smaller.generate(newJob("The capital of France is", { numPredict: 2 })));
      expect(text).toBe(" Paris.");
      const numberBytes = { q8_0: 34 / 32, q4_0: 18 / 32 }[kvCacheType];
      const share = smaller.info.sizeBytes.context / runner.info.sizeBytes.context;
      expect(share).toBeCloseTo(numberBytes / 2, 2);
    } finally {
      await smaller.kill();
    }
  });

  it("gives the same answer for the same seed and different ones for other seeds", async () => {
    const sampling = { ...newJob("").sampling, temperature: 1, topK: 0, topP: 1 };
    const draw = async (seed: number | null) =>
      (
        await collect(
          runner.generate(newJob("Once upon", { numPredict: 10, sampling: { ...sampling, seed } })),
        )
      ).text;
    const seven = await draw(7);
    expect(await draw(7)).toBe(seven);
    expect(await draw(8)).not.toBe(seven);
    expect(await draw(null)).not.toBe(await draw(null));
  });
});
