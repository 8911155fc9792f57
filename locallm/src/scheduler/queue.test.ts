import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Queue, type Waiting } from "./queue.ts";

let tickets = 0;
const from = (key: string | null, line = "a"): Waiting => ({ key, line, ticket: tickets++ });

/** Serves a line to its end and returns the keys in order. */
function served(queue: Queue<Waiting>, line = "a"): (string | null)[] {
  const keys: (string | null)[] = [];
  for (let head = queue.head(line); head !== undefined; head = queue.head(line)) {
    queue.serve(head);
    keys.push(head.key);
  }
  return keys;
}

describe("Queue", () => {
  it("serves requests without a key in order of arrival", () => {
    const queue = new Queue(10);
    const all = [from(null), from(null), from(null)];
    for (const each of all) queue.push(each);
    expect([...queue.inTurn("a")]).toEqual(all);
    expect(served(queue)).toEqual([null, null, null]);
    expect(queue.length).toBe(0);
  });

  it("serves another key's first request second, although a key has 500 waiting", () => {
    const queue = new Queue(512);
    for (let count = 0; count < 500; count++) queue.push(from("busy"));
    queue.push(from("other"));
    queue.push(from("third"));
    queue.push(from("other"));
    expect(served(queue).slice(0, 5)).toEqual(["busy", "other", "third", "busy", "other"]);
  });

  it("does not use up a key's turn when its request is cancelled", () => {
    const queue = new Queue(10);
    const first = from("one");
    for (const each of [first, from("one"), from("two")]) queue.push(each);
    expect(queue.remove(first)).toBe(true);
    expect(queue.remove(first)).toBe(false);
    expect(served(queue)).toEqual(["one", "two"]);
  });

  it("refuses the newest request of the key with the most requests in all lines, never one of a key with fewer", () => {
    const queue = new Queue(3);
    const greedy = [from("greedy", "b"), from("greedy", "a"), from("greedy", "b")];
    for (const each of greedy) expect(queue.push(each)).toBeNull();
    const more = from("greedy", "b");
    expect(queue.push(more)).toBe(more);
    expect(queue.push(from("other", "a"))).toBe(greedy[2]);
    const third = from("third", "a");
    expect(queue.push(third)).toBe(greedy[1]);
    const fourth = from("fourth", "a");
    expect(queue.push(fourth)).toBe(fourth);
    expect(queue.length).toBe(3);
  });

  it("refuses the request that came last if two keys have the most", () => {
    const queue = new Queue(3);
    for (const key of ["one", "two", "two"]) queue.push(from(key));
    const last = from("one");
    expect(queue.push(last)).toBe(last);
  });

  it("lists the heads of its lines by their arrival, whichever line is older", () => {
    const queue = new Queue(10);
    const [first, other, next] = [from(null, "a"), from(null, "b"), from(null, "a")];
    for (const each of [first, other, next]) queue.push(each);
    expect(queue.heads()).toEqual([first, other]);
    queue.serve(first);
    expect(queue.heads()).toEqual([other, next]);
  });

  it("keeps its length, each key's order and every key's turn in any order of events", () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant("push" as const),
        key: fc.constantFrom("one", "two", null),
        line: fc.constantFrom("a", "b"),
      }),
      fc.record({
        kind: fc.constantFrom("serve" as const, "take" as const),
        line: fc.constantFrom("a", "b"),
      }),
      fc.record({ kind: fc.constant("remove" as const), index: fc.nat(20) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = new Queue<Waiting>(8);
        const waiting = new Set<Waiting>();
        for (const each of steps) {
          if (each.kind === "push") {
            const request = from(each.key, each.line);
            waiting.add(request);
            const refused = queue.push(request);
            if (refused !== null) waiting.delete(refused);
          } else if (each.kind === "remove") {
            const request = [...waiting][each.index % Math.max(1, waiting.size)];
            if (request !== undefined) expect(queue.remove(request)).toBe(waiting.delete(request));
          } else if (each.kind === "take")
            for (const request of queue.take(each.line)) waiting.delete(request);
          else {
            const head = queue.head(each.line);
            const others = [...queue.inTurn(each.line)].filter((other) => other.key !== head?.key);
            if (head === undefined) continue;
            const ofKey = [...waiting].filter(({ key, line }) => key === head.key && line === head.line);
            expect(head.ticket).toBe(Math.min(...ofKey.map(({ ticket }) => ticket)));
            queue.serve(head);
            waiting.delete(head);
            expect(queue.head(each.line)?.key === head.key).toBe(
              others.length === 0 && queue.head(each.line) !== undefined,
            );
          }
          expect(queue.length).toBe(waiting.size);
          const listed = queue.lines().flatMap((line) => [...queue.inTurn(line)]);
          expect(new Set(listed)).toEqual(waiting);
          expect(queue.length).toBeLessThanOrEqual(8);
        }
      }),
      { seed: 17, numRuns: 200 },
    );
  });
});
