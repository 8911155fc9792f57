import { createHash } from "node:crypto";
import { type Failure, invalid, type Params, type Provenance, warning } from "@dataq/contract";
import type { Query, SearchIndex } from "../../../search/search-index.ts";
import { searchText } from "../../../search/text-search.ts";
import type { OptionalSource } from "../../../sources/layered.ts";
import type { Answer, Page, SourceContext } from "../../../sources/source.ts";
import { caseNumberTerm, judgmentsCorpus, legalIndexFill } from "../cases/corpus.ts";
import { articleTerm, citedNumber, lawArticlesCorpus, lawTerm, type StoredArticle } from "../laws/corpus.ts";
import { lawNames } from "../laws/held-names.ts";
import { lawKey } from "../question/law-reference.ts";
import type { LawNames } from "../question/named-laws.ts";
import { checkCitations } from "./check-citations.ts";
import { type FoundCitation, findCitations } from "./find-citations.ts";
import { type HeldJudgment, type HeldTexts, type LawArticle, placeKey } from "./held-texts.ts";
import { LawRegister } from "./law-register.ts";
import { PlainText } from "./plain-text.ts";

/** Checks the citations of a text against the laws and judgments of the index. */
export class CitationSource implements OptionalSource {
  readonly #index: SearchIndex;
  readonly #laws: string;
  readonly #judgments: string;
  /** A call is read once: for its price, and for its answer. */
  readonly #readings = new WeakMap<Params, Reading>();
  readonly #registers = new WeakMap<LawNames, LawRegister>();

  /** `laws` is the corpus of articles: imported ones, or samples. */
  constructor(index: SearchIndex, laws: string) {
    this.#index = index;
    this.#laws = laws;
    this.#judgments = laws.replace(lawArticlesCorpus, judgmentsCorpus);
  }

  async exists(): Promise<boolean> {
    return (await this.#index.state(this.#laws)) !== undefined;
  }

  async version(): Promise<string> {
    const [laws, judgments] = await Promise.all([
      this.#index.state(this.#laws),
      this.#index.state(this.#judgments),
    ]);
    return `${laws?.snapshot ?? "none"} ${judgments?.snapshot ?? "none"}`;
  }

  /** The number of citations, which the price depends on. */
  async count(params: Params): Promise<number> {
    return (await this.#read(params)).citations.length;
  }

  async run(params: Params, _page: Page, context: SourceContext): Promise<Answer> {
    const date = params["date"] as string;
    const { plain, citations, register } = await this.#read(params);
    const state = await this.#index.state(this.#laws);
    const held = new IndexedTexts(this.#index, this.#laws, this.#judgments, await this.#provenance());
    const { now, signal } = context;
    const records = await checkCitations({ plain, citations, register, held, date, now, signal });
    const isUnchecked = (verdict: string) => /^(?:not_held|version_not_held|unresolved)$/.test(verdict);
    const unchecked = records.filter(({ verdict }) => isUnchecked(verdict));
    const isEmpty = records.length === 0;
    return {
      outcome: isEmpty ? "empty" : "found",
      records,
      total: records.length,
      totalRelation: "eq",
      summary: {
        date,
        citations: records.length,
        with_problems: records.filter(({ problems }) => problems.length > 0).length,
        // A law that is known to be repealed is a problem, even if its text is not in the data.
        not_checked: unchecked.filter(({ problems }) => problems.length === 0).length,
      },
      warnings: isEmpty ? [warning("no_citations")] : [],
      ...(state !== undefined && { index: state }),
      ...(unchecked.length > 0 && { isPart: true as const }),
      ...(!isEmpty && unchecked.length === records.length && { notHeld: true as const }),
    };
  }

  async #read(params: Params): Promise<Reading> {
    const known = this.#readings.get(params);
    if (known !== undefined) return known;
    const names = await lawNames(this.#index, this.#laws);
    const register = this.#registers.get(names) ?? new LawRegister(names);
    this.#registers.set(names, register);
    const plain = new PlainText(params["text"] as string);
    const citations = findCitations(plain, register, mostCitations);
    if (citations.length > mostCitations) throw tooMany();
    const reading = { plain, citations, register };
    this.#readings.set(params, reading);
    return reading;
  }

  /** The source of a verdict that no single article supports. */
  async #provenance(): Promise<Provenance> {
    const state = await this.#index.state(this.#laws);
    const terms = await this.#index.terms(this.#laws, lawTerm(""));
    return {
      name: "dataq legal_laws",
      kind: this.#laws === lawArticlesCorpus ? "third_party" : "sample",
      ...(state !== undefined && { document_id: `snapshot ${state.snapshot}` }),
      retrieved_at: state?.refreshed_at ?? "",
      content_sha256: createHash("sha256").update(terms.join("\n")).digest("hex"),
    };
  }
}

interface Reading {
  readonly plain: PlainText;
  readonly citations: readonly FoundCitation[];
  readonly register: LawRegister;
}

/** No text of this length written by a person has this many. */
const mostCitations = 500;

function tooMany(): Failure {
  return invalid(
    "params.text",
    "too_many_citations",
    `params.text has more than ${mostCitations} citations`,
    `split the text into parts with at most ${mostCitations} citations`,
    `请拆分文字，每段最多 ${mostCitations} 处引注`,
  );
}

/** The texts of the search index. */
class IndexedTexts implements HeldTexts {
  readonly source: Provenance;
  readonly #index: SearchIndex;
  readonly #laws: string;
  readonly #judgments: string;

  constructor(index: SearchIndex, laws: string, judgments: string, source: Provenance) {
    this.#index = index;
    this.#laws = laws;
    this.#judgments = judgments;
    this.source = source;
  }

  async articles(places: readonly LawArticle[]): Promise<Map<string, StoredArticle>> {
    const terms = [...new Set(places.map(({ law, article }) => articleTerm(law, article)))];
    const found = new Map<string, StoredArticle>();
    if (terms.length === 0) return found;
    const query = { any: terms.map((term) => ({ term })) };
    // Two texts may have the same name, so there may be more articles than terms.
    const page = { offset: 0, limit: 2 * terms.length };
    const hits = (await this.#index.search(this.#laws, { query }, page))?.hits ?? [];
    for (const { body } of hits) {
      const article = body.parse() as StoredArticle;
      const cited = citedNumber(article);
      if (cited === null) continue;
      const key = placeKey({ law: lawKey(article.law_name), article: cited });
      if (!found.has(key)) found.set(key, article);
    }
    return found;
  }

  async anyArticle(law: string): Promise<StoredArticle | undefined> {
    const page = { offset: 0, limit: 1 };
    const found = await this.#index.search(this.#laws, { query: { term: lawTerm(law) } }, page);
    return found?.hits[0]?.body.parse() as StoredArticle | undefined;
  }

  async numbers(law: string) {
    const prefix = articleTerm(law, { number: 0, sub: null }).replace(/0\|$/, "");
    const terms = await this.#index.terms(this.#laws, prefix);
    return terms.map((term) => {
      const [number, sub] = term.slice(prefix.length).split("|");
      return { number: Number(number), sub: sub ? Number(sub) : null };
    });
  }

  withWords(law: string, words: string): Promise<readonly StoredArticle[]> {
    return this.#search(words, [{ term: lawTerm(law) }]);
  }

  anywhere(words: string): Promise<readonly StoredArticle[]> {
    return this.#search(words, []);
  }

  async #search(words: string, filters: readonly Query[]): Promise<readonly StoredArticle[]> {
    const question = {
      filters,
      alternatives: [words],
      phrases: [],
      without: [],
    };
    const found = await searchText(this.#index, this.#laws, question, { offset: 0, limit: 3 });
    return found === undefined || found === "no_words"
      ? []
      : found.hits.map(({ body }) => body.parse() as StoredArticle);
  }

  async judgments(caseNumbers: readonly string[]): Promise<Map<string, HeldJudgment>> {
    const terms = [...new Set(caseNumbers.map(caseNumberTerm))];
    const found = await this.#index.search(
      this.#judgments,
      { query: { any: terms.map((term) => ({ term })) } },
      // A generated judgment does not confirm that a real one exists.
      { offset: 0, limit: 2 * terms.length, datasets: { without: legalIndexFill.dataset } },
    );
    const byTerm = new Map<string, HeldJudgment>();
    for (const { body } of found?.hits ?? []) {
      const judgment = body.parse() as HeldJudgment & { readonly case_no: string | null };
      if (judgment.case_no !== null) byTerm.set(caseNumberTerm(judgment.case_no), judgment);
    }
    return new Map(
      caseNumbers.flatMap((written) => {
        const judgment = byTerm.get(caseNumberTerm(written));
        return judgment === undefined ? [] : [[written, judgment] as const];
      }),
    );
  }
}
