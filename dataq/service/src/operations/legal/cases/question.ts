import { type Failure, invalid } from "@dataq/contract";
import type { Query } from "../../../search/search-index.ts";
import type { ReadQuestion } from "../../../sources/search-source.ts";
import { articleTerm, lawTerm } from "../laws/corpus.ts";
import { lawKey, readLawReference } from "../question/law-reference.ts";
import { inChinese } from "../question/foreign-names.ts";
import { judgmentMeanings } from "../question/meanings.ts";
import { basisTerms, caseNumberTerm, courtTerm, judgeTerm, typeTerm } from "./corpus.ts";
import { readDates } from "./dates.ts";

/**
 * Reads a query on judgments: `court:`, `judge:`, `basis:`, `type:`, `date:` (or 法院: 法官: 依据: 类型: 日期:), "words
 * in quotes", OR, -word; and without fields a case number, 《law》第…条, a court's name, 法官 with a name. `count` tells
 * how many documents have all of some terms.
 */
export async function readCaseQuestion(
  asked: string,
  count: (terms: readonly string[]) => Promise<number>,
): Promise<ReadQuestion> {
  const text = inChinese(asked);
  const filters: Query[] = [];
  const alternatives: string[][] = [[]];
  const phrases: string[] = [];
  const without: string[] = [];
  let dates: { from?: string; to?: string } | undefined;
  for (const token of tokens(withoutReferences(text, filters))) {
    const field = token.field;
    if (field === "date") dates = datesOf(token.value);
    else if (field !== undefined) filters.push(fieldQuery(field, token.value));
    else if (token.isQuoted) phrases.push(token.value);
    else if (token.value === "OR") alternatives.push([]);
    else if (/^-./.test(token.value)) without.push(token.value.slice(1));
    else {
      const found = await named(token.value, count);
      if (found !== undefined) filters.push(found);
      else alternatives[alternatives.length - 1]?.push(token.value);
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
      ...(dates !== undefined && { dates }),
    },
    warnings: [],
  };
}

type Field = "court" | "judge" | "basis" | "type" | "date";

const fields: Readonly<Record<string, Field>> = {
  court: "court",
  judge: "judge",
  basis: "basis",
  type: "type",
  date: "date",
  法院: "court",
  法官: "judge",
  依据: "basis",
  类型: "type",
  日期: "date",
};

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
    const field = name === undefined ? undefined : fields[name.toLowerCase()];
    if (name !== undefined && field === undefined) return { value: whole, isQuoted: false };
    const value = quoted ?? plain ?? "";
    return {
      ...(field !== undefined && { field }),
      value,
      isQuoted: field === undefined && quoted !== undefined,
    };
  });
}

/** With brackets around the year, or without. */
const caseNumber =
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

function fieldQuery(field: Exclude<Field, "date">, value: string): Query {
  if (value === "") throw wrongField(`${field}: has no value`, `send ${field}:value`, `如 ${field}:取值`);
  if (field === "court") return exact(courtTerm(value));
  if (field === "judge") return exact(judgeTerm(value));
  if (field === "type") return exact(typeTerm(value));
  const { law, article } = readLawReference(value);
  if (article !== null && law !== null) return exact(articleTerm(law, article));
  return exact(basisTerms(law ?? lawKey(value), null)[0] as string);
}

/** A word that names a court or a judge of the index; else it is a word. */
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

function datesOf(value: string): { from?: string; to?: string } {
  const dates = readDates(value);
  if (dates === undefined)
    throw wrongField(
      "date: is not a range",
      "send date:2024, date:2024..2025 or date:2024-01-31..2024-02-28",
      "如 date:2024、date:2024..2025、date:2024-01-31..2024-02-28",
    );
  return dates;
}

/** Of a filter inside the query. */
function wrongField(what: string, fix: string, fixZh: string): Failure {
  return invalid("params.query", "field", `params.query: ${what}`, fix, fixZh);
}

function exact(term: string): Query {
  return { term };
}
