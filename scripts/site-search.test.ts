import fc from "fast-check";
import { expect, test } from "vitest";
import { find } from "../site/.vitepress/theme/find.ts";

const shown = (text: string, question: string) => {
  const [hit] = find([{ address: "a", page: "Page", heading: "", text }], question);
  return hit!.passage.join("");
};

test("a passage of the search begins and ends with whole words", () => {
  const word = fc.stringMatching(/^[a-z]{1,14}$/);
  fc.assert(
    fc.property(fc.array(word, { maxLength: 30 }), fc.array(word, { maxLength: 60 }), (before, after) => {
      const words = [...before, "zzrefundzz", ...after];
      const passage = shown(words.join(" "), "zzrefundzz").replaceAll(/^…|…$/g, "");
      expect(passage).toContain("zzrefundzz");
      expect(words.join(" ")).toContain(passage);
      expect(words).toEqual(expect.arrayContaining(passage.split(" ")));
    }),
  );
});

test("a passage of Chinese, or of a word without an end, is cut where it is long enough", () => {
  const chinese = "退款原路退回，".repeat(60);
  expect(shown(chinese, "原路").length).toBeLessThan(150);
  expect(shown(`key ${"x".repeat(500)}`, "key").length).toBeLessThan(150);
});
