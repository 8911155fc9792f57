import { posix } from "node:path";
import { readArticleNumber } from "../../question/law-reference.ts";
import { isPart } from "./law-kind.ts";
import type { LawText, LawVersion } from "./law-version.ts";

/** One of several texts that belong to the same law. */
export interface LawPart {
  readonly row: string;
  /** Title of the part, such as 第三编 合同, or of the law on its title page. */
  readonly title: string;
  readonly version: LawVersion;
}

/**
 * Returns the key that the parts of one law share: files in one folder, or rows that have the law in their
 * title and the part in their name. Null for a text that is not a part.
 */
export function bookOf(path: string | null, title: string, name: string | null): string | null {
  if (path?.includes("/") === true) return posix.dirname(path);
  return name !== null && name !== title && isPart(name) ? title : null;
}

/**
 * Joins parts into a law if together they contain every article without a gap. Also returns the parts that
 * were used.
 */
export function joinParts(
  texts: readonly LawPart[],
): { readonly law: LawVersion; readonly from: readonly LawPart[] } | undefined {
  const titlePage = texts.find(({ title, version }) => !isPart(title) && version.articles.length === 0);
  const parts = texts.filter(({ title, version }) => isPart(title) && isNumbered(version));
  const lawNames = new Set(parts.map(({ version }) => version.facts.law_name));
  const facts = titlePage?.version.facts ?? (lawNames.size === 1 ? parts[0]?.version.facts : undefined);
  const articles = inOrder(parts.flatMap(({ version }) => version.articles));
  if (facts === undefined || parts.length < 2 || !isWhole(articles)) return undefined;
  const from = titlePage === undefined ? parts : [titlePage, ...parts];
  const histories = from.map(({ version }) => version.history);
  return {
    law: { facts, articles, history: histories.reduce((a, b) => (b.length > a.length ? b : a)) },
    from,
  };
}

/**
 * Whether all articles are numbered. The items of an amendment (修正案) do not count, because they are not
 * articles of the law.
 */
function isNumbered({ articles, facts }: LawVersion): boolean {
  const isCounted = articles.length > 0 && articles.every(({ articleNo }) => readArticleNumber(articleNo));
  return isCounted && !/修正案$/.test(facts.law_name);
}

/** Whether the numbers run from 第一条 without a gap or a repetition. */
function isWhole(articles: readonly LawText[]): boolean {
  const numbers = articles.map(({ articleNo }) => readArticleNumber(articleNo));
  return numbers.every((number, place) => {
    const before = numbers[place - 1];
    if (number === undefined) return false;
    if (place === 0) return number.number === 1 && number.sub === null;
    const isNext = number.number === (before?.number ?? 0) + 1 && number.sub === null;
    const isInserted = number.number === before?.number && (number.sub ?? 0) === (before?.sub ?? 0) + 1;
    return isNext || isInserted;
  });
}

function inOrder(articles: readonly LawText[]): LawText[] {
  const place = ({ articleNo }: LawText) => {
    const number = readArticleNumber(articleNo);
    return (number?.number ?? 0) * 1_000 + (number?.sub ?? 0);
  };
  return articles.toSorted((a, b) => place(a) - place(b));
}
