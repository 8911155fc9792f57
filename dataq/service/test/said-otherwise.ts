import { Jieba } from "@node-rs/jieba";
import { dict } from "@node-rs/jieba/dict.js";
import { Converter } from "opencc-js/cn2t";
import type { Random } from "../../../fuzz/random.ts";
import type { Sources } from "../src/sources/source.ts";
import { WrittenRecord } from "../src/sources/written-record.ts";

/** Ways to say a question so that a reader understands the same: undefined where a way does not apply. */
export type Way = (question: string, random: Random) => string | undefined;

const jieba = Jieba.withDict(dict);
const taiwan = Converter({ from: "cn", to: "tw" });
const hongKong = Converter({ from: "cn", to: "hk" });

/** Beginnings and ends that carry no question of their own. */
const beginnings = [
  "请问",
  "请问一下，",
  "你好，",
  "您好，我想咨询一下，",
  "麻烦问一下",
  "想请教各位律师，",
  "律师您好，",
  "大家帮我看看，",
  "在线等，",
  "谁知道",
];
const ends = ["，谢谢", "，谢谢！", "？急", "，求解答", "呢？", "，麻烦了。"];

/** Characters that people and keyboards take for each other, because they sound the same. */
const soundAlike = [
  "的地得",
  "在再",
  "做作坐",
  "定订",
  "帐账",
  "赔陪培",
  "偿尝常",
  "份分",
  "既即",
  "以已",
  "像象",
  "须需",
  "权全",
  "利力立",
  "期其",
  "法发",
  "约月",
  "罪最",
  "判盼",
  "刑型行",
  "事是市",
  "车撤",
  "离理",
  "婚昏",
  "产铲",
  "工公功",
  "资姿",
  "租祖",
  "房防",
  "款宽",
  "合和",
  "同铜",
  "诉素",
  "仲众",
  "裁才",
  "保宝",
  "险显",
  "证正",
  "税睡",
  "商伤",
  "标彪",
  "专砖",
  "收首",
  "养氧",
  "老佬",
  "偷头",
  "打达",
  "骗片",
  "钱前",
  "借界",
  "欠歉",
  "还环",
  "息希",
  "时实",
  "效孝",
  "报抱",
  "警景",
];
const likes = new Map(
  soundAlike.flatMap((set) =>
    [...set].map((character) => [character, [...set].filter((one) => one !== character)]),
  ),
);

export const ways = {
  /** What stood first comes last. Nobody cuts beside a single character, which may belong to its neighbour. */
  "other word order": (question, random) => {
    const words = jieba.cut(question, true);
    const isWhole = (word: string | undefined) =>
      word !== undefined && (word.length > 1 || !/[\p{L}\p{N}]/u.test(word));
    const places = words.flatMap((word, at) =>
      at > 0 && isWhole(word) && isWhole(words[at - 1]) ? [at] : [],
    );
    if (places.length === 0) return undefined;
    const at = random.pick(places);
    return [...words.slice(at), random.pick(["", " ", "，"]), ...words.slice(0, at)].join("").trim();
  },
  "words apart": (question) => jieba.cut(question, true).join(" ").replace(/\s+/g, " "),
  "full or half width": (question) => {
    const wide = [...question].map(otherWidth).join("");
    return wide === question ? `${question}？` : wide;
  },
  "traditional characters": (question, random) => {
    const written = random.pick([taiwan, hongKong])(question);
    return written === question ? undefined : written;
  },
  punctuation: (question, random) => {
    const bare = question.replace(/[\s，。？！、,.?!]+/g, " ").trim();
    const mark = random.pick(["？", "?", "！！", "。", "……", "~", " "]);
    const between = random.pick([" ", "，", "、"]);
    return random.below(2) === 0 ? bare.replaceAll(" ", between) + mark : `“${bare}”${mark}`;
  },
  "polite beginning": (question, random) =>
    random.pick(beginnings) + question + (random.below(2) === 0 ? "" : random.pick(ends)),
  "one typing error": (question, random) => {
    const characters = [...question];
    if (characters.length < 6) return undefined;
    const at = random.below(characters.length - 1);
    const here = characters[at]!;
    const like = likes.get(here);
    if (like !== undefined && random.below(2) === 0) characters[at] = random.pick(like);
    else if (random.below(2) === 0) characters.splice(at, 1, here, here);
    else characters.splice(at, 2, characters[at + 1]!, here);
    const typed = characters.join("");
    return typed === question ? undefined : typed;
  },
} satisfies Readonly<Record<string, Way>>;

/** ASCII in the width of Han characters, and the other way round. */
function otherWidth(character: string): string {
  const code = character.charCodeAt(0);
  if (code > 0x20 && code < 0x7f) return String.fromCharCode(code + 0xfee0);
  if (code > 0xff00 && code < 0xff5f) return String.fromCharCode(code - 0xfee0);
  return code === 0x20 ? "\u3000" : character;
}

/** Of questions said in this way, the share that must still find a right article among the first five. */
export const bars: Readonly<Record<keyof typeof ways, number>> = {
  "other word order": 0.97,
  "words apart": 0.94,
  "full or half width": 0.99,
  "traditional characters": 0.99,
  punctuation: 0.99,
  "polite beginning": 0.99,
  "one typing error": 0.88,
};

export interface SaidOtherwise {
  readonly way: keyof typeof ways;
  readonly times: number;
  readonly kept: number;
  readonly bar: number;
  /** The question, as it was said, and the first five. */
  readonly lost: readonly string[];
}

export type Ask = (query: string) => Promise<readonly string[]>;

/** The IDs of the articles that a service with these sources finds for a question, best first. */
export function articlesFor(sources: Sources, most: number): Ask {
  return async (query) => {
    const context = {
      signal: AbortSignal.timeout(60_000),
      now: new Date("2026-11-27T04:00:00Z"),
      sandbox: false,
    };
    const answer = await sources.find("legal_laws")!.run({ query }, { page: 1, pageSize: most }, context);
    return (answer.records ?? []).map((record) => {
      const fields = record instanceof WrittenRecord ? record.parse() : record;
      return (fields as { id: string }).id;
    });
  };
}

/** Asks each question that finds a right article among the first five again, in every way, `times` times. */
export async function sayOtherwise(
  questions: readonly { readonly query: string; readonly right: readonly string[] }[],
  ask: Ask,
  random: Random,
  times: number,
): Promise<{ rows: SaidOtherwise[]; held: number }> {
  const finds = async (query: string, right: readonly string[]) => {
    const five = (await ask(query)).slice(0, 5);
    return { isHeld: five.some((id) => right.includes(id)), five };
  };
  const held: (typeof questions)[number][] = [];
  for (const question of questions)
    if ((await finds(question.query, question.right)).isHeld) held.push(question);
  const rows: SaidOtherwise[] = [];
  for (const way of Object.keys(ways) as (keyof typeof ways)[]) {
    let said = 0;
    const lost: string[] = [];
    for (const { query, right } of held) {
      const others = new Set(Array.from({ length: times }, () => ways[way](query, random)));
      for (const other of others) {
        if (other === undefined) continue;
        said++;
        const { isHeld, five } = await finds(other, right);
        if (!isHeld) lost.push(`${query} → ${other} (${right.join(" ")}): ${five.join(" ")}`);
      }
    }
    rows.push({ way, times: said, kept: said - lost.length, bar: bars[way], lost });
  }
  return { rows, held: held.length };
}
