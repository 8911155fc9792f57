import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { Context } from "../../src/engine/context.ts";
import { Grammars } from "../../src/engine/grammar.ts";
import { openLibrary } from "../../src/engine/libllama/library.ts";
import { Model } from "../../src/engine/model.ts";
import { type SlotEvent, Slots } from "../../src/engine/slots.ts";
import { smallLlama } from "../small-llama.ts";
import { loadOf, newJob } from "./jobs.ts";

// Real slots and the real engine in this process, so that a test can act in the middle of a step.

const folder = await mkdtemp(join(tmpdir(), "locallm-slots-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const path = join(folder, "small.gguf");
await writeFile(path, smallLlama(3));
const library = openLibrary();
const model = Model.load(library, loadOf(path), () => {});

let slots: Slots;
let events: SlotEvent[];
let onEvents: () => void;
let beforeStep: () => void;

beforeEach(() => {
  events = [];
  onEvents = () => {};
  beforeStep = () => {};
  const context = new Context(library, model.pointer, {
    sequences: 1,
    contextPerSequence: 128,
    vocabSize: model.vocabulary.size,
    batch: 64,
    microBatch: 64,
    outputs: 1,
    threads: 1,
    threadpool: null,
    flashAttention: "auto",
    kvCacheType: "f16",
    embeddings: false,
    pooling: 0,
    unified: false,
    canCut: true,
  });
  const threads = {
    most: 1,
    begin() {
      beforeStep();
      return 1;
    },
    end() {},
  };
  const { vocabulary } = model;
  slots = new Slots({
    context,
    kept: null,
    slots: 1,
    threads,
    onStep(step) {
      events.push(...step);
      onEvents();
    },
    breathe: () => new Promise((resolve) => setImmediate(resolve)),
    makers: {
      library,
      vocabulary,
      grammars: new Grammars(library, vocabulary),
      now: () => performance.now() * 1e6,
      randomSeed: () => 1,
    },
  });
});

const ends = Array.from({ length: model.vocabulary.size }, (_, token) => token).filter((token) =>
  model.vocabulary.isEnd(token),
);
const endless = {
  ...newJob("").sampling,
  logitBias: ends.map((token) => ({ token, bias: -1000 })),
};
const job = (numPredict: number) => newJob([1, 2, 3], { numPredict, sampling: endless, numCtx: 128 });

function finished(id: number): Promise<void> {
  return new Promise((resolve) => {
    onEvents = () => {
      if (events.some((event) => event.id === id && (event.done ?? event.error) !== null)) resolve();
    };
  });
}

test.each([
  ["a step of its prompt", 2],
  ["a quick step of one token", 5],
])("frees the slot of a job that is cancelled during %s", async (_, at) => {
  let steps = 0;
  beforeStep = () => {
    steps += 1;
    if (steps !== at) return;
    slots.cancel(1);
    events.length = 0;
    slots.submit(2, job(5));
  };
  const prompt = Array.from({ length: 70 }, (_, index) => index + 4);
  slots.submit(1, { ...job(50), prompt });
  await finished(2);
  expect(events.filter(({ id }) => id === 1)).toEqual([]);
  expect(events.at(-1)).toMatchObject({ id: 2, error: null, done: { evalTokens: 5, promptTokens: 3 } });
});

test("ignores a pause that arrives after the end of its job", async () => {
  slots.submit(1, job(3));
  await finished(1);
  slots.pause(1);
  events.length = 0;
  slots.submit(1, job(4));
  await finished(1);
  expect(events.at(-1)).toMatchObject({ id: 1, error: null, done: { evalTokens: 4 } });
});
