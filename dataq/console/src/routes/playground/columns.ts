import type { Language } from "@dataq/contract";
import { isObject } from "../../service/call.ts";

type Row = Readonly<Record<string, unknown>>;

/** Names come first, machine-readable fields last. */
const leading = new Set([
  "rank",
  "title",
  "name",
  "law_name",
  "article_no",
  "domain_name",
  "content",
  "case_no",
]);
const trailing = new Set(["id", "score", "full_text", "abstract"]);
const COLUMNS = 4;

/** The columns of operations whose readers look for certain fields, even where they are empty. */
const chosen: Readonly<Record<string, readonly string[]>> = {
  legal_laws: ["law_name", "article_no", "content", "status", "status_text", "wording_since", "expired_date"],
};

export function isLeading(name: string): boolean {
  return leading.has(name);
}

/**
 * The fields of records that a table shows, in order. Where a field is there twice, as a code or in English and as
 * Chinese words, the reader gets the one in the own language.
 */
export function columnsOf(operation: string, rows: readonly Row[], language: Language): readonly string[] {
  const all = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const inChinese = (name: string) => [`${name}_text`, `${name}_zh`].find((other) => all.includes(other));
  const others = new Set(
    all.flatMap((name) => {
      const zh = inChinese(name);
      return zh === undefined ? [] : [language === "zh" ? name : zh];
    }),
  );
  const names = all.filter((name) => !others.has(name));
  const own = chosen[operation]?.filter((name) => names.includes(name)) ?? [];
  if (own.length > 0) return own;
  const isPlain = (name: string) =>
    rows.some((row) => row[name] !== null && row[name] !== undefined) &&
    rows.every((row) => !isObject(row[name]) && !Array.isArray(row[name]));
  const weight = (name: string) => {
    if (leading.has(name)) return [...leading].indexOf(name);
    if (trailing.has(name) || name.endsWith("_id")) return 90;
    if (/_(name|date|at)$|^(status|heat|index|year)$/.test(name)) return 30;
    return /_(text|level|code)$|^(province|city)$/.test(name) ? 60 : 50;
  };
  return names
    .filter((name) => name !== "source" && isPlain(name))
    .map((name, at) => ({ name, at }))
    .sort((a, b) => weight(a.name) - weight(b.name) || a.at - b.at)
    .slice(0, COLUMNS)
    .map(({ name }) => name);
}
