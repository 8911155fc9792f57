import fc from "fast-check";
import { expect, test } from "vitest";
import { highlight, markable } from "./highlight.ts";

const words = ["甲乙", "丙", "丁戊己"];
const text = fc
  .array(fc.oneof({ weight: 12, arbitrary: fc.constant("。") }, fc.constantFrom(...words, "乙", "x")), {
    maxLength: 300,
  })
  .map((parts) => parts.join(""));

/** How many of the words occur in the part. */
const differentIn = (part: string) => words.filter((word) => part.includes(word)).length;

test("no other part of the text has more of the words, and each one shown is marked", () => {
  const width = 60;
  const margin = 20;
  fc.assert(
    fc.property(text, (whole) => {
      const shown = highlight(markable(whole), words, { width });
      if (shown === null) {
        expect(differentIn(whole)).toBe(0);
        return;
      }
      const starts = Array.from(whole, (_, at) => at);
      const most = Math.max(...starts.map((at) => differentIn(whole.slice(at, at + width - margin))));
      const marked = new Set(
        shown.match(/(?<=<em>)[^<]+/g)?.flatMap((run) => words.filter((word) => run.includes(word))),
      );
      expect(marked.size).toBeGreaterThanOrEqual(most);
      expect(whole).toContain(shown.replace(/<\/?em>|…/g, ""));
    }),
    { seed: 12, numRuns: 300 },
  );
});

test("the order of the words does not change the part that is shown, however often each occurs", () => {
  const text = `${"丙。".repeat(600)}${"甲。".repeat(600)}${"。".repeat(80)}甲乙${"。".repeat(80)}丁甲`;
  const orders = [
    ["丙", "甲", "乙", "丁"],
    ["甲", "乙", "丁", "丙"],
    ["丁", "乙", "甲", "丙"],
  ];
  const shown = new Set(orders.map((words) => highlight(markable(text), words, { width: 60 })));
  expect(shown.size).toBe(1);
});

test("escapes the text, matches letters of either case, and omits a word longer than the part", () => {
  expect(highlight(markable("a <b> ABC & c"), ["abc"])).toBe("a &lt;b&gt; <em>ABC</em> &amp; c");
  expect(highlight(markable(`${"长".repeat(200)}短`), ["长".repeat(200), "短"], { width: 60 })).toContain(
    "<em>短</em>",
  );
});
