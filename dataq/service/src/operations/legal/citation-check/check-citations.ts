import { setImmediate as breathe } from "node:timers/promises";
import type { Provenance } from "@dataq/contract";
import { chinaDate } from "@dataq/contract";
import type { ArticleVersion, StoredArticle } from "../laws/corpus.ts";
import { articleRecord, placeAt, sinceOf } from "../laws/record.ts";
import { basisOf, inForceOn, lawStatus, repealBasis, sinceBasis } from "../laws/status.ts";
import { writeNumber } from "../question/chinese-number.ts";
import type { ArticleNumber } from "../question/law-reference.ts";
import { hasItem, paragraphsOf, withItem } from "./article-parts.ts";
import { agrees, type Budget, differences, fitOf, type Piece, type Words, wordsOf } from "./compare.ts";
import type { FoundCitation } from "./find-citations.ts";
import { type HeldTexts, placeKey } from "./held-texts.ts";
import type { LawRegister } from "./law-register.ts";
import { likeness } from "./likeness.ts";
import type { PlainText } from "./plain-text.ts";
import { type FoundQuotation, findQuotations } from "./quotations.ts";
import { contradiction } from "./retold.ts";
import { type Part, saidAfter, saidIn, sentenceAround } from "./sentences.ts";

/** What citations are checked against. */
export interface Checking {
  readonly plain: PlainText;
  readonly citations: readonly FoundCitation[];
  readonly register: LawRegister;
  readonly held: HeldTexts;
  /** YYYY-MM-DD */
  readonly date: string;
  readonly now: Date;
  readonly signal?: AbortSignal;
}

/** A record for each citation, in the order of the text. Other calls are served between the citations. */
export async function checkCitations(checking: Checking) {
  const { citations, held, register, plain } = checking;
  const places = citations.flatMap(({ law, place }) =>
    law?.key && place !== null && register.isHeld(law.key) ? [{ law: law.key, article: place.article }] : [],
  );
  const articles = await held.articles(places);
  const caseNumbers = citations.flatMap(({ caseNumber }) => caseNumber ?? []);
  const judgments = caseNumbers.length === 0 ? new Map() : await held.judgments(caseNumbers);
  const check = new Check(checking, articles);
  const records: CitationRecord[] = [];
  for (const [index, citation] of citations.entries()) {
    if (index % atOnce === atOnce - 1) await breathe();
    checking.signal?.throwIfAborted();
    const span = plain.span(citation.from, citation.to);
    const fields =
      citation.caseNumber === null
        ? await check.ofLaw(citation)
        : ofJudgment(judgments.get(citation.caseNumber), citation.caseNumber, held.source);
    records.push({ id: String(index + 1), ...span, cited: plain.written(span), ...fields });
  }
  await check.quotations(findQuotations(plain, citations), records);
  await check.sentences(records);
  return records.map((record) => withProblems(record, isWordOfAnother(record, records)));
}

/** Whether a citation stands in words that are those of an article, so that the article cites it and not the writer. */
function isWordOfAnother({ start, end }: CitationRecord, records: readonly CitationRecord[]): boolean {
  return records.some((other) =>
    other.quotations.some((each) => each.agrees === true && each.start <= start && end <= each.end),
  );
}

/** Citations that are checked without a break. */
const atOnce = 8;

type Verdict =
  | "exists"
  | "no_such_article"
  | "no_such_paragraph"
  | "no_such_item"
  | "unknown_law"
  | "not_held"
  | "version_not_held"
  | "unresolved";

interface Fields {
  kind: "article" | "law" | "case";
  law_name: string | null;
  law_as_written: string | null;
  article_no: string | null;
  paragraph: number | null;
  item: number | null;
  as_of: string | null;
  case_no: string | null;
  verdict: Verdict;
  in_force: boolean | null;
  status: "in_force" | "amended" | "repealed" | "not_yet_effective" | "unknown" | null;
  status_text: string | null;
  status_basis: string | null;
  status_basis_zh: string | null;
  effective_date: string | null;
  expired_date: string | null;
  replaced_by: string | null;
  version_date: string | null;
  content: string | null;
  quotations: Quotation[];
  nearest: Nearest | null;
  fits_article: Nearest | null;
  judgment: { id: string; title: string; court_name: string; judgment_date: string | null } | null;
  source: Provenance;
}

interface Nearest {
  readonly law_name: string;
  readonly article_no: string | null;
  readonly content: string | null;
}

type CitationRecord = Fields & {
  id: string;
  start: number;
  end: number;
  start_utf16: number;
  end_utf16: number;
  cited: string;
};

interface Quotation {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly start_utf16: number;
  readonly end_utf16: number;
  readonly marked: boolean;
  readonly agrees: boolean | null;
  readonly differences: readonly { readonly kind: "same" | "added" | "missing"; readonly text: string }[];
  readonly agrees_with_version: string | null;
  readonly found_in: {
    readonly law_name: string;
    readonly article_no: string | null;
    readonly paragraph: number | null;
  } | null;
}

/** The problems of a record follow from its other fields. What an article cites itself is no mistake of who quotes it. */
function withProblems(record: CitationRecord, isQuoted: boolean) {
  const { verdict, in_force: inForce, quotations, source, ...rest } = record;
  const isMissing = /^(?:no_such|unknown_law)/.test(verdict);
  const problems = [
    ...(isMissing && !isQuoted ? [verdict] : []),
    ...(inForce === false && !isQuoted ? ["not_in_force"] : []),
    ...(quotations.some((each) => each.agrees === false) ? ["quotation_differs"] : []),
    ...(record.fits_article === null ? [] : ["fits_other_article"]),
  ];
  return { ...rest, verdict, in_force: inForce, quotations, problems, source };
}

class Check {
  readonly #checking: Checking;
  readonly #articles: ReadonlyMap<string, StoredArticle>;
  readonly #anyArticle = new Map<string, StoredArticle | undefined>();
  readonly #numbers = new Map<string, readonly ArticleNumber[]>();
  readonly #nearest = new Map<string, string | undefined>();
  readonly #words = new Map<string, Words>();
  readonly #budget: Budget = { cells: mostCells };
  #searches = 0;
  #sentenceSearches = 0;
  #otherSearches = 0;
  /** Checked articles by law and number as records name them. */
  readonly #checked = new Map<string, StoredArticle>();

  constructor(checking: Checking, articles: ReadonlyMap<string, StoredArticle>) {
    this.#checking = checking;
    this.#articles = articles;
  }

  async ofLaw(citation: FoundCitation): Promise<Fields> {
    const { register, held } = this.#checking;
    const { law, place } = citation;
    const key = law?.key ?? null;
    const fields: Fields = {
      ...nothing,
      kind: place === null ? "law" : "article",
      law_name: key,
      law_as_written: law?.written ?? null,
      article_no: place === null ? null : writeArticle(place.article),
      paragraph: place?.paragraph ?? null,
      item: place?.item ?? null,
      as_of: law?.version?.words ?? null,
      verdict: "unresolved",
      quotations: [],
      source: held.source,
    };
    if (key === null) return fields;
    if (!register.isHeld(key)) return this.#notHeld(key, fields);
    const any = await this.#any(key);
    if (any === undefined) return { ...fields, verdict: "not_held" };
    const ofLaw = this.#lawFields(any, fields, law?.version?.point);
    if (place === null) return ofLaw;
    const article = this.#articles.get(placeKey({ law: key, article: place.article }));
    if (article === undefined && (await this.#numbersOf(key)).length === 0)
      // The text is in the data, but its parts have no numbers.
      return { ...ofLaw, verdict: "not_held", in_force: null };
    if (article === undefined)
      return {
        ...ofLaw,
        ...(ofLaw.status === "in_force" && noState),
        verdict: ofLaw.verdict === "version_not_held" ? "version_not_held" : "no_such_article",
        version_date: null,
        nearest: await this.#nearestArticle(key, place.article),
      };
    const read = this.#articleFields(article, citation, fields);
    this.#checked.set(`${read.law_name}|${read.article_no}`, article);
    return read;
  }

  /** A law whose text is not in the data, or that does not exist. */
  #notHeld(key: string, fields: Fields): Fields {
    const { register, date } = this.#checking;
    const known = register.known(key);
    if (known?.repealed !== undefined) {
      const isOver = known.repealed.date <= date;
      return {
        ...fields,
        verdict: "not_held",
        in_force: isOver ? false : null,
        status: isOver ? "repealed" : "unknown",
        status_text: isOver ? `已于${known.repealed.date}废止` : null,
        ...basisOf(repealBasis(known.repealed.date, known.repealed.by)),
        expired_date: known.repealed.date,
        replaced_by: known.repealed.by,
      };
    }
    if (known !== undefined || !isClosedKind(key)) return { ...fields, verdict: "not_held" };
    let near = this.#nearest.get(key);
    if (!this.#nearest.has(key) && this.#nearest.size < mostNearNames) {
      near = register.nearest(key);
      this.#nearest.set(key, near);
    }
    return {
      ...fields,
      verdict: "unknown_law",
      nearest: near === undefined ? null : { law_name: near, article_no: null, content: null },
    };
  }

  #lawFields(any: StoredArticle, fields: Fields, point: string | undefined): Fields {
    const { date, now } = this.#checking;
    const place = point === undefined ? inForceOn(any.versions, date) : versionPlace(any, point, now);
    const facts = any.versions[place ?? 0] as ArticleVersion;
    const common = { ...fields, law_name: facts.law_name, source: facts.source };
    if (place === undefined || isBeforeHeld(any, place, date, facts.effective_date))
      return { ...common, verdict: "version_not_held", status: "unknown" };
    const { status, status_text, status_basis, status_basis_zh } = lawStatus(any, date, place);
    const isOver = status === "repealed";
    return {
      ...common,
      verdict: "exists",
      status,
      status_text: status === "in_force" && date < chinaDate(now) ? "当时有效" : status_text,
      status_basis,
      status_basis_zh,
      in_force: inForceOf(status),
      effective_date: facts.effective_date,
      expired_date: isOver ? (any.repealed?.date ?? null) : null,
      replaced_by: isOver ? (any.repealed?.by ?? null) : null,
      version_date: facts.version_date,
    };
  }

  #articleFields(article: StoredArticle, citation: FoundCitation, fields: Fields): Fields {
    const { date, now } = this.#checking;
    const onDate = new Date(`${date}T12:00:00+08:00`);
    const point = citation.law?.version?.point;
    const asOf = point === undefined ? undefined : placeAt(article, point, now);
    const common = { ...fields, law_name: article.law_name };
    if (point !== undefined && asOf === undefined)
      return { ...common, verdict: "version_not_held", status: "unknown", source: sourceOf(article) };
    const version =
      asOf === undefined ? undefined : { place: asOf, words: citation.law?.version?.words ?? "" };
    const record = articleRecord(article, onDate, version);
    const place = asOf ?? inForceOn(article.versions, date);
    const shown = article.versions[place] as ArticleVersion;
    const isFuture =
      shown.content === null &&
      article.versions.slice(0, place).every(({ content }) => content === null) &&
      article.versions.some(({ content }) => content !== null);
    const common2 = { ...common, law_name: record.law_name, source: record.source };
    if (asOf === undefined && !isFuture && isBeforeHeld(article, place, date, sinceOf(shown)))
      return { ...common2, verdict: "version_not_held", status: "unknown" };
    if (asOf !== undefined && shown.content === null)
      return { ...common2, verdict: "no_such_article", version_date: shown.version_date };
    const status = isFuture ? "not_yet_effective" : record.status;
    const { status_basis, status_basis_zh } = record;
    const isThen = status === "in_force" && date < chinaDate(now);
    const isRepealed = status === "repealed";
    const text = shown.content ?? record.content;
    return {
      ...common2,
      verdict: partVerdict(text, fields),
      status,
      status_text: isFuture ? "当时尚无本条" : isThen ? "当时有效" : record.status_text,
      ...(isFuture ? basisOf(sinceBasis(firstDay(article))) : { status_basis, status_basis_zh }),
      in_force: inForceOf(status, asOf !== undefined, shown),
      effective_date: isFuture ? firstDay(article) : record.effective_date,
      expired_date: record.expired_date,
      replaced_by: isRepealed ? (article.repealed?.by ?? null) : (shown.moved_to ?? null),
      version_date: record.version_date,
      content: text === "" ? null : text,
    };
  }

  /** The quotations of the records, each with the citation that it fits best. */
  async quotations(found: readonly FoundQuotation[], records: readonly CitationRecord[]): Promise<void> {
    for (const [index, quotation] of found.entries()) {
      if (index % atOnce === atOnce - 1) await breathe();
      this.#checking.signal?.throwIfAborted();
      const cited = quotation.citations.map((place) => records[place] as CitationRecord);
      const own =
        cited.find((record) => this.#agreesWith(quotation, record)) ?? (cited.at(-1) as CitationRecord);
      const read = await this.#quotation(quotation, own);
      if (read !== undefined) own.quotations.push(read);
    }
  }

  #agreesWith({ from, to, isMarked }: FoundQuotation, record: CitationRecord): boolean {
    const target = this.#target(record);
    const { text } = this.#checking.plain;
    const end = isMarked ? to : sentenceEnd(text, from, to);
    return target !== undefined && agrees(text.slice(from, end), target);
  }

  /** The words that a quotation of this citation must match: those of the paragraph, if one is cited. */
  #target({ content, paragraph }: CitationRecord): Words | undefined {
    if (content === null) return undefined;
    return this.#wordsOf(paragraphsOf(content)[(paragraph ?? 0) - 1] ?? content);
  }

  #wordsOf(text: string): Words {
    const known = this.#words.get(text);
    if (known !== undefined) return known;
    const words = wordsOf(text);
    this.#words.set(text, words);
    return words;
  }

  async #quotation(found: FoundQuotation, record: CitationRecord): Promise<Quotation | undefined> {
    const { plain } = this.#checking;
    const target = this.#target(record);
    const range = found.isMarked ? found : target && (await this.#unmarkedRange(found, target, record));
    if (range === undefined) return undefined;
    const from =
      range.from + (articleHeading.exec(plain.text.slice(range.from, range.from + 60))?.[0].length ?? 0);
    const text = plain.text.slice(from, range.to);
    const mine = wordsOf(text);
    if (mine.units.length === 0) return undefined;
    const span = plain.span(from, range.to);
    const base = {
      text: plain.written(span),
      ...span,
      marked: found.isMarked,
      differences: [],
      agrees_with_version: null,
      found_in: null,
    };
    const isLong = mine.units.length >= shortestSentence;
    if (target === undefined) {
      if (!found.isIntroduced || !isLong || record.kind === "case") return undefined;
      const isMissing = record.verdict === "no_such_article";
      const elsewhere = isMissing ? await this.#foundElsewhere(text, mine, record) : undefined;
      return elsewhere === undefined
        ? { ...base, agrees: null }
        : { ...base, agrees: false, found_in: elsewhere };
    }
    if (agrees(text, target)) return { ...base, agrees: true };
    const { pieces, similarity } = differences(mine, target, this.#budget);
    const least = found.isIntroduced && isLong ? 0 : leastSimilarity;
    const version = this.#otherVersion(text, record);
    // A term is shorter than a sentence that stands in another article.
    const isSentence = found.isIntroduced ? isLong : mine.units.length >= shortestElsewhere;
    const elsewhere = isSentence ? await this.#foundElsewhere(text, mine, record) : undefined;
    if (similarity < least && version === null && elsewhere === undefined) return undefined;
    // Without quotation marks a writer may shorten, but not say something else.
    const isShortened =
      !found.isMarked &&
      version === null &&
      elsewhere === undefined &&
      !hasOtherNumber({ pieces, similarity }) &&
      contradiction(mine, target, this.#budget) === undefined;
    if (isShortened) return undefined;
    return {
      ...base,
      agrees: false,
      differences: elsewhere === undefined ? pieces : [],
      agrees_with_version: version,
      found_in: elsewhere ?? null,
    };
  }

  /** Sentences without quotation marks that nearly match the article. */
  async #unmarkedRange(
    { from, to, isIndirect }: FoundQuotation,
    target: Words,
    record: CitationRecord,
  ): Promise<{ from: number; to: number } | undefined> {
    const { text } = this.#checking.plain;
    let end = from;
    let length = 0;
    while (end < to) {
      const stop = sentenceEnd(text, end, to);
      const sentence = text.slice(end, stop);
      const mine = wordsOf(sentence);
      const isSame =
        agrees(sentence, target) ||
        (isIndirect === true
          ? hasOtherNumber(differences(mine, target, this.#budget))
          : differences(mine, target, this.#budget).similarity >= leastUnmarked);
      if (!isSame) break;
      length += mine.units.length;
      end = stop;
    }
    if (length >= shortestUnmarked) return { from, to: end };
    if (isIndirect === true || end > from) return undefined;
    // Words of another article or version are a quotation too.
    const stop = sentenceEnd(text, from, to);
    const sentence = text.slice(from, stop);
    const mine = wordsOf(sentence);
    if (mine.units.length < shortestElsewhere) return undefined;
    const isOther =
      this.#otherVersion(sentence, record) !== null ||
      (await this.#foundElsewhere(sentence, mine, record)) !== undefined;
    return isOther ? { from, to: stop } : undefined;
  }

  /** The date of another version of the article that a sentence in other words does not contradict. */
  #versionThatSays(said: Words, record: CitationRecord): string | null {
    const article = this.#checked.get(`${record.law_name}|${record.article_no}`);
    const own = fitOf(said, this.#wordsOf(record.content ?? "")).share;
    const other = article?.versions.findLast(({ content, version_date: day }) => {
      if (content === null || day === record.version_date) return false;
      const words = this.#wordsOf(content);
      return fitOf(said, words).share > own && contradiction(said, words, this.#budget) === undefined;
    });
    return other?.version_date ?? null;
  }

  /** The date of another version of the article that has these words. */
  #otherVersion(text: string, record: CitationRecord): string | null {
    const article = this.#checked.get(`${record.law_name}|${record.article_no}`);
    const other = article?.versions.findLast(
      ({ content, version_date: day }) =>
        content !== null && day !== record.version_date && agrees(text, this.#wordsOf(content)),
    );
    return other?.version_date ?? null;
  }

  /** Another paragraph or article of the law that has these words. */
  async #foundElsewhere(
    text: string,
    mine: Words,
    record: CitationRecord,
  ): Promise<Quotation["found_in"] | undefined> {
    const { held, register, date } = this.#checking;
    const { content, law_name: name, article_no } = record;
    if (name === null) return undefined;
    if (content !== null && agrees(text, this.#wordsOf(content))) {
      const place = paragraphsOf(content).findIndex((each) => agrees(text, this.#wordsOf(each)));
      return { law_name: name, article_no, paragraph: place === -1 ? null : place + 1 };
    }
    const key = register.keyOf(name);
    if (this.#searches >= mostSearches) return undefined;
    this.#searches++;
    for (const article of await held.withWords(key, mine.units.slice(0, longestSearch))) {
      const version = article.versions[inForceOn(article.versions, date)];
      if (version?.content == null || !agrees(text, this.#wordsOf(version.content))) continue;
      if (record.verdict === "no_such_article")
        record.nearest = {
          law_name: article.law_name,
          article_no: article.article_no,
          content: version.content,
        };
      return { law_name: article.law_name, article_no: article.article_no, paragraph: null };
    }
    return undefined;
  }

  /**
   * Old numbering without a quotation: the sentence has the words of another article of the law in force, and not those
   * of the cited one.
   */
  async sentences(records: readonly CitationRecord[]): Promise<void> {
    const { plain, citations, signal } = this.#checking;
    for (const [index, record] of records.entries()) {
      if (index % atOnce === atOnce - 1) await breathe();
      signal?.throwIfAborted();
      // Words that agree may be a part of the sentence; the rest is compared too.
      const isQuoted = record.quotations.some(({ marked, agrees: does }) => marked || does !== true);
      const { law_name: law } = record;
      const { place } = citations[index] as FoundCitation;
      if (law === null || place === null || record.as_of !== null || isQuoted) continue;
      if (!/^(?:exists|no_such_(?:article|paragraph|item))$/.test(record.verdict)) continue;
      const parts = sentenceAround(plain, citations, index);
      if (parts === undefined) continue;
      const said = wordsOf(saidIn(plain, parts));
      if (record.quotations.length === 0)
        record.fits_article =
          (await this.#fittingArticle(said, record, law)) ??
          (await this.#sameNumber(said, record, law, place.article)) ??
          (await this.#otherLaw(parts, record, law));
      if (record.fits_article !== null) continue;
      const after = saidAfter(plain, citations, index);
      record.quotations.push(...this.#contradicting([...parts, ...after], record));
    }
  }

  /** The article of this number in another law of a similar name, if it has the words and the cited one has not. */
  async #sameNumber(
    said: Words,
    { content }: CitationRecord,
    name: string,
    number: ArticleNumber,
  ): Promise<Nearest | null> {
    const { held, register, date } = this.#checking;
    if (said.units.length < shortestFitting) return null;
    if (content !== null && fitOf(said, this.#wordsOf(content), leastRunOfOwn).share > mostOwnShare)
      return null;
    const places = register.alike(register.keyOf(name)).map((law) => ({ law, article: number }));
    if (places.length === 0 || this.#sentenceSearches >= mostSentenceSearches) return null;
    this.#sentenceSearches++;
    for (const article of (await held.articles(places)).values()) {
      const text = article.versions[inForceOn(article.versions, date)]?.content;
      if (text == null) continue;
      const { share, length, longest } = fitOf(said, this.#wordsOf(text));
      if (share < leastShareOfOther || length < shortestFitting || longest < longestRunOfFitting) continue;
      return { law_name: article.law_name, article_no: article.article_no, content: text };
    }
    return null;
  }

  /** An article of another law that has the words of a part of the sentence, of which the cited one has hardly any. */
  async #otherLaw(
    parts: readonly Part[],
    { content, verdict }: CitationRecord,
    name: string,
  ): Promise<Nearest | null> {
    const { held, register, plain, date } = this.#checking;
    if (content === null || verdict !== "exists") return null;
    const own = this.#wordsOf(content);
    const said = wordsOf(saidIn(plain, parts));
    if (likeness(said.units, own.units) > mostLikeness) return null;
    for (const { from, to } of parts) {
      const mine = wordsOf(plain.text.slice(from, to));
      // Only what the citation itself is said to rule: 第三十五条关于……的规定, 第三十五条规定,…….
      if (!/^(?:关于|有关|中)?.*(?:不得|应当|可以|有权|禁止|必须|视为)/.test(mine.units)) continue;
      if (!ruled.test(plain.text.slice(Math.max(0, from - 4), to))) continue;
      if (mine.units.length < shortestOfOtherLaw || this.#otherSearches >= mostOtherSearches) continue;
      this.#otherSearches++;
      for (const article of await held.anywhere(mine.units.slice(0, longestSearch))) {
        if (register.keyOf(article.law_name) === register.keyOf(name)) continue;
        const text = article.versions[inForceOn(article.versions, date)]?.content;
        if (text == null || article.repealed !== undefined || !isClosedKind(register.keyOf(article.law_name)))
          continue;
        const { share, longest } = fitOf(mine, this.#wordsOf(text));
        if (share < leastShareOfOther || longest < longestRunOfOtherLaw) continue;
        return { law_name: article.law_name, article_no: article.article_no, content: text };
      }
    }
    return null;
  }

  /** The first part of a sentence that contradicts the article which it tells in its own words. */
  #contradicting(parts: readonly Part[], record: CitationRecord): Quotation[] {
    const { plain } = this.#checking;
    const cited = this.#target(record);
    if (cited === undefined || record.verdict !== "exists") return [];
    // An item of exceptions turns the words that lead to it.
    if (record.item !== null && /情形之一的?除外/.test(cited.text)) return [];
    const target = record.item === null ? cited : this.#wordsOf(withItem(cited.text, record.item));
    // A rule may be told on both sides of its citation: 诉讼时效期间,《…》第四十五条规定为三年.
    for (const each of [...parts.map((part) => [part]), ...(parts.length > 1 ? [parts] : [])]) {
      const mine = wordsOf(saidIn(plain, each));
      const pieces = contradiction(mine, target, this.#budget);
      if (pieces === undefined) continue;
      const span = plain.span((each[0] as Part).from, (each.at(-1) as Part).to);
      const text = plain.written(span);
      const agrees_with_version = this.#versionThatSays(mine, record);
      const rest = { marked: false, agrees: false, agrees_with_version, found_in: null };
      return [{ text, ...span, ...rest, differences: pieces }];
    }
    return [];
  }

  async #fittingArticle(said: Words, record: CitationRecord, name: string): Promise<Nearest | null> {
    const { held, register, date } = this.#checking;
    const { content } = record;
    if (said.units.length < shortestWhole) return null;
    const own = content === null ? 0 : fitOf(said, this.#wordsOf(content), leastRunOfOwn).share;
    const key = register.keyOf(name);
    if (own > mostOwnShareBesideWhole || this.#sentenceSearches >= mostSentenceSearches) return null;
    this.#sentenceSearches++;
    const fitting: {
      readonly place: Nearest;
      readonly number: number;
      readonly share: number;
      readonly wasCited: boolean;
    }[] = [];
    for (const article of await held.withWords(key, said.units.slice(0, longestSearch))) {
      const version = article.versions[inForceOn(article.versions, date)];
      if (version?.content == null || article.article_no === record.article_no) continue;
      const { share, length, longest } = fitOf(said, this.#wordsOf(version.content));
      // A sentence of this article, which refers to the cited one: 依照本法第二百六十四条的规定定罪处罚.
      if (version.content.includes(record.article_no ?? "")) {
        if (share >= leastShareOfOld) return null;
        continue;
      }
      // The article had the cited number before: less of the sentence is enough.
      const wasCited = article.versions.some(({ former_no }) => former_no === record.article_no);
      const leastOfAny = own === 0 ? leastShareOfLong : leastShare;
      const least = wasCited ? leastShareOfOld : longest >= longRun ? leastShareOfLong : leastOfAny;
      const isLike =
        likeness(said.units, version.content) >= leastLikenessOfFitting &&
        (content === null || likeness(said.units, content) <= mostLikenessBesideFitting) &&
        longest >= longestRunOfFitting;
      const isWhole = share >= leastShareOfTwo && share - own >= leastAhead;
      if (!isWhole && !isLike && (own > mostOwnShare || share < least || length < shortestFitting)) continue;
      if (longest < longestRunOfFitting) continue;
      const place = { law_name: article.law_name, article_no: article.article_no, content: version.content };
      fitting.push({ place, number: article.article?.number ?? 0, share, wasCited });
    }
    const old = fitting.find(({ wasCited }) => wasCited);
    // Two articles may say the same, of the two kinds of companies for example: then the one that says more of the
    // sentence is named, or else the first of the law. More of them say too little.
    const [best, second, third] = fitting
      .sort((a, b) => b.share - a.share || a.number - b.number)
      .filter(({ share }, _, [first]) => share >= leastShare || (first?.share ?? 0) < leastShare);
    const isClear = second === undefined || (third === undefined && second.share >= leastShareOfTwo);
    if (old === undefined && !isClear) return null;
    return (old ?? best)?.place ?? null;
  }

  async #nearestArticle(key: string, { number, sub }: ArticleNumber): Promise<Nearest | null> {
    const numbers = await this.#numbersOf(key);
    const distance = (other: ArticleNumber) =>
      Math.abs(other.number - number) * 100 + Math.abs((other.sub ?? 0) - (sub ?? 0));
    let best: ArticleNumber | undefined;
    for (const each of numbers) if (best === undefined || distance(each) < distance(best)) best = each;
    if (best === undefined) return null;
    const place = { law: key, article: best };
    const article = (await this.#checking.held.articles([place])).get(placeKey(place));
    if (article === undefined) return null;
    const version = article.versions[inForceOn(article.versions, this.#checking.date)];
    return {
      law_name: article.law_name,
      article_no: article.article_no,
      content: version?.content ?? null,
    };
  }

  async #numbersOf(key: string): Promise<readonly ArticleNumber[]> {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const numbers = await this.#checking.held.numbers(key);
    this.#numbers.set(key, numbers);
    return numbers;
  }

  async #any(key: string): Promise<StoredArticle | undefined> {
    if (!this.#anyArticle.has(key)) this.#anyArticle.set(key, await this.#checking.held.anyArticle(key));
    return this.#anyArticle.get(key);
  }
}

const nothing = {
  article_no: null,
  paragraph: null,
  item: null,
  as_of: null,
  case_no: null,
  law_name: null,
  law_as_written: null,
  in_force: null,
  status: null,
  status_text: null,
  status_basis: null,
  status_basis_zh: null,
  effective_date: null,
  expired_date: null,
  replaced_by: null,
  version_date: null,
  content: null,
  nearest: null,
  fits_article: null,
  judgment: null,
} as const;

/** An article that does not exist is not in force, even if its law is. */
const noState = {
  in_force: null,
  status: null,
  status_text: null,
  status_basis: null,
  status_basis_zh: null,
  effective_date: null,
} as const;

const mostCells = 4_000_000;
const mostNearNames = 100;
const mostSearches = 60;
const longestSearch = 60;
const mostSentenceSearches = 100;
/** A sentence tells which article it means only if it has this much of the article's own words. */
const shortestFitting = 12;
const longestRunOfFitting = 8;
const leastShare = 0.85;
const leastShareOfOld = 0.5;
const leastShareOfOther = 0.6;
/** A cited article that is so unlike the sentence is not what it tells. */
const mostLikeness = 0.15;
const leastLikenessOfFitting = 0.65;
const mostLikenessBesideFitting = 0.25;
const shortestOfOtherLaw = 14;
const mostOtherSearches = 20;
/** The words are told as those of the citation. */
const ruled = /^[^。;]{0,4}规定|^.{0,4}(?:关于|有关).*(?:规定|禁令|要求|限制)/;
const longestRunOfOtherLaw = 11;
/** A sentence with so many characters in a row may have more words of its own. */
const longRun = 19;
const leastShareOfLong = 0.8;
/** Two articles that say the same must say nearly all of the sentence. */
const leastShareOfTwo = 0.95;
/** Shorter runs are terms that many articles of a law have. */
const leastRunOfOwn = 6;
/** A sentence with more of the cited article's words is about this article. */
const mostOwnShare = 0.25;
/** Unless another article has all of the sentence, and so much more of it than this one. */
const mostOwnShareBesideWhole = 0.5;
const leastAhead = 0.45;
const shortestWhole = 10;
/** Shorter quotations may be terms. */
const shortestSentence = 8;
const shortestUnmarked = 12;
const shortestElsewhere = 16;
const leastSimilarity = 0.6;
const leastUnmarked = 0.75;
const leastWithOtherNumber = 0.8;
/** Quotations often start with the article's number and its title. */
const articleHeading =
  /^(?:第[零〇一二两三四五六七八九十百千0-9]{1,9}条(?:之[一二三四五六七八九十]{1,3})?)?(?:【[^】]{1,30}】)?[:,]?/;

/**
 * Laws are only made by the state, so one that is not in the list of national laws is unknown. Regulations are also made
 * by provinces and cities.
 */
function isClosedKind(key: string): boolean {
  if (foreign.test(key)) return false;
  if (/(?<!办)法$|法典$|[通总]则$/.test(key)) return true;
  return key.endsWith("条例") && !local.test(key);
}

const foreign = /^(?:香港|澳门|台湾|日本|韩国|德国|法国|美国|英国|俄罗斯|新加坡|欧盟)/;
const local =
  /^(?:北京|天津|上海|重庆|河北|山西|辽宁|吉林|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南|四川|贵州|云南|陕西|甘肃|青海|内蒙古|广西|西藏|宁夏|新疆|深圳|珠海|厦门|汕头)|省|市(?!场|政)|县|自治|(?<!社)区|州|盟|旗/;

function ofJudgment(
  judgment:
    | { id: string; title: string; court_name: string; judgment_date: string | null; source: Provenance }
    | undefined,
  caseNumber: string,
  registerSource: Provenance,
): Fields {
  const fields: Fields = {
    ...nothing,
    kind: "case",
    case_no: caseNumber,
    verdict: "not_held",
    quotations: [],
    source: registerSource,
  };
  if (judgment === undefined) return fields;
  const { id, title, court_name, judgment_date, source } = judgment;
  return { ...fields, verdict: "exists", judgment: { id, title, court_name, judgment_date }, source };
}

/** Whether an article has the cited paragraph and item. */
function partVerdict(content: string, { paragraph, item }: Pick<Fields, "paragraph" | "item">): Verdict {
  const part = paragraph === null ? content : paragraphsOf(content)[paragraph - 1];
  if (part === undefined) return "no_such_paragraph";
  return item === null || hasItem(part, item) ? "exists" : "no_such_item";
}

function inForceOf(status: Fields["status"], isOlder = false, version?: ArticleVersion): boolean | null {
  if (status === "in_force") return true;
  if (status === "repealed" || status === "not_yet_effective") return false;
  return status === "amended" && (isOlder || version?.moved_to !== undefined) ? false : null;
}

/** Whether the date is before the oldest version held of a law that is older than that. */
function isBeforeHeld(article: StoredArticle, place: number, date: string, since: string | null): boolean {
  const change = article.versions[0]?.change;
  const isOldest = change !== "original" && change !== undefined && change !== "added";
  return place === 0 && isOldest && since !== null && date < since;
}

function versionPlace(article: StoredArticle, point: string, now: Date): number | undefined {
  return point > chinaDate(now) ? undefined : placeAt(article, point, now);
}

function firstDay({ versions }: StoredArticle): string | null {
  return versions.find(({ content }) => content !== null)?.effective_date ?? null;
}

function sourceOf({ versions }: StoredArticle): Provenance {
  return (versions.at(-1) as ArticleVersion).source;
}

/** Whether words are nearly those of the article, but for a number: 三百万元 for 五百万元. */
function hasOtherNumber({ pieces, similarity }: ReturnType<typeof differences>): boolean {
  if (similarity < leastWithOtherNumber) return false;
  const isNumber = (piece: Piece | undefined) =>
    piece !== undefined &&
    piece.kind !== "same" &&
    /^[零〇一二两三四五六七八九十百千万亿0-9]+$/.test(piece.text);
  return pieces.some((piece, place) => {
    if (!isNumber(piece)) return false;
    const next = pieces[place + 1];
    if (piece?.text.replace("两", "二") === next?.text.replace("两", "二")) return false;
    return isNumber(next) || /^[十百千万亿]/.test(next?.text ?? "");
  });
}

function sentenceEnd(text: string, from: number, to: number): number {
  for (let at = from; at < to; at++) if (/[。;；]/.test(text[at] as string)) return at + 1;
  return to;
}

function writeArticle({ number, sub }: ArticleNumber): string {
  return `第${writeNumber(number)}条${sub === null ? "" : `之${writeNumber(sub)}`}`;
}
