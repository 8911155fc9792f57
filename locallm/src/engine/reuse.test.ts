import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultSampling, type GenerateJob } from "../wire/inference/generate.ts";
import type { Picture } from "../wire/inference/picture.ts";
import type { Answer } from "./answer.ts";
import { Pictures, positionInPicture } from "./pictures.ts";
import { Reuse, type ReuseRequest, type SequenceMemory } from "./reuse.ts";
import { Room } from "./room.ts";
import { Slot } from "./slot.ts";

const capacity = 64;
const contextPerSequence = 200;

/** What a sequence holds: cells at positions, and the cells that its recurrent state has seen. */
interface Sequence {
  held: readonly { readonly cell: number; readonly position: number }[];
  seen: readonly number[];
}

/** Memory that follows the engine's rules: it cuts by positions, and a state can only go back to a checkpoint. */
class Memory implements SequenceMemory {
  readonly kind: SequenceMemory["kind"];
  readonly capacity = capacity;
  readonly contextPerSequence = contextPerSequence;
  readonly sequences: Sequence[];
  readonly #saved: (readonly number[])[] = [];

  constructor(sequences: number, hasState: boolean) {
    this.kind = { hasCache: true, hasState, slidingWindow: 0 };
    this.sequences = Array.from({ length: sequences }, () => ({ held: [], seen: [] }));
  }

  add(index: number, cell: number, position: number): void {
    const { held, seen } = this.sequences[index]!;
    this.sequences[index] = { held: [...held, { cell, position }], seen: [...seen, cell] };
  }

  cutsAnywhere = () => !this.kind.hasState;
  canCutTo = (_: number, position: number) => position === 0 || !this.kind.hasState;

  truncate(index: number, from: number): boolean {
    const sequence = this.sequences[index]!;
    const held = sequence.held.filter(({ position }) => position < from);
    const isPossible = from === 0 || !this.kind.hasState || sequence.seen.length <= held.length;
    const kept = isPossible ? held : [];
    this.sequences[index] = { held: kept, seen: kept.map(({ cell }) => cell) };
    return isPossible;
  }

  copy(from: number, to: number): boolean {
    this.sequences[to] = { ...this.sequences[from]! };
    return true;
  }

  finishCopy = () => true;
  checkpointBytes = () => (this.kind.hasState ? 4 : 0);

  saveCheckpoint(index: number, into: Uint8Array, tokens = Number.POSITIVE_INFINITY): boolean {
    const place = this.#saved.push(this.sequences[index]!.seen.slice(0, tokens)) - 1;
    new DataView(into.buffer, into.byteOffset).setUint32(0, place);
    return true;
  }

  goBack(index: number, bytes: Uint8Array): boolean {
    const seen = this.#saved[new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)]!;
    this.sequences[index] = { ...this.sequences[index]!, seen };
    return true;
  }

  canCutOut = () => !this.kind.hasState;

  cutOut(index: number, from: number, to: number): void {
    if (this.kind.hasState) throw new Error("a state cannot forget what it has seen");
    const held = this.sequences[index]!.held.filter(({ position }) => position < from || position >= to).map(
      ({ cell, position }) => ({ cell, position: position < to ? position : position - (to - from) }),
    );
    this.sequences[index] = { held, seen: held.map(({ cell }) => cell) };
  }
}

const picture = (name: string, width: number, height: number): Picture => ({
  identity: name.repeat(64),
  cells: width * height,
  positions: Math.max(width, height),
  layout: { width, height },
  causal: true,
});
/** Few, so that prompts share beginnings. */
const pieces = [[1, 2, 3], [4], [5, 6, 7, 8, 9, 10, 11, 12, 13, 14], [15, 16]];
const drawn = [picture("a", 5, 7), picture("b", 1, 4), picture("c", 9, 9)];

const anyPrompt = fc.array(fc.nat(pieces.length + drawn.length - 1), { minLength: 1, maxLength: 5 });
const anyTurn = fc.record({
  slot: fc.nat(1),
  prompt: anyPrompt,
  /** How many cells the steps compute, one after the other. */
  steps: fc.array(fc.integer({ min: 1, max: capacity }), { maxLength: 8 }),
  abortedAfter: fc.nat(9),
  shift: fc.option(fc.record({ keep: fc.nat(60), count: fc.integer({ min: 1, max: 40 }) })),
});

it.each([false, true])(
  "never cuts a picture, and always knows what the memory holds; with a state: %s",
  (hasState) => {
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 12 }), (turns) => {
        const pictures = new Pictures();
        const memory = new Memory(2, hasState);
        const checkpoints = hasState ? 3 : 0;
        const slots = [0, 1].map((index) => new Slot(index, checkpoints, pictures));
        const reuse = new Reuse({
          context: memory,
          slots,
          pictures,
          checkpoints,
          longestKept: () => 0,
          room: null,
        });

        const check = (slot: Slot) => {
          const { held, seen } = memory.sequences[slot.index]!;
          expect(held.map(({ cell }) => cell)).toEqual(slot.cached);
          if (hasState) expect(seen).toEqual(slot.cached);
          expect(slot.position).toBe(pictures.positionAt(slot.cached, slot.cached.length));
          expect(held.map(({ position }) => position)).toEqual(
            slot.cached.map((_, index) => pictures.positionAt(slot.cached, index)),
          );
        };
        const compute = (slot: Slot, most: number) => {
          const count = Math.min(most, slot.untilStop);
          const cell = slot.pending[0]!;
          const done = cell < 0 ? slot.inPicture : 0;
          const first = slot.positionOf(slot.cached.length - done);
          for (let at = 0; at < count; at++) {
            const [time] =
              cell < 0 ? positionInPicture(pictures.of(cell), first, done + at) : [slot.position + at];
            memory.add(slot.index, slot.pending[at]!, time);
          }
        };

        for (const [id, { slot: index, prompt, steps, abortedAfter, shift }] of turns.entries()) {
          const slot = slots[index]!;
          const cells = prompt.flatMap((at) => pieces[at] ?? pictures.cellsOf(drawn[at - pieces.length]!));
          const most = reuse.reusable(slot, cells);
          const fork = reuse.fork(cells);
          slot.begin(id, answerTo(cells), id);
          reuse.begin(slot, most, fork);
          check(slot);
          reuse.hasHead(slot, []);
          check(slot);
          for (const [at, step] of steps.entries()) {
            if (slot.pending.length === 0) break;
            const count = Math.min(step, slot.untilStop);
            compute(slot, step);
            if (at === abortedAfter) slot.rollBack(reuse.undo(slot));
            else slot.commit(count);
            if (at !== abortedAfter && slot.isAtStop) expect(reuse.remember(slot)).toBe(true);
            check(slot);
          }
          if (slot.pending.length === 0 && shift !== null && slot.cached.length > 2) {
            const before = slot.cached.length;
            const removed = reuse.cutOut(slot, Math.min(shift.keep, before - 1), shift.count);
            expect(slot.cached.length + slot.pending.length).toBe(before - removed);
            check(slot);
          }
          reuse.settle(slot);
          slot.release();
          check(slot);
          expect(pictures.borderBefore(slot.cached, slot.cached.length)).toBe(slot.cached.length);
        }
      }),
      { numRuns: 300 },
    );
  },
);

it("reuses no cells that were computed after others that are gone, in no slot", () => {
  const pictures = new Pictures();
  const memory = new Memory(2, false);
  const [slot, other] = [0, 1].map((index) => new Slot(index, 0, pictures)) as [Slot, Slot];
  const reuse = new Reuse({
    ...{ context: memory, slots: [slot, other], pictures, checkpoints: 0 },
    longestKept: () => 0,
    room: null,
  });
  const prompt = Array.from({ length: 60 }, (_, token) => token);
  slot.begin(1, answerTo(prompt), 1);
  reuse.begin(slot, 0, 0);
  for (const token of prompt) memory.add(0, token, token);
  slot.commit(prompt.length);
  expect(reuse.cutOut(slot, 12, 20)).toBe(20);
  // What is left is the whole beginning of another prompt.
  const same = [...slot.cached, 99];
  expect(same).toHaveLength(41);
  expect(reuse.reusable(slot, same)).toBe(12);
  other.begin(2, answerTo(same), 2);
  reuse.begin(other, 0, 0);
  expect(reuse.hasHead(other, [])).toBe(true);
  expect(other.cached).toEqual(prompt.slice(0, 12));
  slot.release();
  // Once these cells are gone, the rest is like any other.
  slot.begin(3, answerTo(same), 3);
  reuse.begin(slot, reuse.reusable(slot, same), 0);
  expect([slot.cached.length, slot.isShifted]).toEqual([12, false]);
});

const count = (length: number, from = 0) => Array.from({ length }, (_, at) => from + at);

interface Rig {
  readonly memory: Memory;
  readonly slots: readonly Slot[];
  readonly reuse: Reuse;
  /** Fills a slot and its memory, and ends its job unless it goes on. */
  readonly fill: (slot: Slot, cells: readonly number[], prompt?: readonly number[]) => void;
  /** Adds checkpoints of the slot's first `tokens` cells. */
  readonly mark: (slot: Slot, ...tokens: readonly number[]) => void;
  /** Gives a slot a new job that begins with what `most` cells of its cache are. */
  readonly ask: (slot: Slot, cells: readonly number[], most?: number, job?: Partial<GenerateJob>) => void;
}

function rig(
  hasState: boolean,
  {
    slots: many = 2,
    checkpoints = 3,
    room = null,
    ...changes
  }: Partial<Omit<ReuseRequest, "slots">> & { readonly slots?: number } = {},
): Rig {
  const pictures = new Pictures();
  const memory = new Memory(many, hasState);
  const slots = Array.from({ length: many }, (_, index) => new Slot(index, checkpoints, pictures, room));
  const request = { context: memory, slots, pictures, checkpoints, longestKept: () => 0, room, ...changes };
  const reuse = new Reuse(request);
  let id = 0;
  return {
    ...{ memory, slots, reuse },
    fill: (slot, cells, prompt) => {
      slot.begin(++id, answerTo(prompt ?? cells), id);
      slot.resume(0);
      memory.truncate(slot.index, 0);
      for (const [at, cell] of cells.entries()) memory.add(slot.index, cell, at);
      slot.commit(cells.length);
      if (prompt === undefined) slot.release();
    },
    mark: (slot, ...all) => {
      for (const tokens of all)
        slot.checkpoints.add(tokens, 4, (into) => memory.saveCheckpoint(slot.index, into, tokens));
    },
    ask: (slot, cells, most = 0, job = {}) => {
      slot.begin(++id, answerTo(cells, job), id);
      reuse.begin(slot, most, reuse.fork(cells));
    },
  };
}

const remembered = (slot: Slot) => slot.checkpoints.held.map(({ tokens }) => tokens);
/** Where the steps of a slot's prompt end for a checkpoint. */
function stopsOf(slot: Slot): number[] {
  const stops: number[] = [];
  while (slot.pending.length > 0) {
    slot.commit(slot.untilStop);
    if (slot.isAtStop) stops.push(slot.cached.length);
  }
  return stops;
}

describe("where checkpoints are stored", () => {
  const stops = (length: number, checkpoints: number, job: Partial<GenerateJob> = {}) => {
    const { slots, ask } = rig(true, { checkpoints });
    ask(slots[0]!, count(length), 0, job);
    return stopsOf(slots[0]!);
  };

  it("16 tokens before the end, and after three quarters of the steps if there are four", () => {
    expect(stops(31, 3)).toEqual([]);
    expect(stops(32, 3)).toEqual([16]);
    expect(stops(255, 3)).toEqual([239]);
    expect(stops(256, 3)).toEqual([192, 240]);
    expect(stops(300, 2)).toEqual([192, 284]);
    expect(stops(700, 3)).toEqual([8 * 64, 684]);
  });

  it("only before the end if a slot keeps one, or nobody else may use it, and nowhere if it keeps none", () => {
    expect(stops(300, 1)).toEqual([284]);
    expect(stops(300, 3, { deterministic: true })).toEqual([284]);
    expect(stops(300, 0)).toEqual([]);
  });

  it("where another conversation differs, less a few tokens, if that saves 64", () => {
    const forked = (common: number, own: number, kept = 0, checkpoints = 3) => {
      const { slots, fill, ask } = rig(true, { checkpoints, longestKept: () => kept });
      fill(slots[1]!, [...count(common), 999]);
      fill(slots[0]!, count(own));
      ask(slots[0]!, count(300), own);
      return stopsOf(slots[0]!);
    };
    expect(forked(80, 0)).toEqual([64, 284]);
    expect(forked(79, 0)).toEqual([192, 284]);
    expect(forked(90, 10)).toEqual([74, 284]);
    expect(forked(89, 10)).toEqual([284]);
    expect(forked(80, 0, 150)).toEqual([134, 284]);
    expect(forked(80, 0, 150, 2)).toEqual([134, 284]);
    expect(forked(80, 0, 150, 1)).toEqual([284]);
  });

  it("after a picture that stands near the end, unless nothing comes after it", () => {
    const pictures = new Pictures();
    const stopsAfter = (prompt: readonly number[]) => {
      const { slots, ask } = rig(true, { pictures });
      ask(slots[0]!, prompt);
      return slots[0]!.untilStop;
    };
    const cells = pictures.cellsOf({ ...picture("a", 35, 1), layout: "line", positions: 35 });
    const slot = new Slot(0, 3, pictures);
    const near = (prompt: readonly number[]) => {
      const reuse = new Reuse({
        ...{ context: new Memory(1, true), slots: [slot], pictures, checkpoints: 3, room: null },
        longestKept: () => 0,
      });
      slot.begin(1, answerTo(prompt), 1);
      reuse.begin(slot, 0, 0);
      const stops = stopsOf(slot);
      slot.release();
      slot.empty();
      return stops;
    };
    expect(near([...count(40), ...cells, ...count(5)])).toEqual([75]);
    expect(near([...count(40), ...cells, ...count(20)])).toEqual([79]);
    expect(near([...count(40), ...cells])).toEqual([40]);
    expect(stopsAfter(count(40))).toBe(24);
  });
});

describe("to how much of its cache a slot can go back", () => {
  const cached = (length: number, ...checkpoints: readonly number[]) => {
    const all = rig(true);
    all.fill(all.slots[0]!, count(length));
    all.mark(all.slots[0]!, ...checkpoints);
    const common = (tokens: number) => all.reuse.reusable(all.slots[0]!, [...count(tokens), 999, 998]);
    return { ...all, common };
  };

  it("all of it, or to a checkpoint if it has a state", () => {
    const { common } = cached(100, 20, 60, 90);
    expect([100, 99, 90, 89, 60, 59, 20, 19].map(common)).toEqual([100, 90, 90, 60, 60, 20, 20, 0]);
    expect([50, 49].map(cached(50).common)).toEqual([50, 0]);
  });

  it("nothing of a cache that adapters changed", () => {
    const { slots, common } = cached(100, 20);
    slots[0]!.isTuned = true;
    expect(common(100)).toBe(0);
  });

  it("a checkpoint only a few tokens shorter, or what a sliding window still sees after as few tokens less", () => {
    const { slots, memory, common, reuse } = cached(100, 50);
    const asked: unknown[] = [];
    let first = 0;
    Object.assign(memory, {
      kind: { hasCache: true, hasState: false, slidingWindow: 8 },
      cutsAnywhere: () => false,
      canCutTo: (_: number, position: number, spare = 0) => {
        asked.push(spare);
        return position === 0 || first <= Math.max(0, position - 7 - spare);
      },
    });
    expect([66, 67, 49].map(common)).toEqual([50, 67, 49]);
    first = 60;
    expect([66, 67, 82, 83, 49].map(common)).toEqual([50, 50, 50, 83, 0]);
    expect(new Set(asked)).toEqual(new Set([16]));
    // An aborted step is undone without one, if that can be.
    first = 0;
    slots[0]!.expects([7]);
    expect(reuse.undo(slots[0]!)).toBe(101);
    first = 99;
    expect(reuse.undo(slots[0]!)).toBe(50);
  });

  it("nothing if the checkpoint is rejected, and then its memory is empty", () => {
    const { slots, memory, reuse } = cached(100, 20);
    memory.goBack = () => false;
    expect(reuse.cut(slots[0]!, 30)).toBe(0);
    expect(memory.sequences[0]!.held).toEqual([]);
  });
});

describe("the beginning of another slot's cache", () => {
  it("is copied by a fresh slot of which others may know, once it is long enough", () => {
    const copied = (length: number, change: (slot: Slot, from: Slot) => void = () => {}, job = {}) => {
      const { slots, reuse, fill, ask } = rig(false, { checkpoints: 0 });
      const [slot, from] = slots as [Slot, Slot];
      fill(from, count(length));
      ask(slot, count(60), 0, job);
      change(slot, from);
      expect(reuse.hasHead(slot, [])).toBe(true);
      return slot.cached.length;
    };
    expect([7, 8, 40].map((length) => copied(length))).toEqual([0, 8, 40]);
    expect(copied(40, (slot) => slot.commit(1))).toBe(1);
    expect(copied(40, () => {}, { deterministic: true })).toBe(0);
    expect(copied(40, (_, from) => (from.isTuned = true))).toBe(0);
  });

  it("is worth more where windows are large", () => {
    const copied = (length: number) => {
      const { slots, memory, reuse, fill, ask } = rig(false, { checkpoints: 0 });
      Object.assign(memory, { contextPerSequence: 5_000 });
      fill(slots[1]!, count(length));
      ask(slots[0]!, count(60));
      reuse.hasHead(slots[0]!, []);
      return slots[0]!.cached.length;
    };
    expect([19, 20].map(copied)).toEqual([0, 20]);
  });

  it("comes with the checkpoints that the slot has not", () => {
    const { slots, reuse, fill, mark, ask } = rig(true, { checkpoints: 4 });
    const [slot, from] = slots as [Slot, Slot];
    fill(from, count(150));
    mark(from, 10, 16, 40, 80);
    fill(slot, count(16));
    mark(slot, 16);
    ask(slot, [...count(40), ...count(100, 500)], 16);
    expect(reuse.hasHead(slot, [])).toBe(true);
    expect([slot.cached, remembered(slot)]).toEqual([count(40), [16, 40]]);
    expect(stopsOf(slot)).toEqual([124]);
  });

  it("and what it lacks of another conversation is a further stop, if that saves 64 tokens", () => {
    const stops = (common: number) => {
      const { slots, reuse, fill, mark, ask } = rig(true, { slots: 3 });
      const [slot, from, other] = slots as [Slot, Slot, Slot];
      fill(from, [...count(40), 900]);
      mark(from, 40);
      ask(slot, count(200));
      fill(other, [...count(common), 901]);
      expect(reuse.hasHead(slot, [])).toBe(true);
      expect(slot.cached).toEqual(count(40));
      return stopsOf(slot);
    };
    expect(stops(120)).toEqual([104, 184]);
    expect(stops(119)).toEqual([184]);
  });

  it("is not taken from a checkpoint of a full cache, which has no cell for the step that ends the copy", () => {
    const copied = (length: number) => {
      const { slots, reuse, fill, mark, ask } = rig(true);
      fill(slots[1]!, count(length));
      mark(slots[1]!, 40);
      ask(slots[0]!, [...count(60), 999]);
      reuse.hasHead(slots[0]!, []);
      return slots[0]!.cached.length;
    };
    expect([contextPerSequence - 1, contextPerSequence].map(copied)).toEqual([40, 0]);
  });

  it("is copied no more once a copy has failed", () => {
    for (const failing of ["copy", "finishCopy", "goBack", "truncate"] as const) {
      const { slots, memory, reuse, fill, mark, ask } = rig(true, { slots: 3 });
      const [slot, from, next] = slots as [Slot, Slot, Slot];
      fill(from, [...count(50), 900]);
      mark(from, 50);
      ask(slot, count(60));
      const works = memory[failing];
      Object.assign(memory, { [failing]: () => false });
      expect(reuse.hasHead(slot, [])).toBe(true);
      expect([slot.cached, slot.pending.length]).toEqual([[], 60]);
      Object.assign(memory, { [failing]: works });
      ask(next, count(60));
      expect(reuse.hasHead(next, [])).toBe(true);
      expect(next.cached).toEqual([]);
    }
  });

  it("is finished by a step only if it comes from a checkpoint", () => {
    const finished = (length: number) => {
      const { slots, memory, reuse, fill, mark, ask } = rig(true);
      const asked: number[] = [];
      memory.finishCopy = (...index: unknown[]) => asked.push(index[0] as number) > 0;
      fill(slots[1]!, count(length));
      mark(slots[1]!, 30);
      ask(slots[0]!, count(60));
      reuse.hasHead(slots[0]!, []);
      return [slots[0]!.cached.length, asked];
    };
    expect(finished(59)).toEqual([59, []]);
    expect(finished(61)).toEqual([30, [0]]);
  });

  it("is waited for while another slot computes it, which stops where the prompts differ if it must", () => {
    const waits = (hasState: boolean, job: Partial<GenerateJob>) => {
      const { slots, reuse, fill, ask } = rig(hasState, { checkpoints: hasState ? 1 : 0 });
      const [slot, ahead] = slots as [Slot, Slot];
      fill(ahead, count(10), [...count(50), ...count(20, 500)]);
      Object.assign(ahead.answer.job, job);
      ask(slot, [...count(50), 999]);
      return [reuse.hasHead(slot, [ahead]), ahead.untilStop, reuse.hasHead(slot, [])];
    };
    expect(waits(false, {})).toEqual([false, 60, true]);
    expect(waits(true, {})).toEqual([false, 40, true]);
    expect(waits(false, { deterministic: true })).toEqual([false, 60, true]);
    expect(waits(true, { deterministic: true })).toEqual([true, 60, true]);
  });
});

describe("a checkpoint", () => {
  const stored = (change: (memory: Memory) => void) => {
    const { slots, memory, reuse, fill } = rig(true);
    fill(slots[0]!, count(20));
    change(memory);
    return [reuse.remember(slots[0]!), remembered(slots[0]!)];
  };
  const sliding = { hasCache: true, hasState: false, slidingWindow: 8 };

  it("is stored where there is something to store", () => {
    expect(stored(() => {})).toEqual([true, [20]]);
    expect(stored((memory) => Object.assign(memory, { checkpointBytes: () => 0 }))).toEqual([true, []]);
    expect(stored((memory) => Object.assign(memory, { saveCheckpoint: () => false }))).toEqual([true, []]);
  });

  it("fills a sliding window again, and the memory is lost if that fails", () => {
    const back: number[] = [];
    const goBack = (index: number) => back.push(index) > 1;
    const slides = (memory: Memory) =>
      Object.assign(memory, { kind: sliding, checkpointBytes: () => 4, goBack });
    expect(stored(slides)).toEqual([false, [20]]);
    expect(stored(slides)).toEqual([true, [20]]);
    expect(stored((memory) => Object.assign(slides(memory), { saveCheckpoint: () => false }))).toEqual([
      true,
      [],
    ]);
    expect(back).toEqual([0, 0]);
    expect(stored((memory) => Object.assign(memory, { goBack }))).toEqual([true, [20]]);
    expect(back).toEqual([0, 0]);
  });
});

it("cells that two slots share are not moved, but computed again", () => {
  const cut = (shared: number) => {
    const room = new Room(500, 2);
    const { slots, reuse, fill } = rig(false, { room, checkpoints: 0 });
    fill(slots[0]!, count(30), count(30));
    slots[1]!.copies(slots[0]!, shared);
    expect(reuse.cutOut(slots[0]!, 10, 5)).toBe(5);
    return [slots[0]!.cached.length, slots[0]!.pending.length];
  };
  expect(cut(10)).toEqual([25, 0]);
  expect(cut(11)).toEqual([10, 15]);
});

it("a picture that ends the cache stays when its client leaves, and a part of one does not", () => {
  const pictures = new Pictures();
  const left = (cells: number) => {
    const memory = new Memory(1, true);
    const slot = new Slot(0, 3, pictures);
    const reuse = new Reuse({
      ...{ context: memory, slots: [slot], pictures, checkpoints: 3, room: null },
      longestKept: () => 0,
    });
    const prompt = [1, 2, ...pictures.cellsOf(picture("a", 5, 7)), 3];
    slot.begin(1, answerTo(prompt), 1);
    slot.resume(0);
    slot.commit(cells);
    reuse.settle(slot);
    return slot.cached.length;
  };
  expect([2, 36, 37, 38].map(left)).toEqual([2, 0, 37, 38]);
});

/** The parts of an answer that a slot asks for. */
function answerTo(prompt: readonly number[], changes: Partial<GenerateJob> = {}): Answer {
  const job = { sampling: defaultSampling, deterministic: false, ...changes } as GenerateJob;
  const nothing = () => {};
  const answer = { prompt, job, hasPictures: true, begin: nothing, recompute: nothing, free: nothing };
  return answer as unknown as Answer;
}
