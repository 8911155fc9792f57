import { readNumber } from "./chinese-number.ts";
import type { ArticleNumber } from "./law-reference.ts";

/** The articles that a text names, and the text without them. */
export interface ArticleList {
  readonly articles: readonly ArticleNumber[];
  readonly rest: string;
}

const numeral = "(?:[0-9]{1,4}|[零〇一二两三四五六七八九十百千]{1,9})";
const sub = `(?:\\s*之\\s*(?:[0-9]{1,2}|[一二三四五六七八九十]{1,3}))?`;
const part = `(?:\\s*第?\\s*${numeral}\\s*款)?(?:\\s*第?\\s*\\(?${numeral}\\)?\\s*项)?`;
/** 第五百七十七条, 577条, 第20条之一第2款, 第577. */
const one = `第?\\s*${numeral}(?:\\s*条)?${sub}${part}`;
const between = "\\s*(?:[、,;/和与及或跟]|以及|至|到|[-~—–])\\s*";
const list = `${one}(?:${between}${one})*`;
const ofArticles = new RegExp(
  `第?\\s*${numeral}(?:${between}第?\\s*${numeral})*\\s*条${sub}${part}(?:${between}${one})*`,
  "g",
);
const bare = new RegExp(`^\\s*${list}\\s*$`);
const each = new RegExp(
  `(${between})?第?\\s*(${numeral})(?:\\s*条)?(?:\\s*之\\s*([0-9]{1,2}|[一二三四五六七八九十]{1,3}))?${part}`,
  "g",
);

/**
 * Reads the articles that a text names: 第五百七十七条, 五七七条, 577-580, 264、266, 第577条和第584条, 133之一. A number without
 * 第 or 条 counts only next to a law's name (`hasLaw`) and if no other character is attached to it. The text is
 * in NFKC.
 */
export function readArticles(text: string, hasLaw: boolean): ArticleList {
  const articles: ArticleNumber[] = [];
  let rest = text.replace(ofArticles, (found, at: number) => {
    if (countsThings(text, found, at)) return found;
    const read = articlesIn(found);
    articles.push(...read);
    return read.length === 0 ? found : " ";
  });
  if (hasLaw) {
    const whole = bare.test(rest) ? articlesIn(rest) : [];
    if (whole.length > 0) {
      articles.push(...whole);
      rest = "";
    } else
      rest = rest
        .split(/\s+/)
        .filter((word) => {
          const read = bare.test(word) && /[0-9第百十]/.test(word) ? articlesIn(word) : [];
          articles.push(...read);
          return read.length === 0;
        })
        .join(" ");
  }
  return { articles: distinct(articles), rest: rest.replace(/\s+/g, " ").trim() };
}

/** Whether 条 is a measure word here: it also counts dogs, lives and many other things (撞死一条狗, 两条人命). */
function countsThings(text: string, found: string, at: number): boolean {
  return (
    /^[1-9一二两三四五六七八九十]条$/.test(found) &&
    /^(?![之第款的规中里是])\p{Script=Han}/u.test(text.slice(at + found.length))
  );
}

function articlesIn(text: string): ArticleNumber[] {
  const articles: ArticleNumber[] = [];
  for (const [, join = "", digits = "", subDigits] of text.matchAll(each)) {
    const number = readArticleDigits(digits);
    if (number === undefined || number === 0) return [];
    const last = articles.at(-1);
    const isRange = /[-~—–至到]/.test(join) && last !== undefined && subDigits === undefined;
    if (!isRange) {
      articles.push({ number, sub: subDigits === undefined ? null : (readNumber(subDigits) ?? null) });
      continue;
    }
    // 133-1 is not a range; it means 第一百三十三条之一.
    if (number <= last.number) articles[articles.length - 1] = { number: last.number, sub: number };
    else
      for (let next = last.number + 1; next <= number && articles.length < mostArticles; next++)
        articles.push({ number: next, sub: null });
  }
  return articles;
}

/** Reads 五百七十七, 577, or single digits such as 五七七. */
function readArticleDigits(text: string): number | undefined {
  const byDigit = /^[零〇一二三四五六七八九]{2,4}$/.test(text);
  return byDigit ? Number([...text].map((digit) => readNumber(digit) ?? 0).join("")) : readNumber(text);
}

/** Longer ranges are cut to this length, because a page shows no more. */
const mostArticles = 200;

function distinct(articles: readonly ArticleNumber[]): ArticleNumber[] {
  return [...new Map(articles.map((article) => [`${article.number} ${article.sub}`, article])).values()];
}
