import type { StoredArticle } from "../src/operations/legal/laws/corpus.ts";
import { articleRecord } from "../src/operations/legal/laws/record.ts";
import { writeNumber } from "../src/operations/legal/question/chinese-number.ts";
import { lawKey } from "../src/operations/legal/question/law-reference.ts";
import { Random } from "../src/sample/random.ts";

export const faults = [
  "none",
  "wrong number",
  "repealed",
  "changed words",
  "invented law",
  "words of an older version",
] as const;
export type Fault = (typeof faults)[number];

/** A passage with one citation that may have a fault, among correct ones. */
export interface Passage {
  readonly text: string;
  readonly fault: Fault;
  /** The words of the citation with the fault, as they appear in the text. */
  readonly cited: string;
  /** How many citations the passage has. Quoted words may contain more. */
  readonly citations: number;
}

/** Makes passages about real articles. The same seed and articles make the same passages. */
export function citedPassages(
  articles: readonly StoredArticle[],
  seed: string,
  count: number,
  now: Date,
): Passage[] {
  const sets = articleSets(articles, now);
  return Array.from({ length: count }, (_, place) => {
    const random = new Random(`${seed} ${place}`);
    // Every third passage has no fault.
    const fault = place % 3 === 0 ? "none" : (faults[1 + ((Math.floor(place / 3) + place) % 5)] as Fault);
    return passage(random, fault, sets);
  });
}

interface ArticleSets {
  readonly inForce: readonly StoredArticle[];
  readonly repealed: readonly StoredArticle[];
  /** Articles whose words changed from the version before. */
  readonly changed: readonly { readonly article: StoredArticle; readonly older: string }[];
  readonly last: ReadonlyMap<string, number>;
  readonly keys: ReadonlySet<string>;
  readonly now: Date;
}

function articleSets(articles: readonly StoredArticle[], now: Date): ArticleSets {
  const inForce: StoredArticle[] = [];
  const repealed: StoredArticle[] = [];
  const changed: { article: StoredArticle; older: string }[] = [];
  const last = new Map<string, number>();
  for (const article of articles) {
    const number = article.article?.number;
    if (number === undefined || article.versions.at(-1)?.level_text !== "法律") continue;
    // Decisions and amendments have other forms of names.
    if (!/法(?:典)?$/.test(article.law_name)) continue;
    const key = lawKey(article.law_name);
    last.set(key, Math.max(last.get(key) ?? 0, number));
    const record = articleRecord(article, now);
    if (record.status === "repealed") repealed.push(article);
    if (record.status !== "in_force" || record.content.length < 30 || record.content.length > 600) continue;
    inForce.push(article);
    const older = article.versions.findLast(
      ({ content, version_date: day }) => content !== null && day !== record.version_date,
    )?.content;
    const sentence =
      older === undefined || older === null ? undefined : differentSentence(older, record.content);
    if (sentence !== undefined) changed.push({ article, older: sentence });
  }
  return { inForce, repealed, changed, last, keys: new Set(last.keys()), now };
}

/** A long sentence of the older text that the newer text does not have in any form. */
function differentSentence(older: string, newer: string): string | undefined {
  const plain = wordsOnly(newer);
  return sentencesOf(older).find((each) => wordsOnly(each).length >= 16 && !plain.includes(wordsOnly(each)));
}

function passage(random: Random, fault: Fault, sets: ArticleSets): Passage {
  const before = correct(random, sets);
  const after = correct(random, sets);
  const middle = faulty(random, fault, sets);
  const [opening, between, closing] = random.pick(frames);
  return {
    text: `${opening}${before}${between}${middle.text}${closing}${after}。`,
    fault,
    cited: middle.cited,
    citations: 3,
  };
}

const frames: readonly (readonly [string, string, string])[] = [
  ["本院认为，依照", "的规定，被告应当承担责任。", "\n综上，并依照"],
  ["法律意见书\n一、法律依据：", "；\n二、", "\n三、另见"],
  ["您好！这个问题可以看", "。\n\n", "\n希望对您有帮助，还可以参考"],
  ["答：首先，根据", "，您可以主张权利。其次，", "此外，根据"],
  ["1. ", "；\n2. ", "\n3. "],
];

/** A citation without a fault, some with a quotation. */
function correct(random: Random, sets: ArticleSets): string {
  const article = random.pick(sets.inForce);
  return (
    nameOf(random, article.law_name) + numberOf(random, article.article_no, article.article?.number ?? 1)
  );
}

function faulty(random: Random, fault: Fault, sets: ArticleSets): { text: string; cited: string } {
  if (fault === "invented law") {
    const name = inventedName(random, sets.keys);
    const number = random.whole(1, 80);
    const cited = `${name}${random.pick([`第${number}条`, `第${writeNumber(number)}条`])}`;
    return { text: `${random.pick(["根据", "依照", "违反"])}${cited}的规定，平台应当承担责任。`, cited };
  }
  if (fault === "wrong number") {
    const article = random.pick(sets.inForce);
    const number = (sets.last.get(lawKey(article.law_name)) ?? 0) + random.whole(1, 300);
    const cited = nameOf(random, article.law_name) + numberOf(random, `第${writeNumber(number)}条`, number);
    return { text: `根据${cited}的规定处理。`, cited };
  }
  if (fault === "repealed") {
    const article = random.pick(sets.repealed);
    const cited =
      nameOf(random, article.law_name) + numberOf(random, article.article_no, article.article?.number ?? 1);
    return { text: `根据${cited}处理。`, cited };
  }
  const changed = fault === "words of an older version" ? random.pick(sets.changed) : undefined;
  const article = changed?.article ?? random.pick(sets.inForce);
  const cited =
    nameOf(random, article.law_name) + numberOf(random, article.article_no, article.article?.number ?? 1);
  const { content } = articleRecord(article, sets.now);
  const sentence =
    changed?.older ?? random.pick(sentencesOf(content).filter((each) => wordsOnly(each).length >= 16));
  const words = sentence ?? content;
  return {
    text: `${cited}规定：“${fault === "changed words" ? withOtherWords(random, words) : words}”`,
    cited,
  };
}

/** The name with or without 中华人民共和国 and 《》. */
function nameOf(random: Random, name: string): string {
  const short = name.replace(/^中华人民共和国/, "");
  return random.pick([
    `《${name}》`,
    `《${short}》`,
    `《${short}》`,
    name.startsWith("中华") ? name : `《${name}》`,
  ]);
}

/** The number as laws write it, in digits, in full-width digits, and over a line break. */
function numberOf(random: Random, written: string, number: number): string {
  if (/之/.test(written)) return written;
  const digits = `第${number}条`;
  return random.pick([
    written,
    written,
    digits,
    digits.replace(/[0-9]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)),
    `${written.slice(0, 2)}\n${written.slice(2)}`,
    `第 ${number} 条`,
  ]);
}

function inventedName(random: Random, keys: ReadonlySet<string>): string {
  for (;;) {
    const name = `${random.pick(subjects)}${random.pick(matters)}${random.pick(["促进法", "管理法", "保障法", "监督法"])}`;
    if (!keys.has(name)) return random.pick([`《${name}》`, `《中华人民共和国${name}》`, name]);
  }
}

const subjects = ["网络", "数字", "社区", "平台", "虚拟财产", "人工智能", "直播", "宠物", "共享经济", "跨境"];
const matters = ["诚信", "交易", "服务", "信用", "安全治理", "权益", "纠纷处理", "算法"];

function sentencesOf(content: string): string[] {
  const flat = content.replace(/\s+/g, "");
  return flat.match(/[^。]+。?/g) ?? [];
}

/** Replaces, removes or adds words that change the meaning. */
function withOtherWords(random: Random, text: string): string {
  const possible = swaps.filter(([from]) => text.includes(from));
  if (possible.length > 0 && random.chance(0.7)) {
    const [from, to] = random.pick(possible);
    return text.replace(from, to);
  }
  const at = random.whole(4, Math.max(4, text.length - 6));
  if (/\p{Script=Han}{2}/u.test(text.slice(at, at + 2)) && random.chance(0.5))
    return text.slice(0, at) + text.slice(at + 2);
  return `${text.slice(0, at)}原则上${text.slice(at)}`;
}

const swaps: readonly (readonly [string, string])[] = [
  ["应当", "可以"],
  ["可以", "应当"],
  ["或者", "并且"],
  ["不得", "可以"],
  ["三年", "五年"],
  ["十日", "十五日"],
  ["人民法院", "仲裁机构"],
  ["当事人", "申请人"],
  ["国务院", "省级人民政府"],
  ["予以", "免予"],
];

function wordsOnly(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, "");
}
