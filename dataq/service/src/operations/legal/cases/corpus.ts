import type { IndexDocument } from "../../../search/search-index.ts";
import { articleTerm, lawTerm } from "../laws/corpus.ts";
import { lawKey, readArticleNumber } from "../question/law-reference.ts";

/** The fields of a judgment that the index reads. The rest is returned unchanged. */
export interface JudgmentRecord {
  readonly id: string;
  readonly case_no: string | null;
  readonly title: string;
  readonly court_name: string;
  readonly province: string | null;
  readonly city: string | null;
  readonly case_type: string;
  readonly case_type_text: string;
  readonly document_type: string | null;
  readonly trial_procedure: string | null;
  readonly cause_of_action: string | null;
  readonly judgment_date: string | null;
  readonly judges: readonly { readonly name: string }[];
  readonly parties: readonly { readonly name: string }[];
  readonly legal_basis: readonly { readonly law_name: string; readonly article_no: string | null }[];
  readonly full_text: string;
}

export const judgmentsCorpus = "legal_cases";

/** Prefixes of the terms of courts and case numbers. */
export const courtPrefix = "c:";
export const caseNumberPrefix = "n:";

/** Generated judgments fill up the legal index to the size in the specification (section 1). */
export const legalIndexFill = { dataset: "generated", upTo: 68_787 };

export function judgmentDocument(record: JudgmentRecord): IndexDocument {
  return {
    id: record.id,
    texts: [
      { text: record.title, weight: 3 },
      { text: record.cause_of_action ?? "", weight: 3 },
      { text: record.full_text, weight: 1, isLong: true },
    ],
    terms: [
      ...courtTerms(record.court_name),
      ...placeTerms(record),
      ...record.judges.map(({ name }) => judgeTerm(name)),
      ...record.parties.map(({ name }) => partyTerm(name)),
      ...record.legal_basis.flatMap(({ law_name, article_no }) => basisTerms(law_name, article_no)),
      ...typeTerms(record),
      ...causesOf(record).map(causeTerm),
      ...(record.case_no === null ? [] : [caseNumberTerm(record.case_no)]),
    ],
    date: record.judgment_date,
    body: record,
    meaning: `${record.title} ${record.cause_of_action ?? ""} ${reasonsOf(record.full_text)}`,
  };
}

/** A model reads only the start of a text. What a case is about is in the court's reasons. */
function reasonsOf(text: string): string {
  return text.slice(Math.max(0, text.indexOf("本院认为")));
}

/**
 * The terms of a court: every ending of its name that starts with a place (浙江省杭州市西湖区人民法院, 杭州市西湖区人民法院,
 * 西湖区人民法院), and each of these without 省, 市, 区 and 人民 (西湖法院).
 */
export function courtTerms(name: string): string[] {
  const plain = name.normalize("NFKC").replace(/\s/g, "");
  const starts = [0];
  for (const found of plain.matchAll(/(?:省|自治区|自治州|地区|市|区|县|盟|旗)/g)) {
    const next = found.index + found[0].length;
    if (plain.length - next >= 4) starts.push(next);
  }
  return [...new Set(starts.flatMap((start) => [plain.slice(start), shortCourt(plain.slice(start))]))].map(
    (ending) => courtPrefix + ending,
  );
}

/** The term for the court of a query. */
export function courtTerm(name: string): string {
  return `${courtPrefix}${shortCourt(name.normalize("NFKC").replace(/\s/g, ""))}`;
}

function shortCourt(name: string): string {
  return name
    .replace(/人民法院$/, "法院")
    .replace(/中级法院$/, "中院")
    .replace(/高级法院$/, "高院")
    .replace(/(?<=.{2})(?:省|市|区|县)(?=.*(?:法院|中院|高院)$)/g, "");
}

/** The terms for the divisions at the start of a court's name, in full and short: 浙江省, 浙江, 杭州市, 杭州. */
function placeTerms({ court_name: court, province, city }: JudgmentRecord): string[] {
  const parts =
    court.normalize("NFKC").match(/[^省市县区旗盟]{2,}?(?:省|自治区|自治州|地区|市|区|县|盟|旗)/gu) ?? [];
  const names = [...parts, ...[province, city].filter((name) => name !== null)];
  return [...new Set(names.map(placeTerm))];
}

/** The term for a province, city or county, with or without its ending. */
export function placeTerm(name: string): string {
  const short = name.replace(
    /(?:(?:壮族|回族|维吾尔)?自治区|[\p{Script=Han}]{1,3}族自治[州县]|地区|省|市|区|县|盟|旗)$/u,
    "",
  );
  return placePrefix + (short.length < 2 ? name : short);
}

/** Prefix of the terms of places. */
export const placePrefix = "w:";

export function partyTerm(name: string): string {
  return `q:${name.normalize("NFKC").replace(/\s/g, "").toLowerCase()}`;
}

export function judgeTerm(name: string): string {
  return `j:${name.normalize("NFKC").replace(/\s/g, "")}`;
}

export function basisTerms(law: string, articleNo: string | null): string[] {
  const key = lawKey(law);
  const article = articleNo === null ? undefined : readArticleNumber(articleNo);
  return [
    lawTerm(key),
    ...(article === undefined ? [] : [articleTerm(key, { ...article, sub: article.sub })]),
  ];
}

export function typeTerm(word: string): string {
  return `t:${word.normalize("NFKC").toLowerCase()}`;
}

function typeTerms(record: JudgmentRecord): string[] {
  const words = [
    record.case_type,
    record.case_type_text,
    record.case_type_text.replace(/案件$/, ""),
    record.document_type,
    record.trial_procedure,
    record.cause_of_action,
  ];
  return words.filter((word): word is string => word !== null && word !== "").map(typeTerm);
}

/** The term for a charge or a cause of action, with or without its ending. */
export function causeTerm(name: string): string {
  return `u:${name
    .normalize("NFKC")
    .replace(/\s/g, "")
    .replace(/(?:罪|纠纷|一?案)+$/, "")}`;
}

/** Splits the causes of a record. A 、 inside a name does not separate two causes: 掩饰、隐瞒犯罪所得罪. */
function causesOf({ cause_of_action: causes }: JudgmentRecord): string[] {
  return causes === null ? [] : causes.split(/(?<=罪|纠纷)[、,，;；]/u).filter((cause) => cause !== "");
}

export function caseNumberTerm(text: string): string {
  return `${caseNumberPrefix}${text.normalize("NFKC").replace(/[\s()〔〕[\]]/g, "")}`;
}
