import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Runner } from "../../src/runner/handle.ts";
import type { GenerateEvent } from "../../src/wire/inference/generate.ts";
import { starterModelPath } from "../starter-model.ts";
import { collect, endless, free, longText, newJob, startModel } from "./jobs.ts";

const modelPath = await starterModelPath();

describe.skipIf(modelPath === null)("a runner with four slots", () => {
  let runner: Runner;
  beforeAll(async () => {
    runner = await startModel(modelPath!, { slots: 4 });
  });
  afterAll(() => runner.kill());

  it("answers more jobs than it has slots, each correctly", async () => {
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

  it("finds the slot whose cache has a prompt's prefix", async () => {
    const topics = ["salt", "iron", "wool"];
    const changes = { sampling: free, numPredict: 2 };
    for (const topic of topics) await collect(runner.generate(newJob(longText(topic, 40), changes)));
    for (const topic of ["wool", "salt", "iron"]) {
      const { done } = await collect(runner.generate(newJob(`${longText(topic, 40)}And then`, changes)));
      expect(done.cachedTokens).toBeGreaterThanOrEqual(40);
      expect(done.promptTokens - done.cachedTokens).toBeLessThan(8);
    }
  });

  it("copies a prompt's head from a busy slot, and gives the same answer", async () => {
    // The busy slot's cache is so large that it is copied whole. The other slots may copy from each other.
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

  it("continues an answer while it reads another request's long prompt", async () => {
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
    // If the other prompt were computed in one step, this answer would get only one or two tokens meanwhile.
    expect(events.indexOf("b")).toBeGreaterThan(3);
  });

  it("continues an answer while it tokenizes a text of megabytes", async () => {
    const stream = runner.generate(newJob("Count: 1, 2, 3,", { sampling: endless, numPredict: 500 }));
    const events = stream[Symbol.asyncIterator]();
    await events.next();
    let isRead = false;
    const long = runner
      .tokenize("a".repeat(750_000), { addSpecial: true, parseSpecial: true })
      .finally(() => {
        isRead = true;
      });
    let tokens = 0;
    while (!isRead) tokens += Number((await events.next()).value?.kind === "text");
    expect(await long).toHaveLength(187_500);
    await events.return?.();
    // 12 steps happen in any case, one for each 64 KiB that the pipe accepts. A blocked loop would add only
    // one step.
    expect(tokens).toBeGreaterThan(16);
  });

  it("frees the slot of a reader that leaves or aborts", async () => {
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

  it("drops an aborted job that still waits for a slot", async () => {
    const abort = new AbortController();
    const busy = Array.from({ length: 4 }, () => collect(runner.generate(newJob("Once", { numPredict: 8 }))));
    const waiting = collect(runner.generate(newJob("Never"), abort.signal));
    const refused = expect(waiting).rejects.toThrow("changed my mind");
    abort.abort(new Error("changed my mind"));
    await refused;
    expect(await Promise.all(busy)).toHaveLength(4);
  });

  it("stops computing a prompt when its reader leaves", async () => {
    const abort = new AbortController();
    const refused = expect(
      collect(runner.generate(newJob(longText("glass", 480)), abort.signal)),
    ).rejects.toThrow("gone home");
    // Commands are read in order. When this one is answered, the prompt's only step is running.
    await runner.tokenize("x", { addSpecial: false, parseSpecial: false });
    abort.abort(new Error("gone home"));
    await refused;
    // If the step had been computed, the cache would contain the beginning of the prompt.
    const { done } = await collect(
      runner.generate(newJob(longText("glass", 40), { sampling: free, numPredict: 1 })),
    );
    expect(done.cachedTokens).toBeLessThan(20);
  });

  it("pauses the slot of a reader that does not read, and finishes the others", async () => {
    const tokens = 120;
    const slow = runner
      .generate(newJob("A long tale:", { sampling: endless, numPredict: tokens }))
      [Symbol.asyncIterator]();
    await slow.next();
    const other = newJob("Another", { sampling: endless, numPredict: tokens });
    expect((await collect(runner.generate(other))).done.evalTokens).toBe(tokens);
    // Without the pause, this answer would be finished too.
    const waiting = await readWhatIsThere(slow);
    expect(waiting.length).toBeLessThan(tokens - 20);
    // Reading the events resumes the slot.
    expect(await slow.next()).toMatchObject({ done: false, value: { kind: "text" } });
    await slow.return?.();
  });
});

/** The events that have already arrived. */
async function readWhatIsThere(events: AsyncIterator<GenerateEvent>): Promise<GenerateEvent[]> {
  const there: GenerateEvent[] = [];
  for (;;) {
    const later = new Promise<null>((resolve) => setImmediate(() => resolve(null)));
    const next = await Promise.race([events.next(), later]);
    if (next === null || next.done === true) return there;
    there.push(next.value);
  }
}
