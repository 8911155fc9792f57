import { z } from "zod";
import type { Adapter, AdapterParts, Fields } from "../adapter.ts";
import { address, doiIn, pageOf } from "./page.ts";
import { nameOf } from "./person.ts";
import { readJson } from "./read-json.ts";

/** Crossref gives no more than the first 10,000 results by offset. */
const DEEPEST = 10_000;

const text = z.string().nullish();
const texts = z.array(z.string()).nullish();
const dateParts = z.object({ "date-parts": z.array(z.array(z.number().nullable())) }).nullish();

const work = z.object({
  DOI: z.string(),
  title: texts,
  author: z
    .array(
      z.object({
        given: text,
        family: text,
        name: text,
        ORCID: text,
        affiliation: z.array(z.object({ name: text })).nullish(),
      }),
    )
    .nullish(),
  "container-title": texts,
  ISSN: texts,
  volume: text,
  issue: text,
  page: text,
  published: dateParts,
  issued: dateParts,
  abstract: text,
  "is-referenced-by-count": z.number().int().nullish(),
  "references-count": z.number().int().nullish(),
  type: text,
  language: text,
  subject: texts,
  "update-to": z.array(z.object({ type: text })).nullish(),
  "updated-by": z.array(z.object({ type: text })).nullish(),
  URL: text,
});

const list = z.object({ message: z.object({ "total-results": z.number().int(), items: z.array(work) }) });
const one = z.object({ message: work });

/** Works by words, DOI, author and date. */
export function crossrefPapers({ operation, base, credentials }: AdapterParts): Adapter {
  const mailto = credentials["mailto"];
  return {
    operation,
    takes: new Set(["query", "author", "year", "date_from", "date_to"]),
    byNumber: {
      kind: "d:",
      async find(dois, send) {
        const filter = dois.map((doi) => `doi:${doi}`).join(",");
        const url = address(`${base}/works`, { filter, rows: dois.length, mailto });
        const read = readJson(
          await send({ method: "GET", url, headers: { accept: "application/json" } }),
          list,
        );
        if ("found" in read) return read.found;
        const { items, "total-results": total } = read.value.message;
        return { outcome: "records", list: items.map(paperOf), total };
      },
    },
    async ask(params, send) {
      const { size, from } = pageOf(params);
      if (from + size > DEEPEST) return { outcome: "records", list: [], total: DEEPEST };
      const doi = doiIn(params["query"]);
      const filters = [
        bound("from-pub-date", params["date_from"] ?? params["year"]),
        bound("until-pub-date", params["date_to"] ?? params["year"]),
      ];
      const url =
        doi === undefined
          ? address(`${base}/works`, {
              query: params["query"],
              "query.author": params["author"],
              filter: filters.filter((each) => each !== undefined).join(","),
              rows: size,
              offset: from,
              mailto,
            })
          : address(`${base}/works/${encodeURIComponent(doi)}`, { mailto });
      const answer = await send({ method: "GET", url, headers: { accept: "application/json" } });
      if (doi !== undefined && answer.status === 404) return { outcome: "records", list: [], total: 0 };
      if (doi !== undefined) {
        const read = readJson(answer, one);
        if ("found" in read) return read.found;
        const isWanted = from === 0;
        return { outcome: "records", list: isWanted ? [paperOf(read.value.message)] : [], total: 1 };
      }
      const read = readJson(answer, list);
      if ("found" in read) return read.found;
      const { items, "total-results": total } = read.value.message;
      return { outcome: "records", list: items.map(paperOf), total };
    },
  };
}

function bound(filter: string, day: string | undefined): string | undefined {
  return day === undefined || day === "" ? undefined : `${filter}:${day}`;
}

function paperOf(found: z.infer<typeof work>): Fields {
  const [year, month, day] = (found.published ?? found.issued)?.["date-parts"][0] ?? [];
  const journal = found["container-title"]?.[0];
  const updates = [...(found["updated-by"] ?? [])].map(({ type }) => type);
  return {
    id: found.DOI.toLowerCase(),
    paper_id: found.DOI.toLowerCase(),
    doi: found.DOI.toLowerCase(),
    title: withoutMarks(found.title?.[0] ?? ""),
    authors: (found.author ?? []).map(({ given, family, name, ORCID, affiliation }) => ({
      name: name ?? nameOf(given, family),
      scholar_id: null,
      affiliation: affiliation?.[0]?.name ?? null,
      orcid: ORCID?.slice(ORCID.lastIndexOf("/") + 1) ?? null,
      corresponding: false,
    })),
    abstract: found.abstract ? withoutMarks(found.abstract) : null,
    keywords: found.subject ?? [],
    // A date may be a year alone. A day is never invented.
    publication_date: year && month && day ? `${year}-${two(month)}-${two(day)}` : null,
    year: year ?? null,
    journal: journal
      ? {
          name: withoutMarks(journal),
          issn: found.ISSN?.[0] ?? null,
          volume: found.volume ?? null,
          issue: found.issue ?? null,
          pages: found.page ?? null,
        }
      : null,
    citation_count: found["is-referenced-by-count"],
    references_count: found["references-count"],
    type: found.type ?? "other",
    language: found.language,
    indexed_in: ["crossref"],
    open_access: null,
    retracted: updates.includes("retraction"),
    source: { url: found.URL ?? `https://doi.org/${found.DOI}` },
  };
}

/** Titles and abstracts carry elements of JATS. */
function withoutMarks(marked: string): string {
  return marked
    .replaceAll(/<[^<>]{0,200}>/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
    .replaceAll(/\s+/g, " ")
    .trim();
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}
