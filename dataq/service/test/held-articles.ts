import { wordsOf } from "../src/operations/legal/citation-check/compare.ts";
import {
  type HeldJudgment,
  type HeldTexts,
  type LawArticle,
  placeKey,
} from "../src/operations/legal/citation-check/held-texts.ts";
import { citedNumber, type StoredArticle } from "../src/operations/legal/laws/corpus.ts";
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
  readonly #pairsOf = new Map<StoredArticle, readonly string[]>();
  #texts: { readonly article: StoredArticle; readonly units: string }[] | undefined;
  readonly #cases: ReadonlyMap<string, HeldJudgment>;

  constructor(articles: readonly StoredArticle[], cases: ReadonlyMap<string, HeldJudgment> = new Map()) {
    this.#cases = cases;
    for (const article of articles) {
      const law = lawKey(article.law_name);
      this.#byLaw.set(law, [...(this.#byLaw.get(law) ?? []), article]);
      const cited = citedNumber(article);
      if (cited !== null) this.#byPlace.set(placeKey({ law, article: cited }), article);
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
    return (this.#byLaw.get(law) ?? []).flatMap((article) => citedNumber(article) ?? []);
  }

  /** The articles that share most pairs of characters with the words, as a search ranks them. */
  async withWords(law: string, words: string) {
    const pairs = new Set(pairsOf(words));
    const ranked = (this.#byLaw.get(law) ?? []).map((article) => {
      const shared = this.#pairs(article).filter((pair) => pairs.has(pair)).length;
      return { article, shared };
    });
    return ranked
      .filter(({ shared }) => shared > 0)
      .sort((a, b) => b.shared - a.shared)
      .slice(0, 3)
      .map(({ article }) => article);
  }

  /** Those with the most of the words in runs of eight characters. */
  async anywhere(words: string) {
    const runs = Array.from({ length: Math.ceil(Math.max(0, words.length - 7) / 4) }, (_, at) =>
      words.slice(4 * at, 4 * at + 8),
    );
    this.#texts ??= [...this.#byLaw.values()].flat().map((article) => ({
      article,
      units: (article.versions.at(-1)?.content ?? "").replaceAll(/[^\p{L}\p{N}]/gu, ""),
    }));
    return this.#texts
      .map(({ article, units }) => ({ article, shared: runs.filter((run) => units.includes(run)).length }))
      .filter(({ shared }) => shared > 0)
      .sort((a, b) => b.shared - a.shared)
      .slice(0, 3)
      .map(({ article }) => article);
  }

  #pairs(article: StoredArticle): readonly string[] {
    const known = this.#pairsOf.get(article);
    if (known !== undefined) return known;
    const contents = article.versions.map(({ content }) => wordsOf(content ?? "").units);
    const pairs = [...new Set(contents.flatMap(pairsOf))];
    this.#pairsOf.set(article, pairs);
    return pairs;
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

function pairsOf(units: string): string[] {
  return Array.from({ length: Math.max(0, units.length - 1) }, (_, at) => units.slice(at, at + 2));
}
