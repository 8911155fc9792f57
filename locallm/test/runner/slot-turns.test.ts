import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { Context } from "../../src/engine/context.ts";
import { loadVocabulary } from "../../src/engine/engine.ts";
import { KeptStates } from "../../src/engine/kept/kept-states.ts";
import { Model } from "../../src/engine/model.ts";
import { Pictures } from "../../src/engine/pictures.ts";
import type { SlotEvent, Slots } from "../../src/engine/slots.ts";
import { onlyProcessor } from "../../src/wire/inference/load.ts";
import { smallLlama } from "../small-llama.ts";
import { loadOf, newJob } from "./jobs.ts";
import { library, newContext, newSlots } from "./slots-here.ts";

// Uses real slots and the real engine in this process, so that a test can act in the middle of a step.

const folder = await mkdtemp(join(tmpdir(), "locallm-slots-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const path = join(folder, "small.gguf");
await writeFile(path, smallLlama(3));
const model = Model.load(library, loadOf(path), () => {});

let context: Context;
let slots: Slots;
let events: SlotEvent[];
let onEvents: () => void;
let beforeStep: () => void;
/** Called when a step has computed tokens of an expected turn. */
let onAhead: () => void;

beforeEach(() => {
  events = [];
  onEvents = () => {};
  beforeStep = () => {};
  onAhead = () => {};
  context = newContext(model, 1, 128);
  slots = slotsWith(null);
});

function slotsWith(kept: KeptStates | null): Slots {
  const made = newSlots({
    model,
    context,
    kept,
    slots: 1,
    checkpoints: 0,
    beforeStep: () => beforeStep(),
    afterStep(rows) {
      // Not for the slots of the test before, which may still compute an expected turn.
      if (rows === 0 && made === slots) onAhead();
    },
    onStep(step) {
      events.push(...step);
      onEvents();
    },
  });
  return made;
}

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

test("loads the vocabulary first and the weights later, with the window that was chosen by it", async () => {
  const heard: SlotEvent[] = [];
  const done = Promise.withResolvers<void>();
  const { vocabulary, info, finish } = loadVocabulary(
    loadOf(path, { numCtx: 256 }),
    {
      onProgress: () => {},
      onLog: () => {},
      onWant: () => {},
      onStep(step) {
        heard.push(...step);
        if (step.some((event) => (event.done ?? event.error) !== null)) done.resolve();
      },
    },
    null,
  );
  expect(vocabulary.tokenize("a thing", { addSpecial: false, parseSpecial: false })).toHaveLength(6);
  const engine = finish({ numCtx: 1024, placement: onlyProcessor });
  expect(engine.info).toMatchObject({ ...info, contextLength: 1024, vocabSize: model.vocabulary.size });
  engine.slots!.submit(1, { ...job(5), prompt: "a thing".repeat(60), numCtx: 1024 });
  await done.promise;
  expect(heard.at(-1)).toMatchObject({ error: null, done: { evalTokens: 5, promptTokens: 360 } });
});

test("rejects an empty prompt, and answers the next job in the same slot", async () => {
  slots.submit(1, { ...job(5), prompt: [] });
  await finished(1);
  expect(events).toMatchObject([{ id: 1, done: null, error: { code: "prompt_empty" } }]);
  slots.submit(2, job(5));
  await finished(2);
  expect(events.at(-1)).toMatchObject({ id: 2, error: null, done: { evalTokens: 5 } });
});

test("frees the slot of a job that could not be placed", async () => {
  const { truncate } = context;
  context.truncate = () => {
    context.truncate = truncate;
    throw new Error("no memory");
  };
  slots.submit(1, job(5));
  await finished(1);
  expect(events).toMatchObject([{ id: 1, done: null, error: { code: "decode_failed" } }]);
  slots.submit(2, job(5));
  await finished(2);
  expect(events.at(-1)).toMatchObject({ id: 2, error: null, done: { evalTokens: 5 } });
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

test("sends no events for a job that is cancelled while its slot's cache is being kept", async () => {
  const asked: ((place: number | null) => void)[] = [];
  const told: string[] = [];
  const keeper = {
    reserve: () => new Promise<number | null>((resolve) => void asked.push(resolve)),
    kept: (id: number) => void told.push(`kept ${id}`),
    used: (id: number) => void told.push(`used ${id}`),
    release: (id: number) => void told.push(`released ${id}`),
    damaged: (id: number) => void told.push(`damaged ${id}`),
  };
  slots = slotsWith(
    new KeptStates({ context, pictures: new Pictures(), keeper, group: "0".repeat(64), window: 0 }),
  );
  const prompt = (first: number) => Array.from({ length: 60 }, (_, index) => ((first + index) % 90) + 4);
  const answers = new Map<number, readonly number[] | null | undefined>();
  const run = async (id: number, first: number, act: () => void = () => {}) => {
    const done = finished(id);
    slots.submit(id, { ...job(4), prompt: prompt(first), wantContext: true });
    act();
    await done;
    const end = events.findLast((event) => event.id === id)?.done;
    answers.set(id, end?.context);
    return end?.cachedTokens;
  };
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
  };
  await run(1, 0);
  slots.submit(2, { ...job(4), prompt: prompt(30) });
  await until(() => asked.length === 1);
  slots.cancel(2);
  const third = run(3, 60);
  asked[0]!(7);
  await third;
  expect(events.filter(({ id }) => id === 2)).toEqual([]);
  expect(told).toEqual(["kept 7"]);
  // Requests a place for the conversation, but none is free.
  const fourth = run(4, 0);
  await until(() => asked.length === 2);
  asked[1]!(null);
  expect(await fourth).toBe(59);
  expect(answers.get(4)).toEqual(answers.get(1));
  expect(told).toEqual(["kept 7", "released 7"]);
});

/** A job whose answer ends at once. */
const ended = (prompt: number[]) =>
  newJob(prompt, {
    numPredict: 5,
    numCtx: 128,
    sampling: { ...newJob("").sampling, logitBias: [{ token: ends[0]!, bias: 1000 }] },
  });

/** Three turns with the same tokens after each answer. Resolves when these were computed after the last one. */
async function threeTurns(): Promise<number[]> {
  const prompt = Array.from({ length: 40 }, (_, index) => index + 4);
  for (const id of [1, 2, 3]) {
    if (id > 1) prompt.push(7, 8, 9, 20 + id);
    const ahead = new Promise<void>((resolve) => {
      onAhead = resolve;
    });
    slots.submit(id, ended([...prompt]));
    await finished(id);
    if (id === 3) await ahead;
  }
  return prompt;
}

test("computes what follows an answer in each turn before the next one arrives", async () => {
  const prompt = await threeTurns();
  slots.submit(4, ended([...prompt, 7, 8, 9, 30, 31]));
  await finished(4);
  expect(events.at(-1)?.done).toMatchObject({
    cachedTokens: prompt.length + 3,
    promptTokens: prompt.length + 5,
  });
});

test("computes the last token of an answer that reached its limit, and what follows it", async () => {
  let said = Array.from({ length: 40 }, (_, index) => index + 4);
  const turn = async (id: number, follows: number[]) => {
    const ahead = new Promise<void>((resolve) => {
      onAhead = resolve;
    });
    const sampling = { ...newJob("").sampling, logitBias: [{ token: ends[0]!, bias: -1000 }] };
    const prompt = [...said, ...follows];
    slots.submit(id, newJob(prompt, { numPredict: id, numCtx: 128, sampling, wantContext: true }));
    await finished(id);
    const done = events.findLast((event) => event.id === id)?.done;
    expect(done).toMatchObject({ reason: "length", evalTokens: id, promptTokens: prompt.length });
    said = [...(done?.context ?? [])];
    return { cachedTokens: done?.cachedTokens, ahead };
  };
  await turn(1, []);
  await turn(2, [7, 8, 9, 22]);
  await turn(3, [7, 8, 9, 23]);
  // Nothing follows the answer, so nothing is learned from it.
  const fourth = await turn(4, []);
  await fourth.ahead;
  let { length } = said;
  const fifth = await turn(5, [7, 8, 9, 30, 31]);
  expect(fifth.cachedTokens).toBe(length + 3);
  await fifth.ahead;
  ({ length } = said);
  // Begins differently: only the answer's last token was computed for it.
  expect((await turn(6, [50])).cachedTokens).toBe(length);
});

test("answers a turn that begins differently like one from an empty cache", async () => {
  const prompt = await threeTurns();
  const other = { ...job(6), prompt: [...prompt, 7, 50, 51] };
  slots.submit(4, other);
  await finished(4);
  const warm = events.filter(({ id }) => id === 4);
  expect(warm.at(-1)?.done).toMatchObject({ cachedTokens: prompt.length + 1 });
  slots.submit(5, { ...other, deterministic: true });
  await finished(5);
  const text = (all: SlotEvent[]) => all.map((event) => event.text).join("");
  expect(text(events.filter(({ id }) => id === 5))).toBe(text(warm));
});

test("ends computing an expected turn when a job arrives", async () => {
  const { stepAside, abort } = context;
  let aborts = 0;
  let isAhead = false;
  context.abort = () => {
    aborts++;
    abort.call(context);
  };
  const prompt = await threeTurns();
  context.stepAside = () => {
    const step = stepAside.call(context);
    if (context.batch.rows === 3 && !isAhead) {
      isAhead = true;
      slots.submit(5, ended([...prompt, 7, 8, 9, 40, 7, 8, 9, 41]));
    }
    return step;
  };
  slots.submit(4, ended([...prompt, 7, 8, 9, 40]));
  await finished(5);
  expect([isAhead, aborts]).toEqual([true, 1]);
  expect(events.at(-1)).toMatchObject({ id: 5, error: null, done: { evalTokens: 1 } });
});
