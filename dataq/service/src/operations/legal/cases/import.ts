import { day, list, text } from "../../../importer/field.ts";
import { say } from "../../../importer/message.ts";
import { hasFields, ownForm } from "../../../importer/own-form.ts";
import type { Draft, Mapped, RowTarget } from "../../../importer/target.ts";
import { readLawReference } from "../question/law-reference.ts";
import { type JudgmentRecord, judgmentDocument, judgmentsCorpus, legalIndexFill } from "./corpus.ts";
import { courtIn, courtName } from "./court-name.ts";
import { courtLevel, courtPlace, judgesIn, masked } from "./judgment-text.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Imports judgments in our own form, with the fields s1..s47 of the courts' website, or with court, case_no
 * and text.
 */
export const judgmentImport: RowTarget = {
  name: "legal_cases",
  corpus: judgmentsCorpus,
  fill: legalIndexFill,
  document: (record) => judgmentDocument(record as unknown as JudgmentRecord),
  map(fields): Mapped {
    if (hasFields(fields, "case_id", "full_text")) return own(fields);
    if (hasFields(fields, "s1") || hasFields(fields, "s7")) return courtsForm(fields);
    if (hasFields(fields, "case_no", "text")) return plainForm(fields);
    if (typeof fields["category"] === "string" && fields["category"].startsWith("案例/"))
      return typicalCase(fields);
    return hasFields(fields, "category", "revision_history") ? null : { problem: say("row_no_judgment") };
  },
};

const own = ownForm("legal_cases", (record) => record["case_id"]);

/**
 * Reads the fields of the courts' website: s1 title, s2 court, s5 id, s6 kind of document, s7 number, s8
 * type, s9/s10 procedure, s11 cause, s17 parties, s21 whole text or s22..s28 its parts (head, record, claims,
 * facts, reasons, ruling, tail), s31 date, s41 published, s47 laws.
 */
function courtsForm(fields: Fields): Mapped {
  const parts = ["s22", "s23", "s24", "s25", "s26", "s27", "s28"].map((name) => text(fields, name));
  const whole = text(fields, "s21") ?? text(fields, "qwContent") ?? parts.filter(Boolean).join("\n");
  const title = text(fields, "s1");
  const court = text(fields, "s2");
  if (whole === "") return { problem: say("row_without_text") };
  if (title === null || court === null)
    return { problem: say("row_lacks", { fields: [title === null ? "s1" : "s2"] }) };
  const laws = Array.isArray(fields["s47"]) ? (fields["s47"] as Fields[]) : [];
  return judgment({
    id: text(fields, "id") ?? text(fields, "s5") ?? text(fields, "s7"),
    title,
    court,
    caseNo: text(fields, "s7"),
    type: text(fields, "s8"),
    procedure: text(fields, "s9") ?? text(fields, "s10"),
    documentType: documentTypes[text(fields, "s6") ?? ""] ?? documentTypeIn(title),
    causes: list(fields, "s11"),
    date: day(fields, "s31"),
    published: day(fields, "s41"),
    parties: list(fields, "s17"),
    basis: laws.map(
      (law) => `《${(text(law, "fgmc") ?? "").replace(/[《》]/g, "")}》${text(law, "tkx") ?? ""}`,
    ),
    whole,
    sections: {
      facts: parts[3] ?? null,
      claims: parts[2] ?? null,
      reasoning: parts[4] ?? null,
      ruling: parts[5] ?? null,
    },
  });
}

function plainForm(fields: Fields): Mapped {
  const caseNo = text(fields, "case_no");
  const whole = text(fields, "text");
  if (whole === null) return { problem: say("row_lacks", { fields: ["text"] }) };
  const court = courtName(text(fields, "court") ?? "") ?? courtIn(whole);
  const charges = list(fields, "charges");
  const procedure = text(fields, "procedure");
  const type = text(fields, "case_type");
  return judgment({
    id: text(fields, "id") ?? caseNo,
    title: `${court ?? ""}${charges.join("、") || (type ?? "").replace(/案件$/, "")}${procedure ?? ""}${documentTypeIn(whole.slice(0, 200)) ?? "文书"}`,
    court,
    caseNo,
    type,
    procedure,
    documentType: documentTypeIn(whole.slice(0, 200)),
    causes: charges,
    date: day(fields, "date"),
    published: null,
    parties: [],
    basis: list(fields, "legal_basis"),
    whole,
    sections: null,
  });
}

/** Reads typical cases that courts publish as examples. They have no court, number or date. */
function typicalCase(fields: Fields): Mapped {
  const title = text(fields, "title");
  const whole = text(fields, "text");
  if (title === null || whole === null) return { problem: say("row_lacks", { fields: ["title", "text"] }) };
  return judgment({
    id: `typical:${title}`,
    title,
    court: null,
    caseNo: null,
    type: "民事案件",
    procedure: null,
    documentType: "典型案例",
    causes: [],
    date: day(fields, "version_date"),
    published: null,
    parties: [],
    basis: [...whole.matchAll(/《[^《》]{2,40}》第[零一二三四五六七八九十百千]+条/g)].map(([found]) => found),
    whole,
    sections: null,
  });
}

interface Parts {
  readonly id: string | null;
  readonly title: string;
  readonly court: string | null;
  readonly caseNo: string | null;
  readonly type: string | null;
  readonly procedure: string | null;
  readonly documentType: string | null;
  readonly causes: readonly string[];
  readonly date: string | null;
  readonly published: string | null;
  readonly parties: readonly string[];
  readonly basis: readonly string[];
  readonly whole: string;
  readonly sections: object | null;
}

function judgment(parts: Parts): Mapped {
  if (parts.id === null) return { problem: say("row_without_number") };
  if (parts.whole.length > longestText) return { problem: say("row_text_too_long", { limit: longestText }) };
  const basis = parts.basis.map((each) => readLawReference(each.normalize("NFKC")));
  const seen = new Set<string>();
  const record: Draft = {
    id: parts.id,
    case_id: parts.id,
    case_no: parts.caseNo,
    title: parts.title,
    court_name: parts.court ?? "",
    court_level: courtLevel(parts.court ?? ""),
    ...courtPlace(parts.court ?? ""),
    case_type: caseTypeOf(parts.type),
    case_type_text: parts.type ?? "未注明",
    document_type: parts.documentType,
    trial_procedure: parts.procedure?.replace(/^(?:民事|刑事|行政)/, "") ?? null,
    cause_of_action: parts.causes.join("、") || null,
    judgment_date: parts.date,
    published_date: parts.published,
    judges: judgesIn(parts.whole),
    parties: parts.parties.map((name) => ({
      name,
      role: "party",
      type: /公司|局|委员会|厂|院|社|政府|银行/.test(name) ? "company" : "person",
    })),
    legal_basis: parts.basis.flatMap((each, place) => {
      const law = /《([^《》]+)》/.exec(each)?.[1] ?? basis[place]?.law ?? null;
      const articleNo =
        /第[零〇一二三四五六七八九十百千0-9]+条(?:之[一二三四五六七八九十]+)?/.exec(each)?.[0] ?? null;
      const key = `${law} ${articleNo}`;
      if (law === null || seen.has(key)) return [];
      seen.add(key);
      return [{ law_name: law, article_no: articleNo }];
    }),
    result: null,
    summary: null,
    full_text: masked(parts.whole),
    sections: parts.sections,
  };
  return { record };
}

const longestText = 2_000_000;

const documentTypes: Readonly<Record<string, string>> = {
  "01": "判决书",
  "02": "裁定书",
  "03": "调解书",
  "04": "决定书",
  "05": "通知书",
};

function documentTypeIn(title: string): string | null {
  return /(判决书|裁定书|调解书|决定书|通知书|支付令)/.exec(title)?.[1] ?? null;
}

function caseTypeOf(type: string | null): string {
  const found = Object.entries(caseTypes).find(([word]) => type?.includes(word));
  return found?.[1] ?? "other";
}

const caseTypes = {
  民事: "civil",
  刑事: "criminal",
  行政: "administrative",
  赔偿: "compensation",
  执行: "enforcement",
};
