import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AnswerText } from "./text.ts";

function run(bytes: Uint8Array, cuts: readonly number[], stops: readonly string[]) {
  const answer = new AnswerText(stops);
  const chunks: string[] = [];
  let from = 0;
  for (const to of [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    chunks.push(answer.push(bytes.subarray(from, to)));
    from = to;
  }
  chunks.push(answer.end());
  return { text: chunks.join(""), stop: answer.stop, chunks };
}

const encode = (text: string) => new TextEncoder().encode(text);
// Few letters, so that stop strings occur, and code points of one to four bytes.
const letters = fc.constantFrom("a", "b", "c", "é", "中", "🙂", "\n");
const texts = fc.array(letters, { maxLength: 24 }).map((parts) => parts.join(""));
const stopLists = fc.array(
  fc.array(letters, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("")),
  { maxLength: 3 },
);
const cutLists = fc.array(fc.nat(100), { maxLength: 12 });
const seeded = { seed: 20261121, numRuns: 500 };

describe("AnswerText", () => {
  it("gives the same text and the same stop for any split of the bytes", () => {
    fc.assert(
      fc.property(texts, stopLists, cutLists, (text, stops, cuts) => {
        const bytes = encode(text);
        const whole = run(bytes, [], stops);
        const split = run(bytes, cuts, stops);
        expect([split.text, split.stop]).toEqual([whole.text, whole.stop]);
      }),
      seeded,
    );
  });

  it("sends exactly the text before the first completed stop string", () => {
    fc.assert(
      fc.property(texts, stopLists, cutLists, (text, stops, cuts) => {
        const result = run(encode(text), cuts, stops);
        // The naive rule: read character by character until the text ends with a stop string.
        let read = "";
        let fired: string | null = null;
        for (const letter of text) {
          read += letter;
          fired = stops.filter((stop) => read.endsWith(stop)).sort((a, b) => b.length - a.length)[0] ?? null;
          if (fired !== null) break;
        }
        expect(result.stop).toBe(fired);
        expect(result.text).toBe(fired === null ? text : read.slice(0, read.length - fired.length));
        expect(stops.filter((stop) => result.text.includes(stop))).toEqual([]);
      }),
      seeded,
    );
  });

  it("stops at the stop string that ends first, or at the longer one if two end together", () => {
    expect(run(encode("xabcd"), [], ["abcd", "bc"])).toMatchObject({ text: "xa", stop: "bc" });
    expect(run(encode("xabcd"), [], ["bc", "abc"])).toMatchObject({ text: "x", stop: "abc" });
  });

  it("never splits a code point", () => {
    fc.assert(
      fc.property(texts, cutLists, (text, cuts) => {
        const { chunks } = run(encode(text), cuts, []);
        expect(chunks.filter((chunk) => !chunk.isWellFormed())).toEqual([]);
        expect(chunks.join("")).not.toContain("\uFFFD");
      }),
      seeded,
    );
  });

  it("does not find a stop string of half a code point", () => {
    expect(run(encode("a🙂b🙃"), [], ["\ude42", "b\ud83d"])).toMatchObject({ text: "a🙂b🙃", stop: null });
  });

  it("replaces bytes that are not UTF-8 and continues", () => {
    expect(run(new Uint8Array([0x61, 0xff, 0x62]), [1, 2], []).text).toBe("a\uFFFDb");
  });

  it("drops a code point that is never completed", () => {
    expect(run(encode("a中").subarray(0, 3), [], []).text).toBe("a");
  });

  it("keeps a byte order mark", () => {
    expect(run(encode("\uFEFFa"), [], []).text).toBe("\uFEFFa");
  });

  it("holds back a possible stop string, and sends it if it is not one", () => {
    const answer = new AnswerText(["<|end|>"]);
    expect(answer.push(encode("one <|en"))).toBe("one ");
    expect(answer.push(encode("try"))).toBe("<|entry");
    expect(answer.push(encode("<|end|> more"))).toBe("");
    expect(answer.stop).toBe("<|end|>");
    expect(answer.push(encode("more"))).toBe("");
    expect(answer.end()).toBe("");
  });
});
