import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { describe, expect, it, test } from "vitest";
import { knownLaws } from "../citation-check/known-laws.ts";
import { lawKey, readArticleNumber } from "../question/law-reference.ts";
import { LawNames } from "../question/named-laws.ts";
import { listedNames, listedTitle, unheldSources } from "./unheld-sources.ts";

const packs = process.env["TEST_DATA"];
const hasPacks = packs !== undefined && existsSync(join(packs, "law_articles.jsonl.zst"));

/** The rows of the file, read again as text. */
const rows = readFileSync(new URL("sources.tsv", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [title = "", shortNames = "", words = "", held = ""] = line.split("\t");
    const list = (cell: string) => cell.split(" ").filter((each) => each !== "");
    return { title, shortNames: list(shortNames), words: list(words), held: list(held) };
  });
const titles = new Set(rows.map(({ title }) => title));

const nothingHeld = () => false;
const namesIn = (question: string, isHeld: (key: string) => boolean = nothingHeld) =>
  unheldSources(question, isHeld).map(({ title }) => title);
const isFree = (question: string, isHeld: (key: string) => boolean = nothingHeld) =>
  unheldSources(question, isHeld)[0]?.isPartlyHeld === false;

describe("the table of sources", () => {
  it("has 400 sources with everyday words, and each is named by one title", () => {
    const withWords = new Set(rows.flatMap(({ title, words }) => (words.length > 0 ? [title] : [])));
    expect(withWords.size).toBeGreaterThanOrEqual(400);
    const keys = new Set([...titles].map(lawKey));
    expect(keys.size).toBe(titles.size);
    for (const title of titles) expect(title).not.toMatch(/^中华人民共和国|[《》（）\s]/u);
    // Whoever issues regulations, interpretations and rules calls them so.
    const kind = /(?:条例|规定|办法|规则|解释|细则|意见|通则|通知|标准|安排)(?:\((?:[一二三四五]|试行)\))?$/u;
    expect([...titles].filter((title) => !kind.test(title))).toEqual([]);
    // An interpretation names its court.
    const withoutCourt = [...titles].filter((title) => /解释/.test(title) && !title.startsWith("最高人民"));
    expect(withoutCourt).toEqual([]);
  });

  it("has no everyday words for what ended", () => {
    const ended = rows.filter(({ title }) => knownLaws.get(lawKey(title))?.repealed !== undefined);
    expect(ended.length).toBeGreaterThan(4);
    expect(ended.filter(({ words }) => words.length > 0)).toEqual([]);
  });

  it("names no two sources by one short name, and says nothing twice in a row", () => {
    const owners = new Map<string, string>();
    for (const { title, shortNames } of rows)
      for (const name of shortNames) {
        expect([name, owners.get(lawKey(name)) ?? title]).toEqual([name, title]);
        owners.set(lawKey(name), title);
        expect(listedTitle(name)).toBe(title);
      }
    for (const { title, words, held } of rows) {
      expect([title, new Set(words).size]).toEqual([title, words.length]);
      expect([title, new Set(held).size]).toEqual([title, held.length]);
    }
  });

  it("finds every row by each of its own words", () => {
    const missed: string[] = [];
    for (const { title, words } of rows)
      for (const word of words) {
        for (const part of word.split("+")) expect(() => new RegExp(part, "i"), word).not.toThrow();
        const example = word.split("+").map(exampleOf).join("，");
        if (!namesIn(example).includes(title)) missed.push(`${title}: ${example}`);
      }
    expect(missed).toEqual([]);
  });

  it("finds every source by its title", () => {
    const names = new LawNames(new Set(), listedNames);
    const missed = [...titles].filter((title) => {
      const { notHeld = "" } = names.find(`${title} 第一条`);
      return listedTitle(notHeld) !== title;
    });
    expect(missed).toEqual([]);
  });
});

/** A text that a part of a word matches: the first of each choice, without what must not stand around it. */
function exampleOf(part: string): string {
  let text = part;
  for (let before = ""; before !== text; ) {
    before = text;
    text = text
      .replace(/\(\?<?!(?:[^()]|\([^()]*\))*\)/g, "")
      .replace(/\(\?:([^()|]*)(?:\|[^()]*)?\)/g, "$1");
  }
  return text.replace(/^\^|\.\*|\\/g, "");
}

test.each([
  // What people want to know of 彩礼 is whether and how it is given back. 民法典:1042 forbids to demand property through
  // marriage and says nothing of giving back: who asks that, or types only the word, gains nothing from it.
  ["彩礼", true],
  ["聘礼", true],
  ["彩禮", true],
  ["离婚彩礼怎么退", true],
  ["领证三个月 彩礼能要回来吗", true],
  // These ask what it says.
  ["要彩礼违法吗", false],
  ["天价彩礼", false],
  ["法律禁止彩礼吗", false],
  // The same shape: 民法典:1062 does not name 公积金, and only a divorce leads to it.
  ["公积金", true],
  ["公司不给交公积金", true],
  ["离婚公积金怎么分", false],
  // 劳动法:45 gives the right to a holiday after a year, and neither its days nor its pay.
  ["年休假", true],
  ["年假一年几天", true],
  ["工作满一年必须给年休假吗", false],
  // 民法典:670 and 社会保险法:18 answer these, though a rule says more.
  ["砍头息", false],
  ["低保", false],
])("%s costs nothing: %s", (question, free) => {
  expect(namesIn(question)).not.toEqual([]);
  expect(isFree(question)).toBe(free);
});

test("a source whose text is held is not named", () => {
  expect(namesIn("上班路上被车撞算工伤吗")).toContain("工伤保险条例");
  expect(namesIn("上班路上被车撞算工伤吗", (key) => key === "工伤保险条例")).not.toContain("工伤保险条例");
});

const answered = readFileSync(new URL("../../../../test/answered-questions.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));

describe.skipIf(!hasPacks)("the table beside the laws of a first start (needs TEST_DATA)", () => {
  const articles = hasPacks
    ? zstdDecompressSync(readFileSync(join(packs as string, "law_articles.jsonl.zst")))
        .toString()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { law_name: string; article_no: string; article_text: string })
    : [];
  const held = new Set(articles.map(({ law_name }) => lawKey(law_name)));
  const isHeld = (key: string) => held.has(key);

  it("names no source that is held, in the catalogue or in the texts of other packs of laws", () => {
    const known = new Set(held);
    for (const [pack, field] of [
      ["law_catalog", "law_name"],
      ["laws_current_md", "title"],
    ] as const) {
      const lines = zstdDecompressSync(readFileSync(join(packs as string, `${pack}.jsonl.zst`))).toString();
      for (const line of lines.trim().split("\n"))
        known.add(lawKey((JSON.parse(line) as Record<string, string>)[field] ?? ""));
    }
    expect(known.size).toBeGreaterThan(370);
    expect([...titles].filter((title) => known.has(lawKey(title)))).toEqual([]);
  });

  it("writes most titles as the pack of regulations and interpretations does, to the letter", () => {
    const lines = zstdDecompressSync(
      readFileSync(join(packs as string, "law_versions_md.jsonl.zst")),
    ).toString();
    const written = new Set(
      lines
        .trim()
        .split("\n")
        .map((line) => lawKey((JSON.parse(line) as { title: string }).title)),
    );
    expect([...titles].filter((title) => written.has(lawKey(title))).length).toBeGreaterThan(400);
  });

  it("has no everyday words for what a held law repealed", () => {
    const repealed = new Set(
      articles.flatMap(({ article_text: text }) => {
        const [, names = ""] = /施行。(《.+》)同时废止/.exec(text) ?? [];
        return [...names.matchAll(/《([^《》]+)》/g)].map(([, name = ""]) => lawKey(name));
      }),
    );
    expect(repealed).toContain("进出口关税条例");
    expect(rows.filter(({ title, words }) => words.length > 0 && repealed.has(lawKey(title)))).toEqual([]);
  });

  it("names only held laws and existing articles as those that answer a part", () => {
    const places = new Set(
      articles.flatMap(({ law_name, article_no }) => {
        const article = readArticleNumber(article_no);
        return article === undefined ? [] : [`${lawKey(law_name)}:${article.number}:${article.sub ?? ""}`];
      }),
    );
    const wrong = rows.flatMap(({ title, held: named }) =>
      named
        .filter((each) => {
          const [law = "", written] = each.split(":");
          if (written === undefined) return !held.has(law);
          const article = readArticleNumber(
            `第${written.replace("之", "条之")}${/之/.test(written) ? "" : "条"}`,
          );
          return !places.has(`${law}:${article?.number}:${article?.sub ?? ""}`);
        })
        .map((each) => `${title} ${each}`),
    );
    expect(wrong).toEqual([]);
  });

  it("leaves ordinary questions to the held laws that answer them", () => {
    expect(answered.length).toBeGreaterThanOrEqual(60);
    expect(answered.filter((question) => isFree(question, isHeld))).toEqual([]);
    const names = new LawNames(held, listedNames);
    expect(answered.flatMap((question) => names.find(question).notHeld ?? [])).toEqual([]);
  });

  it("leaves the judged questions to the articles that answer them", () => {
    const ofHalf = (half: string) =>
      readFileSync(new URL(`../../../../proof/judged/${half}.jsonl`, import.meta.url), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { query: string; right: { articles?: readonly string[] } })
        .filter(({ right }) => right.articles !== undefined)
        .map(({ query }) => query);
    expect(ofHalf("dev").length).toBeGreaterThan(200);
    // It was judged to be answered by 民法典:1042, which only forbids to demand it.
    expect(ofHalf("dev").filter((question) => isFree(question, isHeld))).toEqual([
      "领了证没住一起 彩礼能要回来吗",
    ]);
    // What the other half asks is not shown.
    expect(ofHalf("test").filter((question) => isFree(question, isHeld)).length).toBe(0);
  });
});
