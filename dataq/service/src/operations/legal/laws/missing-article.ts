import { type Warning, warning } from "@dataq/contract";
import type { SearchIndex } from "../../../search/search-index.ts";
import type { ArticleNumber } from "../question/law-reference.ts";
import { articleTerm } from "./corpus.ts";

/**
 * The articles of a list that none of the named laws has in any version, such as those of 第1258、1261条 of a code that ends
 * at 1260. None if no law is named.
 */
export async function missingOf(
  laws: readonly string[],
  articles: readonly ArticleNumber[],
  index: SearchIndex,
  corpus: string,
): Promise<readonly ArticleNumber[]> {
  if (laws.length === 0) return [];
  const held = await Promise.all(laws.map(async (law) => new Set(await articleTerms(law, index, corpus))));
  return articles.filter(
    (article) => !laws.some((law, at) => held[at]?.has(articleTerm(law, article)) === true),
  );
}

/** Says of articles that no version of the named laws has how far these laws go. Nothing if no law is named. */
export async function noSuchArticle(
  laws: readonly string[],
  articles: readonly ArticleNumber[],
  index: SearchIndex,
  corpus: string,
): Promise<readonly Warning[]> {
  return Promise.all(
    laws.map(async (law) => {
      const last = await lastArticle(law, index, corpus);
      const missing = { law, articles: inRanges(articles).map(shown) };
      return last === undefined
        ? warning("no_such_article", missing)
        : warning("no_such_article_after", { ...missing, last: String(last) });
    }),
  );
}

/** The highest number of an article in any held version of a law. */
async function lastArticle(law: string, index: SearchIndex, corpus: string): Promise<number | undefined> {
  const terms = await articleTerms(law, index, corpus);
  const numbers = terms.map((term) => Number(term.split("|")[1])).filter(Number.isInteger);
  return numbers.length === 0 ? undefined : numbers.reduce((most, number) => Math.max(most, number));
}

/** The terms of all articles of a law, in any version. */
function articleTerms(law: string, index: SearchIndex, corpus: string): Promise<readonly string[]> {
  const start = articleTerm(law, { number: 0, sub: null }).split("|")[0];
  return index.terms(corpus, `${start}|`);
}

interface Range {
  readonly first: ArticleNumber;
  readonly last: ArticleNumber;
}

/** Whole articles that follow each other are one range. */
function inRanges(articles: readonly ArticleNumber[]): readonly Range[] {
  const ranges: Range[] = [];
  for (const article of articles) {
    const range = ranges.at(-1);
    const follows =
      range !== undefined &&
      range.last.sub === null &&
      article.sub === null &&
      article.number === range.last.number + 1;
    if (follows) ranges[ranges.length - 1] = { first: range.first, last: article };
    else ranges.push({ first: article, last: article });
  }
  return ranges;
}

function shown({ first, last }: Range) {
  const [from, to] = [written(first), written(last)];
  return first === last ? from : { en: `${from.en} to ${to.en}`, zh: `${from.zh}至${to.zh}` };
}

function written({ number, sub }: ArticleNumber) {
  return sub === null
    ? { en: `${number}`, zh: `第${number}条` }
    : { en: `${number}-${sub}`, zh: `第${number}条之${"一二三四五六七八九十"[sub - 1] ?? sub}` };
}
