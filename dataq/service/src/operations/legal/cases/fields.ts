import { type Failure, invalid, type Params } from "@dataq/contract";
import { type DateRange, dateRange } from "../../../search/date-range.ts";
import type { Query } from "../../../search/search-index.ts";
import { articleTerm, lawTerm } from "../laws/corpus.ts";
import { inChinese } from "../question/foreign-names.ts";
import { lawKey, readArticleValue, readLawReference } from "../question/law-reference.ts";
import { causesNamed } from "../question/meanings.ts";
import { causeTerm, courtTerm, judgeTerm, typeTerm } from "./corpus.ts";
import { readDates } from "./dates.ts";

/** The fields of a query on judgments. The parameters with the same meaning are read by the same functions. */
export type Field = "court" | "judge" | "basis" | "type" | "cause" | "date";

export const fieldNames: Readonly<Record<string, Field>> = {
  court: "court",
  judge: "judge",
  basis: "basis",
  type: "type",
  cause: "cause",
  date: "date",
  法院: "court",
  法官: "judge",
  依据: "basis",
  类型: "type",
  案由: "cause",
  日期: "date",
};

export function fieldQuery(field: Exclude<Field, "date">, value: string): Query {
  if (value === "") throw wrongField(`${field}: has no value`, `send ${field}:value`, `如 ${field}:取值`);
  if (field !== "basis") return termQuery(field, value);
  const { law, article } = readLawReference(value);
  if (article !== null && law !== null) return exact(articleTerm(law, article));
  return exact(lawTerm(law ?? lawKey(value)));
}

function termQuery(field: Exclude<Field, "date" | "basis">, value: string): Query {
  if (field === "court") return exact(courtTerm(value));
  if (field === "judge") return exact(judgeTerm(value));
  if (field === "type") return exact(typeTerm(value));
  return { any: causesNamed(value).map((name) => exact(causeTerm(name))) };
}

export function datesOf(value: string): DateRange {
  const dates = readDates(value);
  if (dates === undefined)
    throw wrongField(
      "date: is not a range",
      "send date:2024, date:2024..2025 or date:2024-01-31..2024-02-28",
      "如 date:2024、date:2024..2025、date:2024-01-31..2024-02-28",
    );
  return dates;
}

/** The error for an invalid filter inside the query. */
function wrongField(what: string, fix: string, fixZh: string): Failure {
  return invalid("params.query", "field", `params.query: ${what}`, fix, fixZh);
}

/** The filters among the parameters. Their values are never read as query language. */
export function paramFilters(params: Params): {
  readonly filters: readonly Query[];
  readonly dates?: DateRange;
} {
  const filters = Object.entries(fieldOfParam).flatMap(([name, field]) =>
    params[name] === undefined ? [] : [termQuery(field, params[name])],
  );
  const { law, article } = params;
  if (law !== undefined) filters.push(lawQuery(lawKey(inChinese(law)), article));
  const dates = dateRange(params);
  return { filters, ...(dates !== undefined && { dates }) };
}

function lawQuery(law: string, article: string | undefined): Query {
  return exact(article === undefined ? lawTerm(law) : articleTerm(law, readArticleValue(article)));
}

const fieldOfParam: Readonly<Record<string, Exclude<Field, "date" | "basis">>> = {
  court: "court",
  judge: "judge",
  case_type: "type",
  cause: "cause",
};

function exact(term: string): Query {
  return { term };
}
