import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Runner } from "../../src/runner/handle.ts";
import { starterModelPath } from "../starter-model.ts";
import { collect, newJob, startModel } from "./jobs.ts";

const models = process.env["TEST_MODELS"];

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = a.reduce((sum, value, index) => sum + value * b[index]!, 0);
  return dot / (Math.hypot(...a) * Math.hypot(...b));
}

describe.skipIf(models === undefined)("an embedding model (TEST_MODELS)", () => {
  let runner: Runner;
  beforeAll(async () => {
    runner = await startModel(join(models!, "all-minilm-l6-v2-f16.gguf"), { numCtx: 2048 });
  });
  afterAll(() => runner.kill());
  const embed = (inputs: (string | number[])[], changes = {}) =>
    runner.embed({ inputs, truncate: true, numCtx: null, ...changes });

  it("reports that it only makes vectors", async () => {
    expect(runner.info).toMatchObject({
      canGenerate: false,
      canEmbed: true,
      pooling: "mean",
      contextLength: 512,
      embeddingLength: 384,
    });
    await expect(collect(runner.generate(newJob("x")))).rejects.toMatchObject({ code: "model_cannot" });
  });

  it("gives similar vectors to texts with similar meaning", async () => {
    const { vectors, tokens } = await embed([
      "The cat sits on the mat.",
      "A feline rests on a rug.",
      "Stock markets fell sharply today.",
    ]);
    expect(tokens).toEqual([9, 10, 8]);
    expect(cosine(vectors[0]!, vectors[1]!)).toBeGreaterThan(0.5);
    expect(cosine(vectors[0]!, vectors[2]!)).toBeLessThan(0.1);
  });

  it("gives a hundred texts at once the same vectors as each alone, in order", async () => {
    const texts = Array.from(
      { length: 100 },
      (_, index) => `Text ${index} ${"about rain ".repeat(index % 9)}`,
    );
    const { vectors } = await embed(texts);
    expect(vectors).toHaveLength(100);
    for (const index of [0, 17, 63, 64, 99]) {
      const alone = await embed([texts[index]!]);
      expect(cosine(vectors[index]!, alone.vectors[0]!)).toBeGreaterThan(0.9999);
    }
  });

  it("accepts an empty text and token ids", async () => {
    const { tokens, vectors } = await embed(["", "a", [101, 1037, 102]]);
    expect(tokens).toEqual([2, 3, 3]);
    expect(cosine(vectors[1]!, vectors[2]!)).toBeCloseTo(1, 5);
    expect((await embed([])).vectors).toEqual([]);
  });

  it("cuts a long input and keeps the closing token, or names the input that is too long", async () => {
    const long = "word ".repeat(600);
    expect((await embed([long])).tokens).toEqual([512]);
    const cut = await embed([long], { numCtx: 8 });
    const ids = await embed([[101, 2773, 2773, 2773, 2773, 2773, 2773, 102]]);
    expect(cut.tokens).toEqual([8]);
    expect(cosine(cut.vectors[0]!, ids.vectors[0]!)).toBeCloseTo(1, 5);
    await expect(embed(["short", long], { truncate: false })).rejects.toMatchObject({
      code: "input_too_long",
      details: { index: 1, inputTokens: 602, contextLength: 512 },
    });
  });

  it("stops when its signal aborts, and still serves the next call", async () => {
    const abort = new AbortController();
    const texts = Array.from({ length: 400 }, () => "a text that takes a moment ".repeat(10));
    const refused = expect(
      runner.embed({ inputs: texts, truncate: true, numCtx: null }, abort.signal),
    ).rejects.toThrow("enough");
    abort.abort(new Error("enough"));
    await refused;
    expect((await embed(["still here"])).vectors).toHaveLength(1);
  });
});

const starter = await starterModelPath();

describe.skipIf(starter === null)("a generating model", () => {
  it("makes vectors while it generates", async () => {
    const runner = await startModel(starter!, { numCtx: 256 });
    try {
      const answer = collect(runner.generate(newJob("The capital of France is")));
      const { vectors, tokens } = await runner.embed({
        inputs: ["The cat sits on the mat.", "A cat sits on a mat.", "x"],
        truncate: true,
        numCtx: null,
      });
      expect(vectors.map((vector) => vector.length)).toEqual([576, 576, 576]);
      expect(tokens[2]).toBe(1);
      expect(cosine(vectors[0]!, vectors[1]!)).toBeGreaterThan(cosine(vectors[0]!, vectors[2]!));
      expect((await answer).text).toContain("Paris");
    } finally {
      await runner.kill();
    }
  });
});
