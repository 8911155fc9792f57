import { type Warning, warning } from "@dataq/contract";
import type { SearchIndex } from "../../../search/search-index.ts";
import type { ArticleNumber } from "../question/law-reference.ts";
import { articleTerm } from "./corpus.ts";

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
      const missing = { law, articles: articles.map(shown) };
      return last === undefined
        ? warning("no_such_article", missing)
        : warning("no_such_article_after", { ...missing, last: String(last) });
    }),
  );
}

/** The highest number of an article in any held version of a law. */
async function lastArticle(law: string, index: SearchIndex, corpus: string): Promise<number | undefined> {
  const start = articleTerm(law, { number: 0, sub: null }).split("|")[0];
  const terms = await index.terms(corpus, `${start}|`);
  const numbers = terms.map((term) => Number(term.split("|")[1])).filter(Number.isInteger);
  return numbers.length === 0 ? undefined : numbers.reduce((most, number) => Math.max(most, number));
}

function shown({ number, sub }: ArticleNumber) {
  return sub === null
    ? { en: `${number}`, zh: `第${number}条` }
    : { en: `${number}-${sub}`, zh: `第${number}条之${"一二三四五六七八九十"[sub - 1] ?? sub}` };
}
