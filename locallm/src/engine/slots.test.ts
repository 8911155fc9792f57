import { setImmediate as turnOfLoop } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { aloneAnswer, EchoContext, echoMakers, marksOf, rowsOf, wordOf } from "../../test/echo-model.ts";
import { defaultSampling, type GenerateJob } from "../wire/inference/generate.ts";
import type { EncodedPicture } from "../wire/inference/picture.ts";
import type { Context } from "./context.ts";
import type { Found, KeptStates } from "./kept/kept-states.ts";
import { fixedRowCost } from "./row-cost.ts";
import type { Slot } from "./slot.ts";
import { type SlotEvent, Slots } from "./slots.ts";
import { fixedThreads } from "./threads.ts";

type Part = readonly number[] | EncodedPicture;

interface Options {
  readonly slots?: number;
  readonly window?: number;
  readonly capacity?: number;
  readonly hasState?: boolean;
  /** Null if each slot has a cache of its own. */
  readonly sharedCells?: number | null;
  readonly kept?: Partial<KeptStates> | null;
  /** Which tokens may follow the first so many of an answer. */
  readonly guess?: ((prompt: readonly number[], at: number) => readonly number[]) | null;
}

/** Slots over the model that echoes what it saw. */
function rig(options: Options = {}) {
  const {
    slots = 2,
    window = 300,
    capacity = 64,
    hasState = false,
    sharedCells = null,
    kept = null,
    guess = null,
  } = options;
  /** The rows of each step. */
  const steps: number[] = [];
  const events: SlotEvent[] = [];
  const wants: string[] = [];
  /** How many events each step sent, if it sent any. */
  const sent: number[] = [];
  let aborts = 0;
  let next: ReturnType<ConstructorParameters<typeof EchoContext>[0]["outcome"]> = "done";
  /** Called in each step, before it is computed. */
  const during: { work: (() => void) | undefined } = { work: undefined };
  const context = new EchoContext({
    ...{ sequences: slots, contextPerSequence: window, sharedCells, capacity, hasState },
    outcome: (rows) => {
      steps.push(rows);
      during.work?.();
      const outcome = next;
      next = "done";
      return outcome;
    },
  });
  const abort = context.abort.bind(context);
  context.abort = () => {
    aborts++;
    abort();
  };
  let time = 0;
  const guesses = (prompt: readonly number[], ask: NonNullable<typeof guess>) => {
    let at = 0;
    return { add: () => at++, next: (most: number) => ask(prompt, at).slice(0, most) };
  };
  const makers = {
    ...echoMakers(context, () => (time += 1e6)),
    drafts: guess && {
      ...{ rowCost: fixedRowCost(0.1), model: null },
      guess: (prompt: readonly number[]) => guesses(prompt, guess),
    },
  };
  const all = new Slots({
    ...{ makers, context: context as unknown as Context, slots, checkpoints: hasState ? 3 : 0 },
    ...{ threads: fixedThreads(1), adapters: { use: () => {} } },
    kept: kept as KeptStates | null,
    onStep: (some) => {
      sent.push(some.length);
      events.push(...some);
    },
    onWant: (_, identity) => wants.push(identity),
    breathe: () => turnOfLoop(),
  });
  let last = 0;
  const end = (id: number) => events.find((event) => event.id === id && (event.done || event.error));
  const idle = async () => {
    for (let quiet = 0, seen = ""; quiet < 5; quiet++) {
      await turnOfLoop();
      const now = `${steps.length} ${events.length} ${wants.length}`;
      if (now !== seen) quiet = 0;
      seen = now;
    }
  };
  return {
    ...{ context, makers, steps, events, wants, sent, during, idle, end, slots: all },
    aborts: () => aborts,
    fails: (how: typeof next) => (next = how),
    submit: (prompt: readonly Part[], changes: Partial<GenerateJob> = {}) => {
      all.submit(++last, {
        ...{ prompt: prompt as GenerateJob["prompt"], numCtx: window, stop: [], numPredict: 3, numKeep: 0 },
        ...{ sampling: { ...defaultSampling, temperature: 0 }, truncate: false, shift: false, grammar: null },
        ...{ deterministic: false, wantContext: false, renderSpecial: false, ...changes },
      });
      return last;
    },
    textOf: (id: number) =>
      events
        .filter((event) => event.id === id)
        .map(({ text }) => text)
        .join(""),
  };
}

const count = (length: number, from = 3) => Array.from({ length }, (_, at) => 3 + ((from + at) % 61));
const tokensOf = (text: string) => Array.from(text, (word) => word.charCodeAt(0) - 0x4e00);

/** A prompt whose answer does not end by itself before `most` tokens. */
function longPrompt(length: number, most: number, hasState = false): number[] {
  for (let from = 3; ; from++) {
    const prompt = count(length, from);
    if (!aloneAnswer(marksOf([prompt]), { hasState, most }).hasEnded) return prompt;
  }
}

const alone = (prompt: readonly number[], most: number) =>
  aloneAnswer(marksOf([prompt]), { hasState: false, most })
    .tokens.map(wordOf)
    .join("");

it("a fault of the loop ends the process, and does not turn for ever", async () => {
  const faults: unknown[] = [];
  const listeners = process.rawListeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.once("uncaughtException", (error) => faults.push(error));
  try {
    const { submit, context, steps, idle } = rig({ window: 24 });
    context.canCutOut = () => {
      throw new Error("this cannot be");
    };
    submit([longPrompt(20, 9)], { numPredict: 9, shift: true });
    await idle();
    expect(faults).toEqual([new Error("this cannot be")]);
    const before = steps.length;
    submit([[9]]);
    await idle();
    expect(steps).toHaveLength(before);
  } finally {
    process.removeAllListeners("uncaughtException");
    for (const listener of listeners) process.on("uncaughtException", listener as () => void);
  }
});

describe("a conversation", () => {
  it("finds what its slot holds, and what a template puts after answers is computed ahead", async () => {
    const { submit, end, textOf, steps, idle } = rig();
    const following = [50, 51, 52, 53];
    let prompt = longPrompt(20, 3);
    const cached: number[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const id = submit([prompt], { numPredict: 3 });
      await idle();
      cached.push(end(id)!.done!.cachedTokens);
      prompt = [...prompt, ...tokensOf(textOf(id)), ...following, ...count(4, turn * 17)];
    }
    // The cache lacks the last token of an answer. What follows an answer is known when it was seen twice.
    expect(cached).toEqual([0, 20 + 2, 31 + 2, 42 + 3 + 4]);
    expect(steps.filter((rows) => rows === 5)).toHaveLength(2);
  });

  it("goes back to where another one with the same beginning differed, if its memory cannot be cut", async () => {
    const { submit, end, idle } = rig({ hasState: true });
    const cached: number[] = [];
    for (const from of [20, 30, 40]) {
      const id = submit([[...count(120), ...count(40, from)]]);
      await idle();
      cached.push(end(id)!.done!.cachedTokens);
    }
    // The second one stops 16 tokens before that, to be gone back to.
    expect(cached).toEqual([0, 0, 120 - 16]);
  });

  it("is not computed ahead where a step or the window has no room for it", async () => {
    const ahead = async (window: number, capacity: number) => {
      const { submit, textOf, steps, idle } = rig({ window, capacity });
      let prompt = longPrompt(20, 3);
      for (let turn = 0; turn < 2; turn++) {
        const id = submit([prompt], { numPredict: 3 });
        await idle();
        prompt = [...prompt, ...tokensOf(textOf(id)), 50, 51, 52, 53, ...count(1, turn)];
      }
      const before = steps.length;
      submit([prompt], { numPredict: 3 });
      await idle();
      return steps.slice(before).filter((rows) => rows === 5).length;
    };
    // The third prompt has 36 tokens; 38 cells are in the cache after its answer.
    expect(await ahead(43, 64)).toBe(1);
    expect(await ahead(42, 64)).toBe(0);
    expect(await ahead(300, 5)).toBeGreaterThan(0);
    expect(await ahead(300, 4)).toBe(0);
  });

  it("is not computed ahead after a stop string, which no template follows", async () => {
    const { submit, textOf, steps, idle } = rig();
    let prompt = longPrompt(20, 3);
    for (let turn = 0; turn < 4; turn++) {
      const stop = alone(prompt, 2).slice(1);
      const before = steps.length;
      const id = submit([prompt], { stop: [stop], numPredict: 9 });
      await idle();
      // The prompt, and one token.
      expect(steps.length - before).toBe(2);
      prompt = [...prompt, ...tokensOf(textOf(id)), 50, 51, 52, 53, 54, 55, 56];
    }
  });

  it("loses only what was computed ahead when that is aborted, and all when it fails", async () => {
    for (const [how, left] of [
      [{ abortedAfter: 3 }, 36 + 2 + 4],
      ["throws", 0],
      ["no_room", 0],
    ] as const) {
      const { submit, end, textOf, steps, aborts, idle, during, fails } = rig();
      let prompt = longPrompt(20, 3);
      const ask = async () => {
        const id = submit([prompt], { numPredict: 3 });
        await idle();
        expect(textOf(id)).toBe(alone(prompt, 3));
        prompt = [...prompt, ...tokensOf(textOf(id)), 60, 61, 62, ...count(2, prompt.length)];
        return end(id)!.done!.cachedTokens;
      };
      await ask();
      await ask();
      const before = steps.length;
      during.work = () => {
        if (steps.length === before || steps.at(-1) !== 4) return;
        during.work = undefined;
        fails(how);
        submit([[60]]);
      };
      await ask();
      // Whoever comes ends it. What was aborted is computed when nobody waits again.
      expect(aborts()).toBe(1);
      expect([how, await ask()]).toEqual([how, left]);
    }
  });
});

describe("a job that is left", () => {
  it("while it waits, sends nothing and takes no place", async () => {
    const { submit, slots, events, end, idle } = rig({ slots: 1 });
    const [first, second, third] = [submit([count(5)]), submit([count(6, 30)]), submit([count(7, 40)])];
    slots.cancel(second);
    slots.cancel(99);
    await idle();
    expect([end(first)?.error, end(third)?.error]).toEqual([null, null]);
    expect(events.some(({ id }) => id === second)).toBe(false);
  });

  it("ends its step if that computes no answer of others", async () => {
    const left = async (hasOther: boolean) => {
      const { submit, slots, steps, aborts, during, end, idle, fails } = rig();
      const other = hasOther ? submit([longPrompt(5, 40)], { numPredict: 40 }) : 0;
      if (hasOther) for (let turns = 0; turns < 5; turns++) await turnOfLoop();
      let id = 0;
      during.work = () => {
        if (id === 0 || steps.at(-1)! < 20) return;
        during.work = undefined;
        slots.cancel(id);
        if (!hasOther) fails({ abortedAfter: 10 });
      };
      id = submit([count(50, 20)]);
      await idle();
      expect(end(id)).toBeUndefined();
      if (!hasOther) expect(steps).toEqual([50]);
      if (hasOther) expect(end(other)!.done!.evalTokens).toBe(40);
      return aborts();
    };
    expect(await left(false)).toBe(1);
    expect(await left(true)).toBe(0);
  });

  it("frees its slot at once where nothing is computed", async () => {
    const { submit, slots, events, end, idle } = rig({ slots: 1 });
    const first = submit([longPrompt(5, 200)], { numPredict: 200 });
    while (!events.some(({ id }) => id === first)) await turnOfLoop();
    slots.pause(first);
    await idle();
    const seen = events.length;
    const second = submit([count(6, 30)]);
    await idle();
    expect([events.length, end(second)]).toEqual([seen, undefined]);
    slots.cancel(first);
    await idle();
    expect(end(second)?.error).toBeNull();
    expect(end(first)).toBeUndefined();
  });
});

it("a slow reader's job goes on when it is resumed, and pausing what is over does nothing", async () => {
  const { submit, slots, events, end, idle } = rig();
  const id = submit([longPrompt(5, 30)], { numPredict: 30 });
  slots.pause(99);
  slots.resume(99);
  slots.supply(99, "x", new Float32Array(1));
  while (events.length < 3) await turnOfLoop();
  slots.pause(id);
  await idle();
  const paused = events.length;
  slots.progress();
  await idle();
  expect([events.length, end(id)]).toEqual([paused, undefined]);
  slots.resume(id);
  await idle();
  expect(end(id)!.done!.evalTokens).toBe(30);
  slots.pause(id);
});

it("a job that wants no token ends with its prompt", async () => {
  const { submit, end, idle } = rig();
  const id = submit([count(9)], { numPredict: 0 });
  await idle();
  expect(end(id)!.done).toMatchObject({ evalTokens: 0, promptTokens: 9, reason: "length" });
});

describe("a full window", () => {
  /** How many cells were dropped, and how many tokens were generated. */
  const filled = async (changes: Partial<GenerateJob>, window = 40, prompt = 10, hasState = false) => {
    const { submit, end, idle } = rig({ window, hasState, slots: 1 });
    const id = submit([longPrompt(prompt, window - prompt, hasState)], { numPredict: 60, ...changes });
    await idle();
    const { shiftedTokens, evalTokens, reason } = end(id)!.done!;
    return [shiftedTokens, evalTokens, reason];
  };

  it("ends the answer if it may not be shifted", async () => {
    expect(await filled({})).toEqual([0, 31, "length"]);
    expect(await filled({ numCtx: 20 })).toEqual([0, 11, "length"]);
  });

  it("loses the older half of what is not kept", async () => {
    const shifted = async (numKeep: number) => (await filled({ shift: true, numKeep, numPredict: 32 }))[0];
    // The first cell always stays, and four at least can be dropped.
    expect(await shifted(0)).toBe(19);
    expect(await shifted(1)).toBe(19);
    expect(await shifted(2)).toBe(19);
    expect(await shifted(3)).toBe(18);
    expect(await shifted(-1)).toBe(15);
    expect(await shifted(36)).toBe(2);
    expect(await shifted(99)).toBe(2);
    expect(await filled({ shift: true, numKeep: -1, numPredict: 9 }, 4, 2)).toEqual([6, 9, "length"]);
    expect((await filled({ shift: true, numPredict: 32 }, 40, 10, true))[0]).toBe(19);
  });
});

it("an answer that must not depend on others has the shared cache to itself, also when its reader goes on while another job begins", async () => {
  const { submit, slots, makers, events, idle } = rig({ window: 90, sharedCells: 120 });
  const first = submit([longPrompt(10, 40)], { numPredict: 40, deterministic: true });
  while (events.length === 0) await turnOfLoop();
  slots.pause(first);
  await idle();
  const { encodePrompt } = makers.vocabulary;
  makers.vocabulary.encodePrompt = (...prompt) => {
    slots.resume(first);
    return encodePrompt(...prompt);
  };
  const second = submit([longPrompt(40, 3)]);
  await idle();
  const endOfFirst = events.findIndex(({ id, done }) => id === first && done !== null);
  const beginOfSecond = events.findIndex(({ id }) => id === second);
  expect([endOfFirst > 0, beginOfSecond > endOfFirst]).toEqual([true, true]);
});

describe("pictures", () => {
  const picture = (name: string, rows: boolean, cells = 6): EncodedPicture => {
    const one = { identity: name.repeat(32), cells, positions: cells, layout: "line", causal: true } as const;
    return {
      ...one,
      rows: rows ? rowsOf({ ...one, rows: new Float32Array(0) } as EncodedPicture) : new Float32Array(0),
    };
  };

  it("at the end of a prompt are computed, though another slot has them and the shared cache is full", async () => {
    const drawn = picture("11", true, 20);
    const [idleOne, first] = [50, 40 + drawn.cells + 2];
    const { submit, end, idle } = rig({ slots: 3, window: 90, sharedCells: idleOne + first + 4 });
    submit([count(idleOne, 20)], { numPredict: 0 });
    await idle();
    // The second prompt copies only what stands before the picture, so the idle conversation has to go.
    const text = count(40);
    const ids = [submit([text, drawn, count(2)]), submit([text, drawn])];
    await idle();
    expect(ids.map((id) => end(id)?.error)).toEqual([null, null]);
  });

  it("are asked for once, one after the other, and others go on meanwhile", async () => {
    const { submit, slots, wants, end, idle } = rig();
    const [a, b] = [picture("11", false), picture("22", false)];
    const id = submit([count(4), a, count(3), b, count(2)]);
    const other = submit([count(9, 30)]);
    await idle();
    expect([wants, end(id), end(other)?.error]).toEqual([[a.identity], undefined, null]);
    slots.supply(id, "33".repeat(32), new Float32Array(0));
    await idle();
    expect(end(id)).toBeUndefined();
    slots.supply(id, a.identity, picture("11", true).rows);
    await idle();
    expect([wants, end(id)]).toEqual([[a.identity, b.identity], undefined]);
    slots.supply(id, b.identity, picture("22", true).rows);
    await idle();
    expect(end(id)!.done!.promptTokens).toBe(4 + 6 + 3 + 6 + 2);
  });

  it("let the loop rest while a prompt waits for another one that waits for them", async () => {
    const { submit, slots, steps, events, idle } = rig();
    const prompt = [count(40), picture("11", false), count(3)];
    const ids = [submit(prompt), submit([...prompt, count(3)])];
    await idle();
    const before = slots.progress();
    for (let turns = 0; turns < 50; turns++) await turnOfLoop();
    expect(slots.progress() - before).toBeLessThan(4);
    for (const id of ids) slots.supply(id, picture("11", false).identity, picture("11", true).rows);
    await idle();
    expect(events.filter(({ done }) => done)).toHaveLength(2);
    // The second prompt copies what the first one computed.
    expect(steps.reduce((sum, rows) => sum + rows, 0)).toBeLessThan(40 + 6 + 3 + 3 + 12);
  });

  it("end their job if their rows do not come", async () => {
    const { submit, slots, end, idle } = rig();
    const a = picture("11", false);
    const id = submit([count(4), a]);
    await idle();
    slots.supply(id, a.identity, new Float32Array(0));
    await idle();
    expect(end(id)!.error!.message).toMatch(/no rows came for the picture 1111/);
  });

  it("are forgotten when there are many that nothing holds", async () => {
    const { submit, makers, end, textOf, idle } = rig();
    const held = picture("11", true);
    const prompt = [count(40), held, count(5)];
    const first = submit(prompt);
    await idle();
    const fill = (from: number, to: number) => {
      for (let at = from; at < to; at++)
        makers.pictures.numberOf(picture(String(at).padStart(2, "0"), false));
    };
    fill(100, 4194);
    expect(makers.pictures.count).toBe(4095);
    submit([count(3, 40)]);
    await idle();
    expect(makers.pictures.count).toBe(4095);
    fill(4194, 4195);
    submit([count(3, 40)]);
    await idle();
    // The newest stay, and the one that a slot holds.
    expect(makers.pictures.count).toBe(1024 + 1);
    const again = submit([...prompt, tokensOf(textOf(first)), count(4)]);
    await idle();
    expect(end(again)!.done!.cachedTokens).toBeGreaterThan(50);
    // The next time is when their number is as large again.
    fill(4195, 4195 + 4096 - 1025);
    submit([count(3, 40)]);
    await idle();
    expect(makers.pictures.count).toBeLessThan(1100);
  });
});

describe("guesses of what follows", () => {
  const right = (prompt: readonly number[], at: number) =>
    aloneAnswer(marksOf([prompt]), { hasState: false, most: 100 }).tokens.slice(at, at + 6);
  /** The third one is wrong. */
  const half = (prompt: readonly number[], at: number) =>
    right(prompt, at).map((token, ahead) => (ahead === 2 ? token + 1 : token));

  it("are taken as far as they are right, so that an answer takes fewer steps", async () => {
    const prompt = longPrompt(20, 40);
    for (const [guess, most] of [
      [right, 10],
      [half, 20],
    ] as const) {
      const { submit, textOf, steps, idle } = rig({ guess });
      const ids = [submit([prompt], { numPredict: 40 }), submit([prompt], { numPredict: 40 })];
      await idle();
      expect(ids.map(textOf)).toEqual([alone(prompt, 40), alone(prompt, 40)]);
      expect(steps.length).toBeLessThan(most);
    }
  });

  it("take no cell of a shared cache that another one has", async () => {
    const { submit, slots, events, end, textOf, idle } = rig({ window: 90, sharedCells: 90, guess: right });
    const slow = submit([count(20, 50)], { numPredict: 9 });
    while (events.length === 0) await turnOfLoop();
    slots.pause(slow);
    const prompt = longPrompt(20, 60);
    const id = submit([prompt], { numPredict: 60 });
    await idle();
    expect([end(id)!.error, textOf(id)]).toEqual([null, alone(prompt, 60)]);
    slots.resume(slow);
    await idle();
    expect(textOf(slow)).toBe(alone(count(20, 50), 9));
  });

  it("end with the client that leaves while they are computed, and leave nothing behind", async () => {
    const prompt = longPrompt(20, 60);
    const { submit, slots, events, steps, during, end, textOf, idle } = rig({ slots: 1, guess: half });
    const id = submit([prompt], { numPredict: 60 });
    let seen = 0;
    during.work = () => {
      if (steps.at(-1)! < 5 || events.length < 3) return;
      during.work = undefined;
      seen = events.length;
      slots.cancel(id);
    };
    await idle();
    expect([seen > 0, events.length - seen, end(id)]).toEqual([true, 0, undefined]);
    const turn = [...prompt, ...right(prompt, 0), ...right(prompt, 6)];
    const next = submit([turn], { numPredict: 9 });
    await idle();
    expect(textOf(next)).toBe(alone(turn, 9));
    expect(end(next)!.done!.cachedTokens).toBeGreaterThan(20);
  });
});

describe("a failure", () => {
  it("of a step ends the jobs of that step, empties their slots, and leaves the others", async () => {
    for (const how of ["throws", "no_room"] as const) {
      const { submit, end, fails, idle } = rig();
      const prompt = count(20);
      await idle();
      fails(how);
      const id = submit([prompt]);
      await idle();
      expect(end(id)!.error!.message).toMatch(how === "throws" ? /the step failed/ : /no room left/);
      const again = submit([[...prompt, 5]]);
      await idle();
      expect(end(again)!.done!.cachedTokens).toBe(0);
    }
  });

  it("of a checkpoint ends the job", async () => {
    const { submit, context, end, idle } = rig({ hasState: true });
    Object.assign(context, {
      kind: { hasCache: true, hasState: true, slidingWindow: 8 },
      goBack: () => false,
    });
    const id = submit([count(100)]);
    await idle();
    expect(end(id)!.error!.message).toMatch(/a checkpoint was rejected/);
  });

  it("of a prompt that does not fit ends only this one", async () => {
    const { submit, events, end, idle } = rig({ window: 40 });
    const running = submit([longPrompt(5, 30)], { numPredict: 30 });
    while (events.length < 2) await turnOfLoop();
    const [long, right] = [submit([count(41)]), submit([count(40)], { numPredict: 1 })];
    await idle();
    expect([end(long)!.error!.code, end(right)!.error]).toEqual(["prompt_too_long", null]);
    expect(end(running)!.done!.evalTokens).toBe(30);
  });

  it("is none if a step is aborted for somebody else: it is computed again", async () => {
    for (const [abortedAfter, prompts] of [
      [0, 2],
      [25, 2],
      [45, 3],
    ] as const) {
      const { submit, textOf, fails, idle } = rig({ slots: 3 });
      const all = Array.from({ length: prompts }, (_, at) =>
        longPrompt(20 + at, 3).map((token) => ((token + at * 9) % 60) + 3),
      );
      fails({ abortedAfter });
      const ids = all.map((prompt) => submit([prompt]));
      await idle();
      expect(ids.map(textOf)).toEqual(all.map((prompt) => alone(prompt, 3)));
    }
  });

  it("has no second end where the client has left", async () => {
    const { submit, slots, during, events, fails, idle } = rig();
    let id = 0;
    during.work = () => {
      during.work = undefined;
      fails("throws");
      slots.cancel(id);
    };
    id = submit([count(20)]);
    await idle();
    expect(events).toEqual([]);
  });
});

describe("kept conversations", () => {
  /** Kept states that only note what is asked of them. */
  const noting = (worth: (slot: Slot, used: number) => boolean, found: Found | null = null) => {
    const asked: string[] = [];
    return {
      asked,
      kept: {
        isWorthKeeping: (slot: Slot, used: number) => slot.cached.length > 0 && worth(slot, used),
        keep: async (slot: Slot) => {
          asked.push(`keep ${slot.cached.length}`);
        },
        find: (prompt: readonly number[], most: number) => {
          asked.push(`find ${prompt.length} beyond ${most}`);
          return found;
        },
        restore: async () => {
          asked.push("restore");
          return false;
        },
        longestCommon: () => 0,
        cells: () => [],
      } as unknown as Partial<KeptStates>,
    };
  };

  it("are saved when another one takes their slot, and the new one while nobody waits", async () => {
    const { asked, kept } = noting((_, used) => used < 10);
    const { submit, idle } = rig({ slots: 1, kept });
    submit([longPrompt(20, 3)]);
    await idle();
    expect(asked).toEqual(["find 20 beyond 0"]);
    submit([longPrompt(30, 3).map((token) => 66 - token)]);
    await idle();
    expect(asked.slice(1)).toEqual(["find 30 beyond 0", "keep 22", "keep 32"]);
  });

  it("are not saved where their slot goes on with them", async () => {
    const { asked, kept } = noting((_, used) => used < 10);
    const { submit, slots, idle } = rig({ slots: 1, kept });
    const prompt = longPrompt(20, 3);
    submit([prompt]);
    await idle();
    submit([[...prompt, 5, 6]]);
    await idle();
    expect(asked).toEqual(["find 20 beyond 0", "find 22 beyond 20"]);
    await slots.keepAll();
    expect(asked.at(-1)).toMatch(/^keep 2\d$/);
  });

  it("are saved before a deterministic answer, which begins with nothing", async () => {
    const { asked, kept } = noting((_, used) => used < 10);
    const { submit, end, idle } = rig({ slots: 1, kept });
    const prompt = longPrompt(20, 3);
    submit([prompt]);
    await idle();
    const id = submit([[...prompt, 5, 6]], { deterministic: true });
    await idle();
    expect(asked.slice(1, 2)).toEqual(["keep 22"]);
    expect(end(id)!.done!.cachedTokens).toBe(0);
  });

  it("that cannot be restored are computed, and their slot is saved later", async () => {
    const found = { tokens: 15, known: { state: { tokens: [] } } } as unknown as Found;
    const { asked, kept } = noting(() => false, found);
    const { submit, end, idle } = rig({ slots: 1, kept });
    const id = submit([longPrompt(20, 3)]);
    await idle();
    expect(asked).toEqual(["find 20 beyond 0", "restore"]);
    expect(end(id)!.done!.cachedTokens).toBe(0);
  });

  it("free their slot if the client leaves meanwhile", async () => {
    const { asked, kept } = noting(() => true);
    const { submit, slots, steps, events, end, idle } = rig({ slots: 1, kept });
    submit([longPrompt(20, 3)]);
    await idle();
    const before = steps.length;
    let id = 0;
    Object.assign(kept, {
      keep: async () => {
        asked.push("keep");
        await turnOfLoop();
        slots.cancel(id);
      },
    });
    id = submit([count(30, 7)]);
    await idle();
    expect([asked.includes("keep"), events.some((event) => event.id === id)]).toEqual([true, false]);
    expect(steps.length).toBe(before);
    const next = submit([count(9, 40)]);
    Object.assign(kept, { isWorthKeeping: () => false });
    await idle();
    expect(end(next)!.error).toBeNull();
  });

  it("that cannot be saved end the job that takes their slot, and no other", async () => {
    const { kept } = noting(() => true);
    const { submit, textOf, end, idle } = rig({ slots: 1, kept });
    submit([longPrompt(20, 3)]);
    await idle();
    const keep = async () => {
      throw new Error("no memory is left");
    };
    Object.assign(kept, { keep });
    const failed = submit([count(30, 7)]);
    await idle();
    expect(end(failed)!.error!.message).toMatch(/no memory is left/);
    Object.assign(kept, { isWorthKeeping: () => false });
    const prompt = longPrompt(20, 3);
    const next = submit([prompt]);
    await idle();
    expect([textOf(next), end(next)!.done!.cachedTokens]).toEqual([alone(prompt, 3), 0]);
  });

  it("of a slow reader free their slot if it leaves while they make room for another one", async () => {
    const { asked, kept } = noting(() => true);
    const { submit, slots, events, end, idle } = rig({ slots: 2, window: 90, sharedCells: 90, kept });
    const slow = async () => {
      const before = events.length;
      const id = submit([longPrompt(60, 20)], { numPredict: 20 });
      while (events.length === before) await turnOfLoop();
      slots.pause(id);
      await idle();
      return id;
    };
    const left = await slow();
    const keep = async () => {
      asked.push("keep");
      await turnOfLoop();
      slots.cancel(left);
    };
    Object.assign(kept, { keep });
    const other = submit([count(50, 7)], { numPredict: 1 });
    await idle();
    expect([asked.includes("keep"), end(other)!.error, end(left)]).toEqual([true, null, undefined]);
    // Both slots can be had: another slow reader holds one of them.
    Object.assign(kept, { isWorthKeeping: () => false });
    await slow();
    const last = submit([count(9, 40)], { numPredict: 1 });
    await idle();
    expect(end(last)?.error).toBeNull();
  });

  it("are not saved while a job runs", async () => {
    const { asked, kept } = noting(() => true);
    const { submit, slots, events } = rig({ slots: 1, kept });
    const id = submit([longPrompt(5, 100)], { numPredict: 100 });
    while (events.length === 0) await turnOfLoop();
    asked.length = 0;
    await slots.keepAll();
    expect(asked).toEqual([]);
    slots.cancel(id);
  });
});

it("the loop ends when there is nothing to do, and turns once if it is asked", async () => {
  const { submit, slots, context, makers, sent, idle } = rig();
  let rests = 0;
  context.rest = () => rests++;
  submit([count(4)]);
  await idle();
  expect(rests).toBe(1);
  const first = slots.progress();
  await idle();
  expect(rests).toBe(2);
  expect(slots.progress()).toBeGreaterThan(first);
  await idle();
  expect(sent).not.toContain(0);
  // A step that computes for long shows that it does, and so does a model that guesses.
  context.progress += 1_000;
  expect(slots.progress()).toBeGreaterThanOrEqual(first + 1_000);
  Object.assign(makers, { drafts: { model: { progress: 1_000 } } });
  expect(slots.progress()).toBeGreaterThanOrEqual(first + 2_000);
  await idle();
});
