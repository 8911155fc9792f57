import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { lawKey, readArticleNumber } from "../question/law-reference.ts";
import { builtInLexicon, type Cause, type LawPlace, weights } from "./lexicon.ts";

const packs = process.env["TEST_DATA"];
const hasPacks = packs !== undefined && existsSync(join(packs, "law_articles.jsonl.zst"));
const lexicon = builtInLexicon();
const everydayWords = new Set(lexicon.rows.flatMap(({ words }) => words));
const crimes = lexicon.causes.filter(({ kind }) => kind === "crime");

describe("the lexicon's data", () => {
  it("has the size that was promised", () => {
    expect(everydayWords.size).toBeGreaterThan(10_000);
    expect(crimes.length).toBe(483);
    expect(lexicon.causes.length - crimes.length).toBeGreaterThan(190);
    expect(lexicon.askingWords.length).toBeGreaterThan(100);
  });

  it("has words, terms, a known closeness and at least one place in each row", () => {
    const wrong = lexicon.rows.filter(
      ({ words, terms, closeness, places }) =>
        words.length === 0 || terms.length === 0 || !(closeness in weights) || places.length === 0,
    );
    expect(wrong).toEqual([]);
  });

  it("writes every word in the form that questions are read in", () => {
    const all = [
      ...lexicon.rows.flatMap(({ words }) => words),
      ...lexicon.causes.flatMap(({ everydayWords: words }) => words),
      ...lexicon.askingWords,
    ];
    expect(all.filter((word) => word !== word.normalize("NFKC").toLowerCase() || /\s/.test(word))).toEqual(
      [],
    );
  });

  it("lists no word twice for the same terms, and no charge or question word twice", () => {
    expect(
      repeated(lexicon.rows.flatMap(({ words, terms }) => words.map((word) => `${word} ${terms}`))),
    ).toEqual([]);
    expect(repeated(lexicon.causes.map(({ name }) => name))).toEqual([]);
    for (const { name, everydayWords: words } of lexicon.causes) expect(repeated(words), name).toEqual([]);
    expect(repeated(lexicon.askingWords)).toEqual([]);
  });

  it("contains every group that a combination names, and no empty part", () => {
    const combinations = [
      ...lexicon.rows.flatMap(({ words }) => words),
      ...lexicon.causes.flatMap(({ everydayWords: words }) => words),
    ].filter((word) => /[+@]/.test(word));
    const parts = combinations.flatMap((word) => word.split("+"));
    expect(
      parts.filter((part) => part === "" || (part.startsWith("@") && !lexicon.groups.has(part))),
    ).toEqual([]);
    const named = new Set(parts);
    expect([...lexicon.groups.keys()].filter((group) => !named.has(group))).toEqual([]);
    for (const [group, words] of lexicon.groups) expect(repeated(words), group).toEqual([]);
  });

  it("lists the crimes in the order of the Criminal Law", () => {
    const numbers = crimes.flatMap(({ places }) => places.slice(0, 1).map(({ article }) => order(article)));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  });
});

describe.skipIf(!hasPacks)("the lexicon beside the laws (needs TEST_DATA)", () => {
  const texts = new Map<string, string>();

  beforeAll(() => {
    const pack = readFileSync(join(packs as string, "law_articles.jsonl.zst"));
    for (const line of zstdDecompressSync(pack).toString().trim().split("\n")) {
      const row = JSON.parse(line) as { law_name: string; article_no: string; article_text: string };
      const article = readArticleNumber(row.article_no);
      if (article === undefined) continue;
      const key = placeKey({ law: lawKey(row.law_name), article });
      texts.set(key, `${texts.get(key) ?? ""} ${row.article_text.replace(/\s/gu, "")}`);
    }
  });

  it("takes every term from one of the articles that the row names, and names no article without a term", () => {
    const wrong = lexicon.rows.flatMap(({ file, words, terms, places }) => [
      ...terms
        .filter((term) => !places.some((place) => textOf(place).includes(term)))
        .map((term) => `${file} ${words[0]}: ${term} stands in none of its articles`),
      ...places
        .filter((place) => !terms.some((term) => textOf(place).includes(term)))
        .map((place) => `${file} ${words[0]}: ${placeKey(place)} has none of its terms`),
    ]);
    expect(wrong).toEqual([]);
  });

  it("names only existing articles for charges and causes, and their text is about them", () => {
    const wrong = lexicon.causes.flatMap((cause) => {
      const missing = cause.places.filter((place) => !texts.has(placeKey(place)));
      const text = cause.places.map(textOf).join("");
      const isAbout =
        cause.places.length === 0 || inCommon(cause, text) >= 1 / 3 || namedByOtherWords.has(cause.name);
      return [
        ...missing.map((place) => `${cause.name}: ${placeKey(place)} does not exist`),
        ...(isAbout ? [] : [`${cause.name}: its articles say nothing about it`]),
      ];
    });
    expect(wrong).toEqual([]);
  });

  /** Charges and causes whose articles use other words for them. */
  const namedByOtherWords = new Set([
    "背叛国家罪",
    "资助危害国家安全犯罪活动罪",
    "洗钱罪",
    "信用卡纠纷",
    "遗弃罪",
    "医疗事故罪",
  ]);

  function textOf(place: LawPlace): string {
    return texts.get(placeKey(place)) ?? "";
  }

  /** The share of the name's characters that the text contains. */
  function inCommon({ name }: Cause, text: string): number {
    const characters = [...new Set(name.replace(/罪$|纠纷$/u, "").match(/\p{Script=Han}/gu))];
    return characters.filter((character) => text.includes(character)).length / characters.length;
  }
});

describe("reading a question", () => {
  it("finds the longest word at each place, in the question as it is written", () => {
    expect(found("拖欠工资怎么办")).toEqual(["拖欠工资"]);
    expect(found("试用期工资怎么发")).toContain("试用期工资");
    expect(found("试用期工资怎么发")).not.toContain("试用期");
    expect(found("")).toEqual([]);
    expect(found("The quick brown fox")).toEqual([]);
    expect(found("公司只赔N+1")).toContain("@n加一");
  });

  it("finds the words of a combination in any order and at any distance", () => {
    expect(found("孕妇能不能被公司辞退")).toContain("孕妇+辞退");
    expect(found("辞退了一个孕妇")).toContain("孕妇+辞退");
    expect(found("孕妇坐公交车")).not.toContain("孕妇+辞退");
    expect(found("")).toEqual([]);
  });

  it("takes a word in a combination for any word of its group", () => {
    expect(found("我家娃把别人的车划了")).toContain("@孩子+划+车");
    expect(found("闺女划了邻居的汽车")).toContain("@孩子+划+车");
  });

  it("counts a single character only where no longer word holds it", () => {
    expect(found("学校门口有人打我")).toContain("@学校+@打");
    expect(found("在学校打工")).not.toContain("@学校+@打");
  });

  it("reads neither 打 in 打印 nor 偷 in 偷偷, and finds neither word", () => {
    expect(found("学校打印试卷")).toEqual(["学校"].filter((word) => lexicon.expand(word).length > 0));
    expect(found("偷偷").length).toBe(0);
    expect(repeated(lexicon.wholeWords)).toEqual([]);
  });

  it("reads words that overlap both", () => {
    expect(found("怀孕被辞退工资")).toEqual(expect.arrayContaining(["怀孕被辞退"]));
    expect(found("一直想离职")).toContain("离职");
  });

  it("expands a word with the law's words, weaker than the word itself", () => {
    expect(lexicon.expand("老板")).toMatchObject([{ terms: ["用人单位"], weight: weights.same }]);
    for (const weight of Object.values(weights)) expect(weight).toBeLessThan(1);
    expect(lexicon.expand("量子力学")).toEqual([]);
    expect(lexicon.expand("constructor")).toEqual([]);
  });

  it("finds charges by name, by an earlier name, by a part and in everyday words", () => {
    expect(lexicon.articlesOf("盗窃罪")).toEqual(place("刑法", 264));
    expect(lexicon.articlesOf("盗窃")).toEqual(place("刑法", 264));
    expect(lexicon.cause("走私贩卖运输制造毒品罪")?.name).toBe("走私、贩卖、运输、制造毒品罪");
    expect(lexicon.cause("组织参与国(境)外赌博罪")?.places).toEqual(place("刑法", 303));
    expect(lexicon.articlesOf("危险驾驶罪")).toEqual([{ law: "刑法", article: { number: 133, sub: 1 } }]);
    expect(lexicon.articlesOf("不存在的罪")).toEqual([]);
    expect(causes("偷窃 电动车")).toEqual(["盗窃罪"]);
    expect(causes("醉驾被抓")).toEqual(["危险驾驶罪"]);
    expect(causes("开车撞死人")).toEqual(["交通肇事罪"]);
    expect(causes("贩毒判几年")).toEqual(["走私、贩卖、运输、制造毒品罪"]);
    expect(causes("老赖")).toEqual(["拒不执行判决、裁定罪"]);
  });

  it("removes question words, and keeps words that contain their characters", () => {
    expect(lexicon.withoutAsking("老板不给工资怎么办")).toBe("老板不给工资");
    expect(lexicon.withoutAsking("在网吧打架要赔多少钱呢?")).toBe("在网吧打架要赔 ?");
    expect(lexicon.withoutAsking("怎么办")).toBe("");
  });

  function found(question: string): string[] {
    return lexicon.recognise(question).map(({ word }) => word);
  }

  function causes(question: string): string[] {
    return lexicon.causesIn(question).map(({ name }) => name);
  }

  function place(law: string, number: number): LawPlace[] {
    return [{ law, article: { number, sub: null } }];
  }
});

function placeKey({ law, article }: LawPlace): string {
  return `${law} ${article.number}${article.sub === null ? "" : `之${article.sub}`}`;
}

function order({ number, sub }: LawPlace["article"]): number {
  return number * 100 + (sub ?? 0);
}

function repeated(list: readonly string[]): string[] {
  return list.filter((each, at) => list.indexOf(each) !== at);
}
