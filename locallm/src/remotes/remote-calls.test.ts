import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CallPart, RemoteCalls } from "./remote-calls.ts";

function read(parts: readonly CallPart[]) {
  let ids = 0;
  const calls = new RemoteCalls(() => `made_${ids++}`);
  return [...parts.flatMap((part) => calls.push(part)), ...calls.end()];
}

const call = fc.record({
  name: fc.constantFrom("f", "g"),
  text: fc.json().map((json) => JSON.stringify({ a: JSON.parse(json) as unknown })),
  cuts: fc.array(fc.nat(40), { maxLength: 4 }),
});

describe("RemoteCalls", () => {
  it("puts mixed parts of calls in order, whatever the order in which they arrive", () => {
    fc.assert(
      fc.property(fc.array(call, { maxLength: 5 }), fc.infiniteStream(fc.nat()), (calls, random) => {
        const waiting = calls.map(({ name, text, cuts }, index) => {
          const at = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
          const texts = at.slice(1).map((end, part) => text.slice(at[part], end));
          return texts.map((part, number): CallPart => {
            const begin = number === 0 ? { id: `id_${index}`, name } : {};
            return { index, ...begin, text: part };
          });
        });
        const parts: CallPart[] = [];
        // Any order, except that calls begin in their own order.
        let begun = 0;
        while (waiting.some((rest) => rest.length > 0)) {
          const open = waiting.flatMap((rest, index) => (rest.length > 0 && index <= begun ? [index] : []));
          const index = open[random.next().value % open.length] ?? begun;
          if (index === begun) begun++;
          const next = waiting[index]?.shift();
          if (next !== undefined) parts.push(next);
        }
        const pieces = read(parts);
        const ended = pieces.flatMap((piece) => (piece.kind === "called" ? [piece.call] : []));
        expect(ended.map(({ name, text }) => ({ name, text }))).toEqual(
          calls.map(({ name, text }) => ({ name, text })),
        );
        const order = pieces.map((piece) => ("index" in piece ? piece.index : -1));
        expect(order).toEqual([...order].sort((a, b) => a - b));
      }),
    );
  });

  it("rejects too many calls and too long arguments", () => {
    const many = Array.from({ length: 300 }, (_, index) => ({ index, name: "f", text: "" }));
    expect(() => read(many)).toThrow(/more than 256 tool calls/);
    const long = Array.from({ length: 100 }, () => ({ index: 0, name: "f", text: "x".repeat(100_000) }));
    expect(() => read(long)).toThrow(/longer than/);
  });

  it("gives each call a unique id", () => {
    const part = { index: 0, id: "same", name: "f", text: "{}" };
    const pieces = read([part, { ...part, index: 1 }, { ...part, index: 2, id: "" }]);
    const ids = pieces.flatMap((piece) => (piece.kind === "call" ? [piece.id] : []));
    expect(ids).toEqual(["same", "made_0", "made_1"]);
  });
});
