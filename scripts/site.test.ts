import fc from "fast-check";
import { expect, test } from "vitest";
import { find } from "../site/.vitepress/theme/find.ts";

const root = new URL("../", import.meta.url).href;
const { commentsAbove } = (await import(`${root}site/scripts/pages.mjs`)) as {
  commentsAbove(markdown: string): string;
};

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

test("comments behind commands stand above them where a line would be too wide, and only there", () => {
  const block = (...lines: string[]) => ["```sh", ...lines, "```", ""].join("\n");
  const narrow = block("npm start   # both products");
  expect(commentsAbove(narrow)).toBe(narrow);
  const comment = "a comment that goes on until it is behind the edge of every page that shows it";
  expect(commentsAbove(block(`locallm serve --all  # ${comment}`, "locallm ps # 短", "curl 'a # b'"))).toBe(
    block(`# ${comment}`, "locallm serve --all", "# 短", "locallm ps", "curl 'a # b'"),
  );
  const chinese = block(`locallm launch  # ${"列出各程序和安装方法".repeat(4)}`);
  expect(commentsAbove(chinese)).not.toBe(chinese);
  const written = block("cat > file <<EOF", `key = 1   # ${comment}`, "EOF");
  expect(commentsAbove(written)).toBe(written);
});
