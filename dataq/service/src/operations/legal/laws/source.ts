import type { Params } from "@dataq/contract";
import type { PostingIndex } from "../../../search/postings/posting-index.ts";
import type { Query } from "../../../search/search-index.ts";
import type { ReadQuestion, Searching } from "../../../sources/search-source.ts";
import { isLawName, lawKey, readLawReference } from "../question/law-reference.ts";
import { articleTerm, lawTerm, type StoredArticle } from "./corpus.ts";
import { articleRecord } from "./record.ts";

/** Articles by reference, else by words. */
export const laws: Searching = {
  read: (params, index, corpus) => read(params, index, corpus),
  render: (body, now) => articleRecord(body as StoredArticle, now),
  text: (body) => textOf(body as StoredArticle),
};

/** An article that is named is looked up and never searched, so that nothing near it is given for it. */
async function read(params: Params, index: PostingIndex, corpus: string): Promise<ReadQuestion> {
  const text = params["query"] ?? "";
  const { law, article, rest } = readLawReference(text);
  if (article !== null) return question([exact(articleTerm(law, article))], rest);
  if (law !== null) return question([exact(lawTerm(law))], rest);
  const filters: Query[] = [];
  const others: string[] = [];
  for (const word of text.split(" ")) {
    const term = lawTerm(lawKey(word));
    if (isLawName(word) && (await index.count(corpus, [term])) > 0) filters.push(exact(term));
    else others.push(word);
  }
  return question(filters, others.join(" "));
}

function question(filters: readonly Query[], text: string): ReadQuestion {
  return { question: { filters, alternatives: [text], phrases: [], without: [] }, warnings: [] };
}

function exact(term: string): Query {
  return { term, scored: false };
}

function textOf(article: StoredArticle): string {
  return article.versions.findLast(({ content }) => content !== null)?.content ?? "";
}
