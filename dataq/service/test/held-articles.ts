import { wordsOf } from "../src/operations/legal/citation-check/compare.ts";
import {
  type HeldJudgment,
  type HeldTexts,
  type LawArticle,
  placeKey,
} from "../src/operations/legal/citation-check/held-texts.ts";
import type { StoredArticle } from "../src/operations/legal/laws/corpus.ts";
import { lawKey } from "../src/operations/legal/question/law-reference.ts";
import { LawNames } from "../src/operations/legal/question/named-laws.ts";

/** The texts of articles in memory, to check citations without a database. */
export class HeldArticles implements HeldTexts {
  readonly names: LawNames;
  readonly source = {
    name: "test",
    kind: "third_party" as const,
    retrieved_at: "2026-01-01T08:00:00+08:00",
    content_sha256: "",
  };
  readonly #byPlace = new Map<string, StoredArticle>();
  readonly #byLaw = new Map<string, StoredArticle[]>();
  readonly #cases: ReadonlyMap<string, HeldJudgment>;

  constructor(articles: readonly StoredArticle[], cases: ReadonlyMap<string, HeldJudgment> = new Map()) {
    this.#cases = cases;
    for (const article of articles) {
      const law = lawKey(article.law_name);
      this.#byLaw.set(law, [...(this.#byLaw.get(law) ?? []), article]);
      if (article.article !== null) this.#byPlace.set(placeKey({ law, article: article.article }), article);
    }
    this.names = new LawNames(new Set(this.#byLaw.keys()));
  }

  async articles(places: readonly LawArticle[]) {
    const found = new Map<string, StoredArticle>();
    for (const place of places) {
      const article = this.#byPlace.get(placeKey(place));
      if (article !== undefined) found.set(placeKey(place), article);
    }
    return found;
  }

  async anyArticle(law: string) {
    return this.#byLaw.get(law)?.[0];
  }

  async numbers(law: string) {
    return (this.#byLaw.get(law) ?? []).flatMap(({ article }) => article ?? []);
  }

  async withWords(law: string, words: string) {
    const part = words.slice(0, 12);
    return (this.#byLaw.get(law) ?? []).filter(({ versions }) =>
      versions.some(({ content }) => wordsOf(content ?? "").units.includes(part)),
    );
  }

  async judgments(caseNumbers: readonly string[]) {
    return new Map(
      caseNumbers.flatMap((written) => {
        const judgment = this.#cases.get(written);
        return judgment === undefined ? [] : [[written, judgment] as const];
      }),
    );
  }
}
