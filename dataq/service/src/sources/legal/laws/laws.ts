import type { Params } from "@dataq/contract";
import {
  articleTerm,
  lawArticlesCorpus,
  lawTerm,
  type StoredArticle,
} from "../../../search/corpora/law-articles.ts";
import { highlight } from "../../../search/highlight.ts";
import type { PostingIndex } from "../../../search/postings/posting-index.ts";
import { isLawName, lawKey, readLawReference } from "../../../search/question/law-reference.ts";
import type { Query, SearchPage } from "../../../search/search-index.ts";
import { searchText, type TextFound, type TextQuestion } from "../../../search/text-search.ts";
import { listAnswer } from "../../list-answer.ts";
import type { Answer, Page, Source, SourceContext } from "../../source.ts";
import { articleRecord } from "./record.ts";

/** Articles by reference, else by words. */
export class LawSource implements Source {
  readonly #index: PostingIndex;
  readonly #corpus: string;

  constructor(index: PostingIndex, corpus: string = lawArticlesCorpus) {
    this.#index = index;
    this.#corpus = corpus;
  }

  async version(): Promise<string> {
    return (await this.#index.state(this.#corpus))?.snapshot ?? "none";
  }

  async run(params: Params, page: Page, context: SourceContext): Promise<Answer> {
    const question = await this.#question(params["query"] ?? "");
    const place: SearchPage = {
      offset: (page.page - 1) * page.pageSize,
      limit: page.pageSize,
      ...(page.snapshot !== undefined && { snapshot: page.snapshot }),
    };
    const found = await searchText(this.#index, this.#corpus, question, place);
    return listAnswer(found, page, (hit) => render(hit, found as TextFound, context.now));
  }

  /** An article that is named is looked up and never searched, so that nothing near it is given for it. */
  async #question(text: string): Promise<TextQuestion> {
    const { law, article, rest } = readLawReference(text);
    if (article !== null) return question([exact(articleTerm(law, article))], rest);
    if (law !== null) return question([exact(lawTerm(law))], rest);
    const words = text.split(" ");
    const filters: Query[] = [];
    const others: string[] = [];
    for (const word of words) {
      const term = lawTerm(lawKey(word));
      const isLaw = isLawName(word) && (await this.#index.count(this.#corpus, [term])) > 0;
      if (isLaw) filters.push(exact(term));
      else others.push(word);
    }
    return question(filters, others.join(" "));
  }
}

function question(filters: readonly Query[], text: string): TextQuestion {
  return { filters, alternatives: [text], phrases: [], without: [] };
}

function exact(term: string): Query {
  return { term, scored: false };
}

function render(hit: { body: object; score: number }, found: TextFound, now: Date): object {
  const record = articleRecord(hit.body as StoredArticle, now);
  const mark = highlight(record.content, found.words);
  const { source, ...fields } = record;
  return {
    ...fields,
    highlights: mark === null ? [] : [mark],
    score: found.words.length === 0 ? null : Number(hit.score.toFixed(4)),
    source,
  };
}
