import { districts } from "../../../sample/districts.ts";
import { both, type DateRange } from "../../../search/date-range.ts";
import type { Query } from "../../../search/search-index.ts";
import type { ReadQuestion } from "../../../sources/search-source.ts";
import { articleTerm, lawTerm } from "../laws/corpus.ts";
import { inChinese } from "../question/foreign-names.ts";
import { readLawReference } from "../question/law-reference.ts";
import { judgmentMeanings } from "../question/meanings.ts";
import { caseNumberTerm, courtTerm, judgeTerm, partyTerm, placeTerm } from "./corpus.ts";
import { readDates } from "./dates.ts";
import { datesOf, type Field, fieldNames, fieldQuery } from "./fields.ts";

/**
 * Reads a query on judgments. Fields: `court:`, `judge:`, `basis:`, `type:`, `cause:`, `date:` (or 法院: 法官:
 * 依据: 类型: 案由: 日期:). Also "words in quotes", OR and -word. Without fields, recognises a case number, 《law》第…条,
 * a court's name, 法官 with a name, a place, a year, and names of judges and parties.
 */
export async function readCaseQuestion(asked: string, { count, countPhrase }: Held): Promise<ReadQuestion> {
  const soft = {
    places: [] as string[],
    filters: [] as Query[],
    years: [] as string[],
    dates: undefined as DateRange | undefined,
  };
  const filters: Query[] = [];
  const people: string[] = [];
  const alternatives: string[][] = [[]];
  const phrases: string[] = [];
  const without: string[] = [];
  let dates: DateRange | undefined;
  const text = await withNamesJoined(withoutReferences(inChinese(asked), filters), count);
  for (const token of tokens(text)) {
    const field = token.field;
    if (field === "date") dates = both(dates, datesOf(token.value));
    else if (field !== undefined) filters.push(fieldQuery(field, token.value));
    else if (token.isQuoted) phrases.push(token.value);
    else if (token.value === "OR") alternatives.push([]);
    else if (/^-./.test(token.value)) without.push(token.value.slice(1));
    else {
      const { years, rest } = yearsIn(token.value);
      if (years !== undefined) {
        soft.years.push(token.value.slice(0, token.value.length - rest.length));
        soft.dates ??= years;
      }
      const found = rest === "" ? undefined : await named(rest, count);
      if (found !== undefined) filters.push(found);
      else {
        const { place, others } = await placeIn(rest, count);
        if (place !== undefined) {
          soft.places.push(place.slice(2));
          soft.filters.push({ term: place });
        }
        if (others === "") continue;
        people.push(...(await peopleIn(others, count)));
        const party = roleAndParty.exec(others)?.[1];
        if (party !== undefined && (await countPhrase(party)) > 0) phrases.push(party);
        else alternatives[alternatives.length - 1]?.push(others);
      }
    }
  }
  const words = alternatives
    .map((list) => list.join(" "))
    .filter((list, _, all) => list !== "" || all.length === 1)
    .map(judgmentMeanings);
  return {
    question: {
      filters,
      alternatives: words.length === 0 ? [""] : words.map(({ text }) => text),
      meanings: words.flatMap(({ meanings }) => meanings),
      phrases,
      without,
      exact: people,
      soft: {
        places: soft.places,
        filters: soft.filters,
        years: soft.years,
        ...(soft.dates && { dates: soft.dates }),
      },
      ...(dates !== undefined && { dates }),
    },
    warnings: [],
  };
}

/** The days that the fields `date:` of a query leave; undefined if there are none. */
export function datesIn(asked: string): DateRange | undefined {
  return tokens(asked.normalize("NFKC"))
    .filter(({ field }) => field === "date")
    .reduce<DateRange | undefined>((dates, { value }) => both(dates, datesOf(value)), undefined);
}

/** Counts documents in the index that match terms of the question. */
export interface Held {
  /** How many documents have all of these terms. */
  count(terms: readonly string[]): Promise<number>;
  /** How many documents contain the words of a text in this order. */
  countPhrase(text: string): Promise<number>;
}

/** A role followed by a party's name, such as 被告人王某. The characters of such a name are not a word. */
const roleAndParty =
  /^(?:被告人|被告|原告|上诉人|被上诉人|申请人|被申请人|被执行人|申请执行人|被害人|第三人|公诉人|辩护人|律师)(\p{Script=Han}{2,4})$/u;

interface Token {
  readonly field?: Field;
  readonly value: string;
  readonly isQuoted: boolean;
}

function tokens(text: string): Token[] {
  const pattern = /(?:([A-Za-z]+|[\p{Script=Han}]{2}):\s*)?(?:"([^"]*)"|“([^”]*)”|(\S+))/gu;
  return [...text.matchAll(pattern)].map((found) => {
    const [whole, name, straight, curly, plain] = found;
    const quoted = straight ?? curly;
    const field = name === undefined ? undefined : fieldNames[name.toLowerCase()];
    if (name !== undefined && field === undefined) return { value: whole, isQuoted: false };
    const value = quoted ?? plain ?? "";
    return {
      ...(field !== undefined && { field }),
      value,
      isQuoted: field === undefined && quoted !== undefined,
    };
  });
}

/** A case number, with or without brackets around the year. */
export const caseNumber =
  /(?:[(〔[]\s*\d{4}\s*[)〕\]]\s*|(?<!\d)(?:19|20)\d{2}\s*年?\s*(?=\p{Script=Han}))(?!年)[\p{Script=Han}A-Za-z0-9]{2,20}?(?<=[初终再申执辖抗更特督破行赔保监撤恢协他异复减假医字第][\p{Script=Han}第]*?)\d+(?:-\d+)?号/gu;
const quotedLaw =
  /《[^《》]{2,60}》(?:\s*第[零〇一二三四五六七八九十百千0-9]+条(?:之[一二三四五六七八九十]+)?)?/g;

/** Moves case numbers and laws in 《》 from the text to the filters. */
function withoutReferences(text: string, filters: Query[]): string {
  return text
    .replace(caseNumber, (found) => {
      filters.push(exact(caseNumberTerm(found)));
      return " ";
    })
    .replace(/(?<![:：])(《.*)/, (part) =>
      part.replace(quotedLaw, (found) => {
        const { law, article } = readLawReference(found);
        if (law === null) return found;
        filters.push(exact(article === null ? lawTerm(law) : articleTerm(law, article)));
        return " ";
      }),
    );
}

/** Reads 2019年, 2019年3月 or 2018-2020年 at the start of a word, or a word that is a year. */
function yearsIn(word: string): { years?: { from?: string; to?: string }; rest: string } {
  const found = yearRange.exec(word);
  if (found === null) return { rest: word };
  const [written, first = "", month, last] = found;
  const isWhole = written.length === word.length;
  if (!isWhole && !written.includes("年")) return { rest: word };
  const years = readDates(
    last === undefined ? (month === undefined ? first : `${first}-${month}`) : `${first}..${last}`,
  );
  if (years === undefined) return { rest: word };
  return { years, rest: word.slice(written.length) };
}

const yearRange =
  /^((?:19|20)\d{2})(?:年(?:(\d{1,2})月)?)?(?:份|度|的)?(?:[-~—至到]((?:19|20)\d{2})年?)?(?![\d号元万])/;

/** Finds a province, city or county at the start of a word, if its courts occur in the index. */
async function placeIn(
  word: string,
  count: (terms: readonly string[]) => Promise<number>,
): Promise<{ place?: string; others: string }> {
  const whole = /^[\p{Script=Han}]{2,8}$/u.test(word) ? placeTerm(word) : undefined;
  const isPlace = placeNames.has(word) || /[省市县区州盟旗]$/.test(word);
  if (whole !== undefined && isPlace && (await count([whole])) > 0) return { place: whole, others: "" };
  for (let length = Math.min(4, word.length - 1); length >= 2; length--) {
    const name = word.slice(0, length);
    if (!placeNames.has(name)) continue;
    const rest = word.slice(length).replace(/^[省市县区州盟旗](?=.{2})/, "");
    if ((await count([placeTerm(name)])) > 0) return { place: placeTerm(name), others: rest };
  }
  return { others: word };
}

/**
 * Names of provinces and cities, with and without their endings. Short names such as 朝阳 and 吉林 have no other
 * meaning.
 */
const placeNames: ReadonlySet<string> = new Set(
  districts
    .flatMap(({ province, city }) => [province, city])
    .flatMap((name) => [name, placeTerm(name).slice(2)])
    .filter((name) => name.length > 1),
);

/** Returns the exact terms of a word that is the name of a judge or a party. */
async function peopleIn(
  word: string,
  count: (terms: readonly string[]) => Promise<number>,
): Promise<string[]> {
  if (!/^[\p{Script=Han}·]{2,4}$|公司|[厂行社店院局会所部]$/u.test(word)) return [];
  const held = await Promise.all(
    [judgeTerm(word), partyTerm(word)].map(async (term) => ((await count([term])) > 0 ? [term] : [])),
  );
  return held.flat();
}

/** Joins names that are written with a space, as at the end of judgments: 法官 王 刚 → 法官王刚. */
async function withNamesJoined(
  text: string,
  count: (terms: readonly string[]) => Promise<number>,
): Promise<string> {
  let joined = text.replace(
    roleAndName,
    (_, role: string, name: string) => `${role}${name.replace(/\s/g, "")}`,
  );
  for (const [written] of text.matchAll(spacedName)) {
    const name = written.replace(/\s/g, "");
    const isHeld = (await count([judgeTerm(name)])) > 0 || (await count([partyTerm(name)])) > 0;
    if (isHeld) joined = joined.replace(written, name);
  }
  return joined;
}

const roleAndName =
  /(?<=^|\s)(审判长|审判员|法官|陪审员)\s+(\p{Script=Han}{2,4}(?=\s|$)|\p{Script=Han}\s\p{Script=Han}{1,2}(?=\s|$))/gu;
const spacedName = /(?<=^|\s)\p{Script=Han}\s+\p{Script=Han}{1,2}(?=\s|$)/gu;

/** Whether a word names a court or a judge in the index; otherwise it is an ordinary word. */
async function named(
  word: string,
  count: (terms: readonly string[]) => Promise<number>,
): Promise<Query | undefined> {
  if (/(?:法院|中院|高院)$/.test(word)) {
    const term = courtTerm(word);
    return (await count([term])) > 0 ? exact(term) : undefined;
  }
  const judge = /^(?:审判长|审判员|法官|陪审员)(.{2,4})$|^(.{2,4})法官$/u.exec(word);
  if (judge !== null) {
    const term = judgeTerm((judge[1] ?? judge[2]) as string);
    return (await count([term])) > 0 ? exact(term) : undefined;
  }
  const reference = readLawReference(word);
  if (reference.law !== null && reference.article !== null && reference.rest === "") {
    const term = articleTerm(reference.law, reference.article);
    return (await count([term])) > 0 ? exact(term) : undefined;
  }
  return undefined;
}

function exact(term: string): Query {
  return { term };
}
