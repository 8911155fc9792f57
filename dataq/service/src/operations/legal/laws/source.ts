import { invalid, type Params, type Warning, warning } from "@dataq/contract";
import type { Query, SearchIndex } from "../../../search/search-index.ts";
import type { ReadQuestion, Searching } from "../../../sources/search-source.ts";
import { readArticles } from "../question/article-list.ts";
import { inChinese } from "../question/foreign-names.ts";
import { type ArticleNumber, readArticleValue } from "../question/law-reference.ts";
import { type LawVersionYear, readLawVersionYear } from "../question/law-version-year.ts";
import { articleMeanings, asksNothing, commonLaws } from "../question/meanings.ts";
import type { LawNames, NamedLaws } from "../question/named-laws.ts";
import { listedTitle, unheldSources } from "../unheld/unheld-sources.ts";
import { articleTerm, lawTerm, lawYearTerm, type StoredArticle } from "./corpus.ts";
import { endedBy } from "./ended-law.ts";
import { lawNames } from "./held-names.ts";
import { missingOf, noSuchArticle } from "./missing-article.ts";
import { articleRecord, placeAt, versionAt } from "./record.ts";

/** Articles by reference, or else by words. */
export const laws: Searching = {
  read,
  render: (body, now) => articleRecord(body as StoredArticle, now),
  text: (body) => textOf(body as StoredArticle),
};

/** What the filters of a question name. */
interface Given extends Omit<NamedLaws, "rest"> {
  readonly article: ArticleNumber | undefined;
}

async function read(params: Params, index: SearchIndex, corpus: string, now: Date): Promise<ReadQuestion> {
  const { query = "", law, article, year } = params;
  if (law === undefined && article === undefined && year === undefined)
    return readQuery(query, [], index, corpus, now, []);
  const names = await lawNames(index, corpus);
  const given: Given = {
    ...(law === undefined ? { laws: [] } : names.read(inChinese(law))),
    article: article === undefined ? undefined : readArticleValue(article),
  };
  const articles = given.article === undefined ? [] : [given.article];
  if (given.notHeld !== undefined) return inSuccessor(given.notHeld, articles, query, [], names, now);
  const found =
    year === undefined
      ? await readQuery(
          query,
          [lawOf(given.laws, articles)],
          index,
          corpus,
          now,
          articles.length > 0 ? [] : given.laws,
        )
      : await readYear(year, query, given, names, index, corpus, now);
  const notHeld =
    found.notHeld ??
    (articles.length > 0 ? () => noSuchArticle(given.laws, articles, index, corpus) : undefined);
  const isOfOther = found.warnings.some(({ code }) => code === "law_replaced_searched");
  const ended = isOfOther ? [] : toldOf(given.laws, names, now);
  return { ...found, notHeld, warnings: [...readAsWarning(given.readAs), ...ended, ...found.warnings] };
}

/**
 * Looks up a named article and never searches for it, so that no similar article is returned instead. `given` are
 * filters besides those that the text names; `within` are the laws among them.
 */
async function readQuery(
  asked: string,
  given: readonly Query[],
  index: SearchIndex,
  corpus: string,
  now: Date,
  within: readonly string[],
): Promise<ReadQuestion> {
  if (asksNothing(asked)) return given.length === 0 ? question([], "") : inWords(given, "");
  const text = inChinese(asked);
  const names = await lawNames(index, corpus);
  const version = readLawVersionYear(text);
  if (version !== undefined) return readVersion(version, given, names, index, corpus, now);
  const { laws: named, notHeld, readAs, rest } = names.find(text);
  const { articles, rest: words } = readArticles(rest, named.length > 0 || notHeld !== undefined);
  if (notHeld !== undefined) return inSuccessor(notHeld, articles, words, given, names, now);
  const [law, ...otherLaws] = named.length === 0 ? within : named;
  const inOther =
    law === undefined || otherLaws.length > 0 || articles.length > 0
      ? undefined
      : inHeldSuccessor(law, words, named.length === 0 ? [] : given, names, now);
  if (inOther !== undefined) return { ...inOther, warnings: [...readAsWarning(readAs), ...inOther.warnings] };
  // Who names a law, in the text or as a filter, asks it and no other source.
  if (named.length === 0 && articles.length === 0)
    return given.length > 0 ? inWords(given, text) : answeredElsewhere(text, names, inWords(given, text));
  const filters = [...given, lawOf(named, articles)];
  // Other text in the question must not hide the article.
  const read =
    articles.length > 0 ? await inArticles(filters, named, articles, index, corpus) : inWords(filters, words);
  const ended = toldOf(named, names, now);
  return { ...read, warnings: [...readAsWarning(readAs), ...ended, ...read.warnings] };
}

/** Looks articles up. Those of a list that cannot exist are named beside the others; if none exists, the answer is free. */
async function inArticles(
  filters: readonly Query[],
  named: readonly string[],
  articles: readonly ArticleNumber[],
  index: SearchIndex,
  corpus: string,
): Promise<ReadQuestion> {
  const missing = articles.length > 1 ? await missingOf(named, articles, index, corpus) : [];
  const isPart = missing.length > 0 && missing.length < articles.length;
  return {
    ...question(filters, ""),
    warnings: isPart ? await noSuchArticle(named, missing, index, corpus) : [],
    notHeld: () => noSuchArticle(named, articles, index, corpus),
  };
}

/**
 * A question in words about a held law that ended and whose successor is held, too: about the successor. Its articles
 * and the law as a whole are still found in its own text.
 */
function inHeldSuccessor(
  law: string,
  words: string,
  given: readonly Query[],
  names: LawNames,
  now: Date,
): ReadQuestion | undefined {
  const { by = null } = endedBy(law, now) ?? {};
  return by === null || !names.has(by) || asksNothing(words)
    ? undefined
    : inSuccessor(law, [], words, given, names, now);
}

/** A question about a law that is not held: about the law that replaced it, if one did and the question has other words. */
function inSuccessor(
  name: string,
  articles: readonly ArticleNumber[],
  words: string,
  given: readonly Query[],
  names: LawNames,
  now: Date,
): ReadQuestion {
  const filters = [...given, lawOf([name], articles)];
  const { date = "", by = null } = endedBy(name, now) ?? {};
  if (by === null) return { ...question(filters, ""), notHeld: endedTold(name, now) ?? lackOf(name) };
  if (!names.has(by)) return inLaterSuccessor(name, date, by, articles, words, given, names, now);
  // Numbers of articles differ between the two laws, and no official table is in the data.
  if (articles.length > 0 || asksNothing(words))
    return { ...question(filters, ""), notHeld: warning("law_replaced_ask", { law: name, date, by }) };
  const read = inWords([...given, lawOf([by], [])], words);
  return { ...read, warnings: [warning("law_replaced_searched", { law: name, date, by }), ...read.warnings] };
}

/** 经济合同法 ended for 合同法, which ended for 民法典. If the last of them is not held either, it is said. */
function inLaterSuccessor(
  name: string,
  date: string,
  by: string,
  articles: readonly ArticleNumber[],
  words: string,
  given: readonly Query[],
  names: LawNames,
  now: Date,
): ReadQuestion {
  if (endedBy(by, now) === undefined) {
    const filters = [...given, lawOf([name], articles)];
    return { ...question(filters, ""), notHeld: warning("law_replaced_by_unheld", { law: name, date, by }) };
  }
  const read = inSuccessor(by, articles, words, given, names, now);
  return { ...read, warnings: [warning("law_replaced", { law: name, date, by }), ...read.warnings] };
}

function endedTold(law: string, now: Date): Warning | undefined {
  const ended = endedBy(law, now);
  if (ended === undefined) return undefined;
  const { date, by } = ended;
  return by === null ? warning("law_ended", { law, date }) : warning("law_replaced", { law, date, by });
}

/** What is said above the text of held laws that ended. */
function toldOf(laws: readonly string[], names: LawNames, now: Date): Warning[] {
  return laws.flatMap((law) => {
    const { date = "", by = null } = endedBy(law, now) ?? {};
    return by === null || names.has(by)
      ? (endedTold(law, now) ?? [])
      : warning("law_replaced_by_unheld", { law, date, by });
  });
}

function lackOf(name: string): Warning {
  const title = listedTitle(name);
  return title === undefined ? warning("law_not_held", { law: name }) : warning("source_not_held", { title });
}

/** Names the regulations and interpretations that a question in everyday words needs and that are not held. */
function answeredElsewhere(text: string, names: LawNames, read: ReadQuestion): ReadQuestion {
  const [first, ...others] = unheldSources(text, (key) => names.has(key));
  if (first === undefined) return read;
  const titles = [first, ...others]
    .slice(0, mostTitles)
    .map(({ title }) => ({ en: title, zh: `《${title}》` }));
  if (first.isPartlyHeld)
    return { ...read, warnings: [warning("sources_answer_rest", { titles }), ...read.warnings] };
  return { ...read, notAnswered: warning("sources_alone_answer", { titles }) };
}

const mostTitles = 3;

/** Reads a question with the filter `year`. The law comes from the filter `law`, or from the query. */
async function readYear(
  year: string,
  asked: string,
  given: Given,
  names: LawNames,
  index: SearchIndex,
  corpus: string,
  now: Date,
): Promise<ReadQuestion> {
  const text = asksNothing(asked) ? "" : inChinese(asked);
  const version = readLawVersionYear(text);
  if (version !== undefined && !version.point.startsWith(year))
    throw invalid(
      "params.year",
      "conflict",
      `params.year is ${year}, but params.query names the version ${version.words}`,
      "name one version",
      "请只指明一个版本",
    );
  const { laws: named, notHeld, readAs, rest } = names.find(version?.rest ?? text);
  const [law] = given.laws.length > 0 ? given.laws : [...named, ...(notHeld === undefined ? [] : [notHeld])];
  if (law === undefined)
    throw invalid(
      "params.year",
      "incomplete",
      "params.year needs a law",
      "send params.law, or name the law in params.query",
      "请用 params.law 或在 params.query 中指明法律",
    );
  const { articles, rest: words } = readArticles(rest, named.length > 0 || notHeld !== undefined);
  const also = named.length > 0 || articles.length > 0 ? [lawOf(named, articles)] : [];
  const asOf = {
    law,
    point: version?.point ?? year,
    words: version?.words ?? year,
    articles: given.article === undefined ? articles : [given.article],
    others: words,
    also,
  };
  const found = await atVersion(asOf, index, corpus, now);
  return { ...found, warnings: [...readAsWarning(readAs), ...found.warnings] };
}

function readAsWarning(readAs: NamedLaws["readAs"]): Warning[] {
  return readAs === undefined ? [] : [warning("law_read_as", { name: readAs.name, law: readAs.law })];
}

/** The filter for these articles in these laws, or in all laws if none is named. */
function lawOf(laws: readonly string[], articles: readonly ArticleNumber[]): Query {
  const keys = laws.length === 0 ? [null] : laws;
  const terms =
    articles.length === 0
      ? laws.map(lawTerm)
      : keys.flatMap((law) => articles.map((article) => articleTerm(law, article)));
  return { any: terms.map(exact) };
}

/** A search with the question's words and their legal meanings. */
function inWords(filters: readonly Query[], words: string): ReadQuestion {
  const { text, meanings } = articleMeanings(words);
  const { question: plain, warnings } = question(filters, text);
  return {
    question: { ...plain, meanings, ...(filters.length === 0 && { priors: commonLaws() }) },
    warnings,
  };
}

/** Reads a question for an article or a law as it was in the named year or on the named day. */
async function readVersion(
  { point, words, rest: text }: LawVersionYear,
  given: readonly Query[],
  names: LawNames,
  index: SearchIndex,
  corpus: string,
  now: Date,
): Promise<ReadQuestion> {
  const { laws: named, notHeld, readAs, rest } = names.find(text);
  const key = named[0] ?? notHeld;
  // Without a named law, this is a search by words, including the year.
  if (key === undefined) return inWords(given, `${text} ${point}`);
  const { articles, rest: others } = readArticles(rest, true);
  const found = await atVersion(
    { law: key, point, words, articles, others, also: given },
    index,
    corpus,
    now,
  );
  return found.render === undefined
    ? found
    : {
        ...found,
        warnings: [...readAsWarning(readAs), ...toldOf([key], names, now), ...found.warnings],
      };
}

/** A law as it was at a point in time. */
interface AsOf {
  readonly law: string;
  readonly point: string;
  /** The words that name the version. */
  readonly words: string;
  readonly articles: readonly ArticleNumber[];
  /** Other words of the question. */
  readonly others: string;
  /** Further filters. */
  readonly also: readonly Query[];
}

async function atVersion(
  { law: key, point, words, articles, others, also }: AsOf,
  index: SearchIndex,
  corpus: string,
  now: Date,
): Promise<ReadQuestion> {
  // Of a list, those that cannot exist are named beside the others.
  const missing = articles.length > 1 ? await missingOf([key], articles, index, corpus) : [];
  const some = articles.filter((each) => !missing.includes(each));
  const article = some[0] ?? articles[0] ?? null;
  const filter = exact(article === null ? lawTerm(key) : articleTerm(key, article));
  const body = await firstOf(filter, index, corpus);
  // If no version contains the article, it is missing in every year.
  if (body === undefined)
    return {
      ...question([...also, filter], article === null ? others : ""),
      notHeld: async () => {
        const lack = await lawNotHeld(key, index, corpus, now);
        return lack === undefined ? noSuchArticle([key], articles, index, corpus) : [lack];
      },
    };
  const place = article === null ? versionAt(body, point, now) : placeAt(body, point, now);
  if (place === undefined)
    return {
      ...question([...also, filter, exact(lawYearTerm(key, point))], others),
      notHeld: versionNotHeld(body, words),
    };
  const versionDate = body.versions[place]?.version_date ?? point;
  const year = versionDate.slice(0, 4);
  const isPart = missing.length > 0 && some.length > 0;
  return {
    ...question([...also, lawOf([key], articles), exact(lawYearTerm(key, year))], others),
    warnings: isPart ? await noSuchArticle([key], missing, index, corpus) : [],
    render: (each, now) => {
      const stored = each as StoredArticle;
      const placeOf = (start: string) =>
        stored.versions.findLastIndex(({ version_date: date }) => date?.startsWith(start) === true);
      const exactly = placeOf(versionDate);
      return articleRecord(stored, now, { place: exactly === -1 ? placeOf(year) : exactly, words });
    },
  };
}

async function lawNotHeld(
  key: string,
  index: SearchIndex,
  corpus: string,
  now: Date,
): Promise<Warning | undefined> {
  if ((await index.count(corpus, [lawTerm(key)])) > 0) return undefined;
  return endedTold(key, now) ?? warning("law_not_held", { law: key });
}

function versionNotHeld({ law_name: law, versions }: StoredArticle, version: string): Warning {
  const held = versions.map(({ version_date: date }) => date).filter((date) => date !== null);
  return held.length === 0
    ? warning("undated_version_held", { version, law })
    : warning("version_not_held", { version, law, held });
}

async function firstOf(
  filter: Query,
  index: SearchIndex,
  corpus: string,
): Promise<StoredArticle | undefined> {
  const found = await index.search(corpus, { query: filter }, { offset: 0, limit: 1 });
  return found?.hits[0]?.body.parse() as StoredArticle | undefined;
}

function question(filters: readonly Query[], text: string): ReadQuestion {
  return { question: { filters, alternatives: [text], phrases: [], without: [] }, warnings: [] };
}

function exact(term: string): Query {
  return { term };
}

function textOf(article: StoredArticle): string {
  return article.versions.findLast(({ content }) => content !== null)?.content ?? "";
}
