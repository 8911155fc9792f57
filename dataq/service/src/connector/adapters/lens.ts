import { z } from "zod";
import type { Adapter, AdapterParts, Fields } from "../adapter.ts";
import { pageOf } from "./page.ts";
import { readJson } from "./read-json.ts";

/** Lens gives no more than the first 10,000 results by offset. */
const DEEPEST = 10_000;

const text = z.string().nullish();
const documentId = z.object({ jurisdiction: text, doc_number: text, kind: text, date: text }).nullish();
const written = z.array(z.object({ text, lang: text })).nullish();
const parties = z.array(z.object({ extracted_name: z.object({ value: text }).nullish() })).nullish();
const symbols = z.object({ classifications: z.array(z.object({ symbol: text })).nullish() }).nullish();

const patent = z.object({
  lens_id: z.string(),
  jurisdiction: z.string(),
  doc_number: z.string(),
  kind: z.string(),
  date_published: text,
  biblio: z.object({
    application_reference: documentId,
    invention_title: written,
    parties: z.object({ applicants: parties, inventors: parties }).nullish(),
    classifications_ipcr: symbols,
    classifications_cpc: symbols,
    priority_claims: z
      .object({ claims: z.array(z.object({ doc_number: text, jurisdiction: text })).nullish() })
      .nullish(),
    cited_by: z.object({ patent_count: z.number().int().nullish() }).nullish(),
  }),
  abstract: written,
  legal_status: z.object({ patent_status: text, grant_date: text }).nullish(),
});
type Patent = z.infer<typeof patent>;

const list = z.object({ total: z.number().int().nonnegative(), data: z.array(patent) });

/** Chinese publications by words, number, applicant and application date. */
export function lensPatents({ operation, base, credentials }: AdapterParts): Adapter {
  return {
    operation,
    takes: new Set(["query", "applicant", "date_from", "date_to"]),
    async ask(params, send) {
      const { size, from } = pageOf(params);
      if (from + size > DEEPEST) return { outcome: "records", list: [], total: DEEPEST };
      const { query = "", applicant = "", date_from, date_to } = params;
      const days = { ...(date_from && { gte: date_from }), ...(date_to && { lte: date_to }) };
      const must = [
        { term: { jurisdiction: "CN" } },
        ...(query === "" ? [] : [wordsOrNumber(query)]),
        ...(applicant === "" ? [] : [{ match_phrase: { "applicant.name": applicant } }]),
        ...(Object.keys(days).length === 0 ? [] : [{ range: { "application_reference.date": days } }]),
      ];
      const answer = await send({
        method: "POST",
        url: `${base}/patent/search`,
        headers: {
          accept: "application/json",
          "content-type": "application/json",
          authorization: `Bearer ${credentials["token"]}`,
        },
        body: JSON.stringify({ query: { bool: { must } }, from, size }),
      });
      const read = readJson(answer, list);
      if ("found" in read) return read.found;
      return { outcome: "records", list: read.value.data.map(patentOf), total: read.value.total };
    },
  };
}

/** A number is looked up among publications and applications; words in titles, abstracts and applicants. */
function wordsOrNumber(query: string): object {
  const [, number] = /^(?:CN|ZL)?\s*(\d{7,13})(?:\.?[\dX])?\s*(?:[A-Z]\d?)?$/i.exec(query.trim()) ?? [];
  const should =
    number === undefined
      ? ["title", "abstract", "applicant.name"].map((field) => ({ match: { [field]: query } }))
      : ["doc_number", "application_reference.doc_number"].map((field) => ({ term: { [field]: number } }));
  return { bool: { should } };
}

function patentOf(found: Patent): Fields {
  const { lens_id, jurisdiction, doc_number, kind, biblio, legal_status } = found;
  const publication = `${jurisdiction}${doc_number}${kind}`;
  const { application_reference: application } = biblio;
  const isGranted = /^[BCUYS]/.test(kind);
  const status = legal_status?.patent_status?.toLowerCase() ?? "unknown";
  return {
    id: publication,
    patent_id: publication,
    application_no: application?.doc_number
      ? `${application.jurisdiction ?? jurisdiction}${application.doc_number}`
      : null,
    publication_no: isGranted ? null : publication,
    grant_no: isGranted ? publication : null,
    title: preferred(biblio.invention_title) ?? "",
    abstract: preferred(found.abstract),
    type: /^[UY]/.test(kind) ? "utility_model" : kind.startsWith("S") ? "design" : "invention",
    applicants: namesOf(biblio.parties?.applicants),
    inventors: namesOf(biblio.parties?.inventors),
    ipc: symbolsOf(biblio.classifications_ipcr),
    cpc: symbolsOf(biblio.classifications_cpc),
    application_date: application?.date ?? null,
    publication_date: isGranted ? null : (found.date_published ?? null),
    grant_date: legal_status?.grant_date ?? (isGranted ? (found.date_published ?? null) : null),
    priority: (biblio.priority_claims?.claims ?? []).flatMap((claim) =>
      claim.doc_number ? [`${claim.jurisdiction ?? ""}${claim.doc_number}`] : [],
    ),
    // Lens calculates the status from events; "inactive", "discontinued" and "withdrawn or rejected" have no single meaning.
    legal_status: statuses[status] ?? "unknown",
    legal_status_text: status,
    citation_count: biblio.cited_by?.patent_count ?? null,
    source: { url: `https://www.lens.org/lens/patent/${lens_id}` },
  };
}

const statuses: Readonly<Record<string, string>> = {
  active: "granted",
  patented: "granted",
  pending: "pending",
  expired: "expired",
};

/** The Chinese text, if there is one. */
function preferred(texts: z.infer<typeof written>): string | null {
  const own = texts?.find(({ lang }) => lang?.toLowerCase() === "zh") ?? texts?.[0];
  return own?.text ?? null;
}

function namesOf(found: z.infer<typeof parties>): string[] {
  return (found ?? []).flatMap(({ extracted_name }) => extracted_name?.value || []);
}

function symbolsOf(found: z.infer<typeof symbols>): string[] {
  return (found?.classifications ?? []).flatMap(({ symbol }) => symbol || []);
}
