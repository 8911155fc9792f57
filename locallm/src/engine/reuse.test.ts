import fc from "fast-check";
import { expect, it } from "vitest";
import { defaultSampling, type GenerateJob } from "../wire/inference/generate.ts";
import type { Picture } from "../wire/inference/picture.ts";
import type { Answer } from "./answer.ts";
import { Pictures, positionInPicture } from "./pictures.ts";
import { Reuse, type SequenceMemory } from "./reuse.ts";
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

  saveCheckpoint(index: number, into: Uint8Array): boolean {
    new DataView(into.buffer, into.byteOffset).setUint32(
      0,
      this.#saved.push(this.sequences[index]!.seen) - 1,
    );
    return true;
  }

  goBack(index: number, bytes: Uint8Array): boolean {
    const seen = this.#saved[new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)]!;
    this.sequences[index] = { ...this.sequences[index]!, seen };
    return true;
  }

  canCutOut = () => !this.kind.hasState;

  cutOut(index: number, from: number, to: number): void {
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

/** The parts of an answer that a slot asks for. */
function answerTo(prompt: readonly number[]): Answer {
  const job = { sampling: defaultSampling, deterministic: false } as GenerateJob;
  const nothing = () => {};
  const answer = { prompt, job, hasPictures: true, begin: nothing, recompute: nothing, free: nothing };
  return answer as unknown as Answer;
}
