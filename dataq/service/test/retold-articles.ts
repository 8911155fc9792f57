import { wordsOf } from "../src/operations/legal/citation-check/compare.ts";
import { contradiction } from "../src/operations/legal/citation-check/retold.ts";
import type { StoredArticle } from "../src/operations/legal/laws/corpus.ts";
import { Random } from "../src/sample/random.ts";

/** How a lawyer may retell a sentence of an article without changing what it says; undefined where it does not apply. */
const allowed: Readonly<Record<string, (sentence: string, random: Random) => string | undefined>> = {
  "word for word": (sentence) => sentence,
  "a clause left out": (sentence, random) => {
    const clauses = sentence.split("，");
    if (clauses.length < 3) return undefined;
    const out = random.whole(0, clauses.length - 1);
    // What spans a semicolon would join a condition with the consequence of another one.
    return clauses[out]!.includes("；") ? undefined : clauses.toSpliced(out, 1).join("，");
  },
  "the beginning alone": (sentence) => {
    const clauses = sentence.split("，");
    return clauses.length < 2 ? undefined : clauses.slice(0, -1).join("，");
  },
  "shorter words": (sentence) => {
    const shorter = sentence.replaceAll("人民法院", "法院").replaceAll("或者", "或").replaceAll("以及", "和");
    return shorter === sentence ? undefined : shorter;
  },
  "numerals in digits": (sentence) => {
    const written = sentence.replace(
      /(?<![第百千万一二三四五六七八九十之])([一二三四五六七八九]?十)(?=[日年天])/g,
      (tens) => String(10 * ("一二三四五六七八九".indexOf(tens[0]!) + 1 || 1)),
    );
    return written === sentence ? undefined : written;
  },
  "a lawyer's own words": (sentence) => {
    let own = sentence;
    for (const [words, others] of ownWords) own = own.replaceAll(words, others);
    return own === sentence ? undefined : own;
  },
  "clauses in another order": (sentence) => {
    const at = sentence.indexOf("的，");
    if (at < 6 || /[；：]/.test(sentence) || sentence.split("，").length !== 2) return undefined;
    return `${sentence.slice(at + 2)}，前提是${sentence.slice(0, at)}`;
  },
  "the words of the writer before and after": (sentence) =>
    `本案的关键在于，${sentence}，这一点对方并无异议，故应予支持`,
  "brackets dropped": (sentence) => {
    const plain = sentence.replaceAll(/（[^（）]{1,30}）/g, "");
    return plain === sentence ? undefined : plain;
  },
};

const ownWords: readonly (readonly [RegExp, string])[] = [
  [/(?<!不)应当/g, "须"],
  [/不得(?=[^超低少高多])/g, "不能"],
  [/人民法院/g, "法院"],
  [/人民检察院/g, "检察院"],
  [/公安机关/g, "公安"],
  [/或者/g, "或"],
  [/之日起/g, "后"],
  [/以内/g, "内"],
  [/金融机构/g, "银行"],
  [/用人单位/g, "公司"],
  [/生产经营单位/g, "企业"],
  [/经营者/g, "商家"],
  [/要求/g, "请求"],
  [/依照/g, "按"],
  [/订立/g, "签订"],
  [/给予/g, "予以"],
  [/属于/g, "系"],
  [/但是/g, "但"],
];

const lengths = ["三十日", "六十日", "十五日", "二年", "三年", "五年", "十年", "六个月", "三个月"];

/** How an error gets into an opinion. */
const planted: Readonly<Record<string, (sentence: string, random: Random) => string | undefined>> = {
  "应当 becomes 可以": (sentence) => swapped(sentence, "应当", "可以"),
  "可以 becomes 应当": (sentence) => swapped(sentence, "可以", "应当"),
  "可以 becomes 不得": (sentence) => swapped(sentence, "可以", "不得"),
  "不得 becomes 可以": (sentence) => swapped(sentence, "不得", "可以"),
  "another length of time": (sentence, random) => {
    const said = lengths.find((length) =>
      new RegExp(`(?<![百千十零一二三四五六七八九年月])${length}(?!以|[一二三四五六七八九]|规划)`).test(
        sentence,
      ),
    );
    if (said === undefined) return undefined;
    // A date is no length, and a list of periods stands for several.
    if (/缓期|不变期间|一九|二[〇零]|年度/.test(sentence)) return undefined;
    const others = lengths.filter((length) => length !== said && !sentence.includes(length));
    return others.length === 0 ? undefined : sentence.replace(said, random.pick(others));
  },
};

/** Only where it stands once and its counterpart does not, so that the result contradicts the article. */
function swapped(sentence: string, from: string, to: string): string | undefined {
  return sentence.split(from).length !== 2 || sentence.includes(to) ? undefined : sentence.replace(from, to);
}

export interface RetoldFigures {
  /** Of each way to retell: how often it was tried, and how often it was taken for a contradiction. */
  readonly allowed: readonly {
    readonly way: string;
    readonly tried: number;
    readonly accused: readonly string[];
  }[];
  readonly planted: readonly {
    readonly way: string;
    readonly tried: number;
    readonly missed: readonly string[];
  }[];
}

/** Retells sentences of articles drawn by the seed, in allowed ways and with errors. */
export function judgeRetold(articles: readonly StoredArticle[], seed: string, count: number): RetoldFigures {
  const random = new Random(seed);
  const drawn = Array.from({ length: count }, () => random.pick(articles)).flatMap(({ versions }) => {
    const content = versions.at(-1)?.content ?? "";
    const sentences = content
      .split(/[。\n]/)
      .filter((sentence) => sentence.length >= 16 && sentence.length <= 120);
    return sentences.length === 0 ? [] : [{ content, sentence: random.pick(sentences) }];
  });
  const told = (said: string, content: string) =>
    contradiction(wordsOf(said), wordsOf(content), { cells: 400_000 });
  const tried = (change: (sentence: string, random: Random) => string | undefined) =>
    drawn.flatMap(({ content, sentence }) => {
      const said = change(sentence, random);
      return said === undefined ? [] : [{ content, said }];
    });
  return {
    allowed: Object.entries(allowed).map(([way, change]) => {
      const cases = tried(change);
      const accused = cases.flatMap(({ said, content }) => {
        const pieces = told(said, content)?.filter(({ kind }) => kind !== "same");
        return pieces === undefined ? [] : [`${said} ← ${pieces.map(({ kind, text }) => `${kind} ${text}`)}`];
      });
      return { way, tried: cases.length, accused };
    }),
    planted: Object.entries(planted).map(([way, change]) => {
      const cases = tried(change).filter(({ said, content }) => !content.includes(said));
      const missed = cases
        .filter(({ said, content }) => told(said, content) === undefined)
        .map(({ said }) => said);
      return { way, tried: cases.length, missed };
    }),
  };
}
