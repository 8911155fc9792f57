import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GenerateEvent, Runner } from "../../src/runner/handle.ts";
import { starterModelPath } from "../starter-model.ts";
import { collect, endless, free, longText, newJob, startModel } from "./jobs.ts";

const modelPath = await starterModelPath();

describe.skipIf(modelPath === null)("a runner with four slots", () => {
  let runner: Runner;
  beforeAll(async () => {
    runner = await startModel(modelPath!, { slots: 4 });
  });
  afterAll(() => runner.kill());

  it("answers more jobs than it has slots, each as its own prompt asks", async () => {
    const prompts = ["The capital of France is", "The capital of Italy is", "The capital of Spain is"];
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, index) =>
        collect(runner.generate(newJob(prompts[index % 3]!, { numPredict: 3 }))),
      ),
    );
    for (const [index, answer] of answers.entries()) {
      expect(answer.text).toContain([" Paris", " Rome", " Madrid"][index % 3]);
      expect(answer.done.evalTokens).toBe(3);
    }
  });

  it("finds each prompt's cache again, whichever slot has it", async () => {
    const topics = ["salt", "iron", "wool"];
    const changes = { sampling: free, numPredict: 2 };
    for (const topic of topics) await collect(runner.generate(newJob(longText(topic, 60), changes)));
    for (const topic of ["wool", "salt", "iron"]) {
      const { done } = await collect(runner.generate(newJob(`${longText(topic, 60)}And then`, changes)));
      expect(done.cachedTokens).toBeGreaterThanOrEqual(60);
      expect(done.promptTokens - done.cachedTokens).toBeLessThan(8);
    }
  });

  it("takes over the head of a prompt from a neighbour that is still at work, and answers the same", async () => {
    // The neighbour holds so much that all of its cache is copied, and the others may copy each other's.
    const head = longText("amber", 60);
    const question = "The capital of France is Paris. The capital of Italy is Rome. The capital of France is";
    const busy = runner
      .generate(newJob(`${head}${longText("coal", 160)}`, { sampling: endless, numPredict: 800 }))
      [Symbol.asyncIterator]();
    await busy.next();
    const others = [1, 2].map((number) =>
      collect(runner.generate(newJob(`${head}${number}. ${question}`, { numPredict: 3 }))),
    );
    for (const { text, done } of await Promise.all(others)) {
      expect(done.cachedTokens).toBeGreaterThanOrEqual(60);
      expect(text).toContain(" Paris");
    }
    await busy.return?.();
  });

  it("goes on with one answer while another's long prompt is read", async () => {
    const events: ("a" | "b")[] = [];
    const watch = async (name: "a" | "b", stream: AsyncIterable<GenerateEvent>) => {
      for await (const event of stream) if (event.kind === "text") events.push(name);
    };
    const a = runner
      .generate(newJob("Count: 1, 2, 3,", { sampling: endless, numPredict: 20 }))
      [Symbol.asyncIterator]();
    await a.next();
    const rest = watch("a", { [Symbol.asyncIterator]: () => a });
    await Promise.all([rest, watch("b", runner.generate(newJob(longText("stone", 300), { numPredict: 2 })))]);
    // Read in one go, the other's prompt would let through a token or two of this answer.
    expect(events.indexOf("b")).toBeGreaterThan(3);
  });

  it("goes on while a prompt of megabytes is made into tokens, only to be refused", async () => {
    const stream = runner.generate(newJob("Count: 1, 2, 3,", { sampling: endless, numPredict: 900 }));
    const events = stream[Symbol.asyncIterator]();
    await events.next();
    let isRefused = false;
    const refused = expect(collect(runner.generate(newJob("a".repeat(1_500_000))))).rejects.toMatchObject({
      code: "prompt_too_long",
      details: { promptTokens: 375_000, contextLength: 1024 },
    });
    void refused.finally(() => {
      isRefused = true;
    });
    let tokens = 0;
    while (!isRefused) tokens += Number((await events.next()).value?.kind === "text");
    await refused;
    await events.return?.();
    // The pipe lets a step through for each 64 KiB of it, so 24 come in any case; else only one more would.
    expect(tokens).toBeGreaterThan(30);
  });

  it("frees the slot of a reader that leaves the loop, and of one that aborts", async () => {
    for (let round = 0; round < 2; round++) {
      const left = Array.from({ length: 4 }, async () => {
        for await (const event of runner.generate(
          newJob("Tell me a story", { sampling: endless, numPredict: 800 }),
        ))
          return event;
        return null;
      });
      expect((await Promise.all(left)).every((event) => event?.kind === "text")).toBe(true);
    }
    const abort = new AbortController();
    const stream = collect(
      runner.generate(newJob("Tell me a story", { sampling: endless, numPredict: 800 }), abort.signal),
    );
    const refused = expect(stream).rejects.toThrow("gone home");
    await collect(runner.generate(newJob("Hi", { numPredict: 3 })));
    abort.abort(new Error("gone home"));
    await refused;
    const { done } = await collect(runner.generate(newJob("Still here?", { numPredict: 2 })));
    expect(done.evalTokens).toBe(2);
  });

  it("forgets an aborted job that still waits for a slot", async () => {
    const abort = new AbortController();
    const busy = Array.from({ length: 4 }, () => collect(runner.generate(newJob("Once", { numPredict: 8 }))));
    const waiting = collect(runner.generate(newJob("Never"), abort.signal));
    const refused = expect(waiting).rejects.toThrow("changed my mind");
    abort.abort(new Error("changed my mind"));
    await refused;
    expect(await Promise.all(busy)).toHaveLength(4);
  });

  it("ends a prompt's computation at once when its reader leaves", async () => {
    const abort = new AbortController();
    const refused = expect(
      collect(runner.generate(newJob(longText("glass", 480)), abort.signal)),
    ).rejects.toThrow("gone home");
    // Commands are heard in their order: by the answer to this one the prompt's only batch is being computed.
    await runner.tokenize("x", { addSpecial: false, parseSpecial: false });
    abort.abort(new Error("gone home"));
    await refused;
    // Had it been computed, its head would be found in the cache.
    const { done } = await collect(
      runner.generate(newJob(longText("glass", 60), { sampling: free, numPredict: 1 })),
    );
    expect(done.cachedTokens).toBeLessThan(20);
  });

  it("holds back a slot whose reader does not read, and lets the others finish", async () => {
    const tokens = 160;
    const slow = runner
      .generate(newJob("A long tale:", { sampling: endless, numPredict: tokens }))
      [Symbol.asyncIterator]();
    await slow.next();
    const other = newJob("Another", { sampling: endless, numPredict: tokens });
    expect((await collect(runner.generate(other))).done.evalTokens).toBe(tokens);
    // In as many steps it would be done too, had it not been held back.
    const waiting = await readWhatIsThere(slow);
    expect(waiting.length).toBeLessThan(tokens - 20);
    // What was taken made room: it goes on.
    expect(await slow.next()).toMatchObject({ done: false, value: { kind: "text" } });
    await slow.return?.();
  });
});

/** The events that need no waiting, and so were computed before anybody asked for them. */
async function readWhatIsThere(events: AsyncIterator<GenerateEvent>): Promise<GenerateEvent[]> {
  const there: GenerateEvent[] = [];
  for (;;) {
    const later = new Promise<null>((resolve) => setImmediate(() => resolve(null)));
    const next = await Promise.race([events.next(), later]);
    if (next === null || next.done === true) return there;
    there.push(next.value);
  }
}
