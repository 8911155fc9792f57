import type { SearchIndex } from "../../../search/search-index.ts";
import type { ArticleNumber } from "../question/law-reference.ts";
import { articleTerm } from "./corpus.ts";

/** Says of articles that no version of the named laws has how far these laws go. Undefined if no law is named. */
export async function noSuchArticle(
  laws: readonly string[],
  articles: readonly ArticleNumber[],
  index: SearchIndex,
  corpus: string,
): Promise<string | undefined> {
  if (laws.length === 0) return undefined;
  const told = await Promise.all(
    laws.map(async (law) => {
      const last = await lastArticle(law, index, corpus);
      const end = last === undefined ? "" : `; it ends at article ${last}`;
      return `${law} has no article ${articles.map(shown).join(", ")}${end}.`;
    }),
  );
  return told.join(" ");
}

/** The highest number of an article in any held version of a law. */
async function lastArticle(law: string, index: SearchIndex, corpus: string): Promise<number | undefined> {
  const start = articleTerm(law, { number: 0, sub: null }).split("|")[0];
  const terms = await index.terms(corpus, `${start}|`);
  const numbers = terms.map((term) => Number(term.split("|")[1])).filter(Number.isInteger);
  return numbers.length === 0 ? undefined : numbers.reduce((most, number) => Math.max(most, number));
}

function shown({ number, sub }: ArticleNumber): string {
  return sub === null ? `${number}` : `${number}-${sub}`;
}
