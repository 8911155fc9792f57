import type { Language } from "@dataq/contract";
import { isObject } from "../../service/call.ts";

export type Row = Readonly<Record<string, unknown>>;

/** A record in the order in which people read it. Fields without a value are left out. */
export interface Sheet {
  readonly heading: string;
  /** Long texts, which stand alone. */
  readonly texts: readonly (readonly [name: string, text: string])[];
  readonly facts: readonly (readonly [name: string, value: string | number | boolean])[];
  /** Lists of things with parts of their own, such as the versions of an article. */
  readonly rest: readonly (readonly [name: string, value: readonly unknown[]])[];
}

/** From here on a text is to be read, not looked up. */
const longFrom = 60;
/** Fields for programs: the reader has their words beside them, and hits are marked where they stand. */
const forPrograms = /^(?:id|source|score|content_sha256|highlights|revisions_basis)$|_id$|_arabic$/;

export function sheetOf(row: Row, language: Language): Sheet {
  const shown = Object.keys(row).filter((name) => !forPrograms.test(name) && isOfReader(name, row, language));
  const heading = headingOf(row);
  const texts: [string, string][] = [];
  const facts: [string, string | number | boolean][] = [];
  const rest: [string, readonly unknown[]][] = [];
  for (const name of shown) {
    const value = row[name];
    if (isEmpty(value) || heading.fields.includes(name)) continue;
    // An older name for the same.
    if (name === "effective_date" && row["wording_since"] === value) continue;
    if (typeof value === "string") {
      const isLong = [...value].length >= longFrom && !/^https?:/.test(value);
      if (isLong || name === "content") texts.push([name, value]);
      else facts.push([name, value]);
    } else if (typeof value === "number" || typeof value === "boolean") facts.push([name, value]);
    else if (Array.isArray(value) && value.every((each) => typeof each !== "object"))
      facts.push([name, value.join(language === "zh" ? "、" : ", ")]);
    else rest.push([name, Array.isArray(value) ? value : [value]]);
  }
  return { heading: heading.text, texts, facts, rest };
}

/** Where a field is there twice, as a code or in English and as Chinese words, the reader gets one of them. */
function isOfReader(name: string, row: Row, language: Language): boolean {
  const inChinese = [`${name}_text`, `${name}_zh`].find((other) => !isEmpty(row[other]));
  if (inChinese !== undefined) return language === "en";
  const plain = /^(.+)_(?:text|zh)$/.exec(name)?.[1];
  return plain === undefined || isEmpty(row[plain]) || language === "zh";
}

function headingOf(row: Row): { readonly text: string; readonly fields: readonly string[] } {
  const { law_name, article_no, rank } = row;
  if (typeof law_name === "string")
    return {
      text: `《${law_name}》${typeof article_no === "string" ? article_no : ""}`,
      fields: ["law_name", "article_no"],
    };
  const field = ["title", "name", "company_name", "case_no", "keyword"].find(
    (name) => typeof row[name] === "string" && row[name] !== "",
  );
  if (field === undefined) return { text: "", fields: [] };
  const place = typeof rank === "number" ? `${rank}. ` : "";
  return { text: `${place}${row[field]}`, fields: [field, ...(place === "" ? [] : ["rank"])] };
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === null || value === undefined || value === "";
}
