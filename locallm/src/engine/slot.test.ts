import { describe, expect, it } from "vitest";
import { defaultSampling, type GenerateJob } from "../wire/inference/generate.ts";
import type { EncodedPicture } from "../wire/inference/picture.ts";
import type { Answer } from "./answer.ts";
import { Pictures } from "./pictures.ts";
import { Room } from "./room.ts";
import { Slot } from "./slot.ts";

const count = (length: number, from = 0) => Array.from({ length }, (_, at) => from + at);
const grid: EncodedPicture = {
  identity: "ab".repeat(32),
  cells: 12,
  positions: 4,
  rows: new Float32Array(0),
  layout: { width: 4, height: 3 },
  causal: true,
};
const whole: EncodedPicture = { ...grid, identity: "cd".repeat(32), causal: false, layout: "line" };

/** What a slot tells its answer, and which pictures' rows are there or were asked for. */
interface Told {
  readonly begun: number[];
  readonly recomputed: number[];
  freed: number;
  readonly rows: Set<number>;
  readonly asked: Set<number>;
}

function answerTo(prompt: readonly number[], changes: Partial<GenerateJob> = {}) {
  const told: Told = { begun: [], recomputed: [], freed: 0, rows: new Set(), asked: new Set() };
  const answer = {
    prompt,
    job: { sampling: defaultSampling, deterministic: false, ...changes },
    hasPictures: prompt.some((cell) => cell < 0),
    begin: (cached: number) => told.begun.push(cached),
    recompute: (kept: number) => told.recomputed.push(kept),
    free: () => told.freed++,
    rowsOf: (cell: number) => new Float32Array(told.rows.has(cell) ? 1 : 0),
    hasAsked: (cell: number) => told.asked.has(cell),
  };
  return { answer: answer as unknown as Answer, told };
}

function begun(
  prompt: readonly number[],
  changes: Partial<GenerateJob> = {},
  slot = new Slot(0, 3, pictures),
) {
  const { answer, told } = answerTo(prompt, changes);
  slot.begin(1, answer, 1);
  slot.resume(0);
  return { slot, told };
}

const pictures = new Pictures();

/** How many cells each step computes if it may compute all. */
function stepsOf(slot: Slot): number[] {
  const steps: number[] = [];
  while (slot.pending.length > 0) {
    steps.push(slot.untilStop);
    slot.commit(slot.untilStop);
  }
  return steps;
}

describe("the steps of a prompt", () => {
  it("end at its stops, whatever their order, and nowhere else", () => {
    const { slot } = begun(count(20));
    for (const cells of [13, 4, 4, 0, 20, 99]) slot.stopAt(cells);
    expect([slot.untilStop, slot.isAtStop]).toEqual([4, false]);
    slot.commit(3);
    expect([slot.untilStop, slot.isAtStop, slot.isFresh]).toEqual([1, false, false]);
    slot.commit(1);
    expect([slot.untilStop, slot.isAtStop]).toEqual([9, true]);
    slot.commit(9);
    expect([slot.untilStop, slot.isAtStop, slot.isGenerating]).toEqual([7, true, false]);
    slot.commit(7);
    expect([slot.untilStop, slot.isAtStop, slot.isGenerating]).toEqual([0, false, true]);
    expect(slot.cached).toEqual(count(20));
    slot.push(7);
    expect([slot.untilStop, slot.pending]).toEqual([1, [7]]);
  });

  it("ignore stops that the cache has passed", () => {
    const { slot } = begun(count(20));
    slot.commit(20);
    slot.release();
    slot.begin(2, answerTo(count(30)).answer, 2);
    slot.resume(12);
    for (const cells of [11, 12, 13]) slot.stopAt(cells);
    expect(stepsOf(slot)).toEqual([1, 17]);
  });

  it("are of one kind each, and a picture is one however its steps are cut; token 0 is a token", () => {
    const [first] = pictures.cellsOf(grid);
    const prompt = [
      1,
      0,
      ...pictures.cellsOf(grid),
      ...pictures.cellsOf(grid),
      0,
      5,
      ...pictures.cellsOf(whole),
      9,
    ];
    const { slot, told } = begun(prompt);
    // A stop is at a border.
    slot.stopAt(2 + 12 + 3);
    expect([slot.untilStop, slot.kind, slot.awaitsRows, slot.lacksRows]).toEqual([2, "token", false, false]);
    slot.commit(1);
    expect([slot.untilStop, slot.kind, slot.awaitsRows, slot.lacksRows]).toEqual([1, "token", false, false]);
    slot.commit(1);
    expect([slot.untilStop, slot.kind, slot.awaitsRows, slot.lacksRows]).toEqual([12, "picture", true, true]);
    told.asked.add(first!);
    expect([slot.awaitsRows, slot.lacksRows]).toEqual([true, false]);
    told.rows.add(first!);
    expect([slot.awaitsRows, slot.lacksRows]).toEqual([false, false]);
    slot.commit(5);
    expect([slot.untilStop, slot.inPicture]).toEqual([7, 5]);
    slot.commit(7);
    expect([slot.isAtStop, slot.inPicture, slot.position, slot.cached.length]).toEqual([true, 0, 6, 14]);
    slot.commit(4);
    expect([slot.untilStop, slot.inPicture]).toEqual([8, 4]);
    expect(stepsOf(slot)).toEqual([8, 2, 12, 1]);
    expect([slot.position, slot.cached]).toEqual([2 + 4 + 4 + 2 + 12 + 1 - 8, prompt]);
    expect(slot.kind).toBe("token");
  });

  it("takes a picture that one step must compute for one of its own kind", () => {
    const { slot } = begun([...pictures.cellsOf(whole), 3]);
    expect([slot.kind, slot.untilStop]).toEqual(["whole picture", 12]);
  });
});

describe("the positions of a slot", () => {
  const cells = [1, 2, ...pictures.cellsOf(grid), 3];

  it("are fewer than its cells after a picture with a grid, also if they come from a kept state", () => {
    const slot = new Slot(0, 0, pictures);
    slot.holds(Int32Array.from(cells), 15);
    expect([slot.position, slot.positionOf(14), slot.positionOf(2)]).toEqual([7, 6, 2]);
    slot.cutTo(2);
    expect([slot.position, slot.positionOf(1)]).toEqual([2, 1]);
  });

  it("are those of what is left where cells were removed", () => {
    const slot = new Slot(0, 0, pictures);
    slot.holds(Int32Array.from([...cells, 4, 5]), 17);
    slot.shift(2, 12);
    expect([slot.cached, slot.position]).toEqual([[1, 2, 3, 4, 5], 5]);
    slot.holds(Int32Array.from([...cells, 4, 5]), 17);
    slot.shift(1, 1);
    expect([slot.cached.length, slot.position]).toEqual([16, 8]);
  });
});

describe("what follows an answer", () => {
  const answered = (last: number) => {
    const { slot } = begun([1, 2, 3]);
    slot.commit(3);
    slot.endAnswer(last);
    slot.release();
    return slot;
  };

  it("is what a longer prompt has after it, and the last token if the cache lacks it", () => {
    expect(answered(-1).following([1, 2, 3, 8, 9])).toEqual([8, 9]);
    expect(answered(-1).following([1, 2, 3])).toBeNull();
    expect(answered(-1).following([1, 2, 4, 8])).toBeNull();
    expect(answered(-1).following([1, 2])).toBeNull();
    expect(answered(0).following([1, 2, 3, 0, 9])).toEqual([9]);
    expect(answered(7).following([1, 2, 3, 7])).toBeNull();
    expect(answered(7).following([1, 2, 3, 6, 9])).toBeNull();
    expect(begun([1]).slot.following([1, 2])).toBeNull();
    expect(new Slot(0, 0, pictures).following([1, 2])).toBeNull();
  });

  it("is computed ahead once, and only right after an answer", () => {
    const slot = answered(7);
    expect(slot.ahead([8, 9])).toEqual([7, 8, 9]);
    expect(slot.ahead([])).toEqual([]);
    expect(answered(0).ahead([8])).toEqual([0, 8]);
    expect(answered(-1).ahead([8])).toEqual([8]);
    slot.expects([7, 8, 9]);
    expect([slot.cached, slot.ahead([8, 9])]).toEqual([[1, 2, 3, 7, 8, 9], []]);
    expect(slot.following([1, 2, 3, 7, 8, 9, 10])).toEqual([8, 9, 10]);
    slot.restoredFrom = 3;
    slot.cutTo(0);
    expect([slot.restoredFrom, slot.promptTokens]).toEqual([-1, 0]);
    expect([slot.ahead([8]), slot.following([1, 2, 3, 7, 8])]).toEqual([[], null]);
    expect(new Slot(0, 0, pictures).ahead([8])).toEqual([]);
  });

  it("is nothing while the next job runs", () => {
    const slot = answered(-1);
    slot.begin(2, answerTo([1, 2, 3, 4]).answer, 2);
    expect([slot.ahead([8]), slot.following([1, 2, 3, 8])]).toEqual([[], null]);
  });
});

describe("cells that were removed from the middle", () => {
  it("leave only those before them exact, until the others are gone", () => {
    const { slot } = begun(count(20));
    slot.commit(20);
    expect(slot.isShifted).toBe(false);
    slot.shift(8, 3);
    slot.shift(10, 2);
    expect([slot.exact, slot.isShifted, slot.cached.length]).toEqual([8, true, 15]);
    slot.cutTo(9);
    expect(slot.isShifted).toBe(true);
    slot.cutTo(8);
    expect(slot.isShifted).toBe(false);
    slot.shift(3, 2);
    slot.cutTo(0);
    expect([slot.isShifted, slot.cached]).toEqual([false, []]);
  });

  it("take the checkpoints after them along", () => {
    const { slot } = begun(count(20));
    slot.commit(20);
    for (const tokens of [4, 8, 12]) slot.checkpoints.addCopy({ tokens, bytes: new Uint8Array(1) });
    slot.shift(8, 3);
    expect(slot.checkpoints.held.map(({ tokens }) => tokens)).toEqual([4, 8]);
    slot.cutTo(4);
    expect(slot.checkpoints.held.map(({ tokens }) => tokens)).toEqual([4]);
  });
});

it("a slot belongs to its kept state as long as all but the last token of that state's prompt is used", () => {
  const slotOf = (common: number) => {
    const slot = new Slot(0, 0, pictures);
    slot.holds(Int32Array.from(count(10)), 6);
    slot.restoredFrom = 3;
    slot.begin(1, answerTo([...count(common), 99, 98]).answer, 1);
    slot.resume(common);
    return slot.restoredFrom;
  };
  expect([4, 5, 6].map(slotOf)).toEqual([-1, 3, 3]);
});

describe("a step that is undone", () => {
  it("makes cells pending again, and tells the answer while they are of its prompt", () => {
    const { slot, told } = begun(count(10));
    slot.commit(6);
    slot.rollBack(2);
    expect([slot.cached, slot.pending]).toEqual([[0, 1], count(8, 2)]);
    expect(told).toMatchObject({ begun: [0], recomputed: [2] });
    slot.stopAt(7);
    expect(stepsOf(slot)).toEqual([5, 3]);
    slot.push(50);
    slot.rollBack(10);
    expect([slot.isGenerating, slot.pending]).toEqual([true, [50]]);
    slot.rollBack(8);
    expect([slot.isGenerating, slot.pending, slot.untilStop]).toEqual([false, [8, 9, 50], 3]);
    expect(told.recomputed).toEqual([2]);
    slot.commit(3);
    expect(slot.isGenerating).toBe(true);
  });

  it("leaves the checkpoints of what is left", () => {
    const { slot } = begun(count(10));
    slot.commit(6);
    for (const tokens of [2, 4]) slot.checkpoints.addCopy({ tokens, bytes: new Uint8Array(1) });
    slot.rollBack(3);
    expect(slot.checkpoints.held.map(({ tokens }) => tokens)).toEqual([2]);
  });
});

describe("a parked slot", () => {
  const generated = (changes: Partial<GenerateJob>) => {
    const { slot } = begun(count(4), changes);
    slot.commit(4);
    for (const token of [50, 0, 52]) {
      slot.push(token);
      slot.commit(1);
    }
    slot.push(53);
    slot.restoredFrom = 1;
    return slot;
  };
  const replay = (slot: Slot) => {
    const all = [];
    for (let next = slot.replayed(); next >= 0; next = slot.replayed()) all.push(next);
    return all;
  };

  it("computes everything again at once", () => {
    const slot = generated({});
    slot.park();
    expect(slot).toMatchObject({ cached: [], pending: [...count(4), 50, 0, 52, 53], restoredFrom: -1 });
    expect([slot.isGenerating, replay(slot)]).toEqual([false, []]);
  });

  it("computes a deterministic answer again token by token, also if it is parked twice", () => {
    const slot = generated({ deterministic: true });
    slot.park();
    expect([slot.pending, slot.isGenerating]).toEqual([count(4), false]);
    slot.commit(4);
    expect(slot.replayed()).toBe(50);
    slot.push(50);
    slot.commit(1);
    expect(slot.replayed()).toBe(0);
    slot.push(0);
    slot.park();
    expect(slot.pending).toEqual(count(4));
    slot.commit(4);
    expect(replay(slot)).toEqual([50, 0, 52, 53]);
  });

  it("replays what is left if it is parked before its prompt is computed again", () => {
    const slot = generated({ deterministic: true });
    slot.park();
    slot.commit(2);
    slot.park();
    expect(slot.pending).toEqual(count(4));
    expect(replay(slot)).toEqual([50, 0, 52, 53]);
  });

  it("computes a shifted answer again at once, even a deterministic one", () => {
    const slot = generated({ deterministic: true });
    slot.shift(2, 1);
    slot.park();
    expect([slot.pending, slot.isShifted, replay(slot)]).toEqual([[0, 1, 3, 50, 0, 52, 53], false, []]);
  });

  it("takes the beginning of its cells back", () => {
    const slot = generated({});
    slot.park();
    const all = slot.pending;
    slot.holds(Int32Array.from(all.slice(0, 6)), 4);
    slot.takeBack(all, 5);
    expect([slot.cached, slot.pending]).toEqual([all.slice(0, 5), all.slice(5)]);
  });
});

it("a new job finds nothing of the last one but its cells", () => {
  const { slot, told } = begun(count(4));
  slot.commit(4);
  Object.assign(slot, { isPaused: true, isCancelled: true, isParked: true, isHeld: true });
  slot.release();
  expect(slot).toMatchObject({ isFree: true, id: -1, pending: [], isParked: false });
  expect(told.freed).toBe(1);
  expect(() => slot.answer).toThrow("slot 0 has no job");
  const next = begun([0, 1, 9], {}, slot);
  expect(next.slot).toMatchObject({
    ...{ id: 1, isFree: false, isFresh: true, isGenerating: false },
    ...{ isPaused: false, isCancelled: false, isParked: false, isHeld: false },
  });
});

it("who is alone, and who needs the whole cache", () => {
  const of = (changes: Partial<GenerateJob>, room: Room | null) => {
    const { slot } = begun([1], changes, new Slot(0, 0, pictures, room));
    return [slot.isAlone, slot.needsAll];
  };
  const lora = [] as unknown as NonNullable<GenerateJob["lora"]>;
  expect(of({}, new Room(9, 1))).toEqual([false, false]);
  expect(of({ lora }, new Room(9, 1))).toEqual([true, false]);
  expect(of({ deterministic: true }, null)).toEqual([true, false]);
  expect(of({ deterministic: true }, new Room(9, 1))).toEqual([true, true]);
  expect(new Slot(0, 0, pictures, new Room(9, 1)).needsAll).toBe(false);
});

it("a cache that slots share has room for what none of them holds, whatever happens to them", () => {
  const room = new Room(100, 2);
  const [slot, other] = [0, 1].map((index) => new Slot(index, 0, pictures, room)) as [Slot, Slot];
  const free = () => 100 - room.free;
  begun(count(20), {}, slot);
  slot.commit(20);
  expect(free()).toBe(20);
  other.copies(slot, 12);
  expect([other.cached, free()]).toEqual([count(12), 20]);
  slot.cutTo(10);
  expect(free()).toBe(12);
  slot.expects([7, 7]);
  expect(free()).toBe(14);
  other.copies(slot, 4);
  expect([other.cached, free()]).toEqual([count(4), 12]);
  other.empty();
  slot.shift(3, 4);
  expect([slot.cached, free()]).toEqual([[0, 1, 2, 7, 8, 9, 7, 7], 8]);
  slot.rollBack(5);
  expect(free()).toBe(5);
  slot.holds(Int32Array.from(count(30)), 30);
  expect([slot.cached, free()]).toEqual([count(30), 30]);
  slot.holds(Int32Array.from(count(3)), 3);
  expect([slot.cached, free()]).toEqual([count(3), 3]);
});
