import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const twins = globSync(["*.zh.md", "docs/**/*.zh.md"], { cwd: root }).map((path) =>
  path.replace(/\.zh\.md$/, ""),
);

const fence = /^ *```.*?^ *```$/gms;
const codeOf = (text: string) => text.match(fence) ?? [];
/** Code without its words: a comment or a text that a program prints is in the reader's language. */
const bare = (line: string) =>
  line.replaceAll(/(?:#|\/\/) .*$|"[^"]*"|`[^`]*`/g, "").replaceAll(/[\s,]/g, "");
const plainCode = (text: string, other: string) => {
  const lines = codeOf(text).join("\n").split("\n");
  const others = codeOf(other).join("\n").split("\n");
  return lines.map((line, index) => (line === others[index] ? line : bare(line)));
};
const levelsOf = (text: string) =>
  [...text.replaceAll(fence, "").matchAll(/^(#+) /gm)].map(([, marks]) => marks!.length);
/** Numbers above ten, which both languages write in digits: a date is three numbers. */
const figuresOf = (text: string) => {
  const numbers = text
    .replaceAll(fence, "")
    .replaceAll(/<!--.*?-->/gs, "")
    .match(/(?<![\w.])\d[\d,]*(?:\.\d+)?/g);
  return new Set((numbers ?? []).map((each) => each.replaceAll(",", "")).filter((each) => Number(each) > 10));
};

it("the README is short in both languages", () => {
  for (const page of ["README.md", "README.zh.md"]) expect(read(page).split("\n").length).toBeLessThan(120);
});

describe("a page says the same in both languages", () => {
  it("most pages for customers of dataq have a twin", () => expect(twins.length).toBeGreaterThan(11));

  it.each(twins)("%s", (name) => {
    const [english, chinese] = [read(`${name}.md`), read(`${name}.zh.md`)];
    expect(levelsOf(chinese)).toEqual(levelsOf(english));
    expect(plainCode(chinese, english)).toEqual(plainCode(english, chinese));
    // The contract's own texts explain a parameter with different examples.
    if (name === "docs/dataq/operations") return;
    const [here, there] = [figuresOf(chinese), figuresOf(english)];
    expect({ missing: [...there.difference(here)], added: [...here.difference(there)] }).toEqual({
      missing: [],
      added: [],
    });
  });

  it("a figure, a heading or a word of code that differs is seen", () => {
    expect(figuresOf("costs 5,000 tokens")).not.toEqual(figuresOf("收 50,000 点"));
    expect(figuresOf("since 2026-03-01")).not.toEqual(figuresOf("自 2026-04-11 起"));
    expect(levelsOf("# A\n\n### B")).not.toEqual(levelsOf("# 甲\n\n## 乙"));
  });
});
