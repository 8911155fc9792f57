import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { SlotEvent } from "../engine/slots.ts";
import { LocallmError } from "../wire/errors.ts";
import type { GenerateDone } from "../wire/inference/generate.ts";
import { Gathering } from "./gathering.ts";

const text = (id: number, words: string): SlotEvent => ({
  id,
  text: words,
  tokens: 1,
  done: null,
  error: null,
});
const end = (id: number): SlotEvent => ({ ...text(id, ""), done: { kind: "done" } as GenerateDone });
const failure = (id: number): SlotEvent => ({
  ...text(id, ""),
  error: new LocallmError("decode_failed", { reason: "no room" }),
});

describe("Gathering", () => {
  let messages: string[][];
  let gathering: Gathering;

  beforeEach(() => {
    vi.useFakeTimers();
    messages = [];
    gathering = new Gathering(
      (events) =>
        messages.push(
          events.map(({ id, text, done, error }) => `${id}:${done ? "end" : (error?.code ?? text)}`),
        ),
      () => Date.now(),
    );
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([5, 8, 25, 700])("sends every text at once if a step takes %i ms", (ms) => {
    for (const words of ["a", "b", "c", "d"]) {
      gathering.add([text(1, words), text(2, words)]);
      expect(messages.at(-1)).toEqual([`1:${words}`, `2:${words}`]);
      expect(vi.getTimerCount()).toBe(0);
      vi.advanceTimersByTime(ms);
    }
    expect(messages).toHaveLength(4);
  });

  it("sends the text of short steps together", () => {
    for (const words of ["a", "b", "c", "d", "e", "f", "g", "h"]) {
      gathering.add([text(1, words)]);
      vi.advanceTimersByTime(1);
    }
    expect(messages).toEqual([["1:a"], ["1:b", "1:c", "1:d", "1:e"]]);
    vi.advanceTimersByTime(2);
    expect(messages.at(-1)).toEqual(["1:f", "1:g", "1:h"]);
  });

  it("sends text that is awaited at once, with what waits before it", () => {
    for (const words of ["a", "b"]) gathering.add([text(1, words)]);
    expect(messages).toEqual([["1:a"]]);
    gathering.add([text(2, "A"), text(1, "c")], true);
    expect(messages.slice(1)).toEqual([["1:b", "2:A", "1:c"]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("sends every text at once again after short steps", () => {
    for (const words of ["a", "b", "c"]) {
      gathering.add([text(1, words)]);
      vi.advanceTimersByTime(words === "c" ? 9 : 1);
    }
    gathering.add([text(1, "d")]);
    expect(messages).toEqual([["1:a"], ["1:b", "1:c"], ["1:d"]]);
  });

  it("sends held text along with another answer's first text, an end and an error", () => {
    gathering.add([text(1, "a")]);
    gathering.add([text(1, "b")]);
    gathering.add([text(2, "A")]);
    gathering.add([text(1, "c"), text(2, "B")]);
    gathering.add([end(1)]);
    gathering.add([text(2, "C")]);
    gathering.add([failure(2)]);
    expect(messages).toEqual([["1:a"], ["1:b", "2:A"], ["1:c", "2:B", "1:end"], ["2:C", "2:decode_failed"]]);
  });

  it("sends held text even if no further step comes", () => {
    gathering.add([text(1, "a")]);
    gathering.add([text(1, "b")]);
    vi.advanceTimersByTime(4);
    expect(messages).toEqual([["1:a"]]);
    vi.advanceTimersByTime(1);
    expect(messages).toEqual([["1:a"], ["1:b"]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("loses nothing, keeps the order, and delays no text longer than the interval", () => {
    const step = fc.record({
      words: fc.array(fc.constantFrom(1, 2, 3), { maxLength: 3 }),
      ms: fc.integer({ min: 0, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const sent: string[] = [];
        const waits: number[] = [];
        const addedMs = new Map<string, number>();
        const gathering = new Gathering(
          (events) => {
            for (const event of events) {
              sent.push(event.text);
              waits.push(Date.now() - addedMs.get(event.text)!);
            }
          },
          () => Date.now(),
        );
        let count = 0;
        const added: string[] = [];
        for (const { words, ms } of steps) {
          const events = words.map((id) => text(id, `${id}/${count++}`));
          for (const event of events) addedMs.set(event.text, Date.now());
          added.push(...events.map((event) => event.text));
          if (events.length > 0) gathering.add(events);
          vi.advanceTimersByTime(ms);
        }
        vi.advanceTimersByTime(5);
        expect(sent).toEqual(added);
        expect(Math.max(0, ...waits)).toBeLessThanOrEqual(5);
      }),
      { seed: 5, numRuns: 200 },
    );
  });
});
