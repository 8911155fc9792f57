import type { Params } from "@dataq/contract";
import { z } from "zod";
import type { Adapter, AdapterParts, Fields, Found, Send } from "../adapter.ts";
import { address, doiIn, issnIn, pageOf } from "./page.ts";
import { readJson } from "./read-json.ts";

/** OpenAlex gives no more than the first 10,000 results by page number. */
const DEEPEST = 10_000;

const text = z.string().nullish();
const count = z.number().int().nonnegative();

const work = z.object({
  id: z.string(),
  doi: text,
  display_name: text,
  publication_date: text,
  publication_year: z.number().int().nullish(),
  language: text,
  type: text,
  is_retracted: z.boolean().nullish(),
  cited_by_count: count.nullish(),
  referenced_works_count: count.nullish(),
  open_access: z.object({ is_oa: z.boolean(), oa_url: text }).nullish(),
  primary_location: z.object({ source: z.object({ display_name: text, issn_l: text }).nullish() }).nullish(),
  biblio: z.object({ volume: text, issue: text, first_page: text, last_page: text }).nullish(),
  authorships: z
    .array(
      z.object({
        author: z.object({ id: text, display_name: text, orcid: text }),
        institutions: z.array(z.object({ display_name: text })).nullish(),
        is_corresponding: z.boolean().nullish(),
      }),
    )
    .nullish(),
  keywords: z.array(z.object({ display_name: z.string() })).nullish(),
  abstract_inverted_index: z.record(z.string(), z.array(z.number().int().nonnegative())).nullish(),
  indexed_in: z.array(z.string()).nullish(),
});
type Work = z.infer<typeof work>;

const author = z.object({
  id: z.string(),
  display_name: z.string(),
  orcid: text,
  works_count: count,
  cited_by_count: count.nullish(),
  summary_stats: z.object({ h_index: count.nullish() }).nullish(),
  affiliations: z
    .array(
      z.object({
        institution: z.object({ id: text, display_name: text }),
        years: z.array(z.number()).nullish(),
      }),
    )
    .nullish(),
  last_known_institutions: z.array(z.object({ id: text, display_name: text })).nullish(),
  topics: z.array(z.object({ display_name: z.string() })).nullish(),
});

const journal = z.object({
  id: z.string(),
  display_name: z.string(),
  issn_l: text,
  issn: z.array(z.string()).nullish(),
  host_organization_name: text,
  works_count: count.nullish(),
  cited_by_count: count.nullish(),
  summary_stats: z.object({ "2yr_mean_citedness": z.number().nullish() }).nullish(),
  is_oa: z.boolean().nullish(),
  is_in_doaj: z.boolean().nullish(),
  homepage_url: text,
  topics: z.array(z.object({ display_name: z.string() })).nullish(),
});

const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ meta: z.object({ count }), results: z.array(item) });

/** Works by words, DOI, author and date. */
export function openAlexPapers(parts: AdapterParts): Adapter {
  return {
    operation: parts.operation,
    takes: new Set(["query", "author", "year", "date_from", "date_to"]),
    ask: (params, send) => {
      const doi = doiIn(params["query"]);
      return list(parts, "works", params, send, work, paperOf, {
        search: doi === undefined ? params["query"] : undefined,
        filter: [
          doi === undefined ? undefined : `doi:https://doi.org/${plain(doi)}`,
          named("raw_author_name.search", params["author"]),
          named("publication_year", params["year"]),
          named("from_publication_date", params["date_from"]),
          named("to_publication_date", params["date_to"]),
        ],
      });
    },
    byNumber: {
      kind: "d:",
      find: (dois, send) => listOfThese(parts, "works", "doi", dois, send, work, paperOf),
    },
  };
}

/** Authors by name, with their most cited works from one more request. */
export function openAlexScholars(parts: AdapterParts): Adapter {
  return {
    operation: parts.operation,
    takes: new Set(["name"]),
    ask: (params, send) => scholars(params, send, { search: params["name"], filter: [] }),
    byNumber: {
      kind: "o:",
      find: (ids, send) =>
        scholars(pageOfAll(ids), send, { search: undefined, filter: [`orcid:${ids.join("|")}`] }),
    },
  };

  async function scholars(params: Params, send: Send, wanted: Wanted): Promise<Found> {
    const { size, from } = pageOf(params);
    if (from + size > DEEPEST) return beyondDeepest;
    const read = await askPage(parts, "authors", params, send, author, wanted);
    if ("found" in read) return read.found;
    const { meta, results } = read.value;
    if (results.length === 0) return { outcome: "records", list: [], total: meta.count };
    const ids = results.map(({ id }) => idOf(id));
    const works = await mostCited(parts, ids, send);
    if ("found" in works) return works.found;
    const people = results.map((each) => scholarOf(each, works.value.results));
    return { outcome: "records", list: people, total: meta.count };
  }
}

/** Sources of the type journal by name or ISSN. */
export function openAlexJournals(parts: AdapterParts): Adapter {
  return {
    operation: parts.operation,
    takes: new Set(["query"]),
    ask: (params, send) => {
      const issn = issnIn(params["query"]);
      const year = parts.now().getUTCFullYear();
      return list(parts, "sources", params, send, journal, (each) => journalOf(each, year), {
        search: issn === undefined ? params["query"] : undefined,
        filter: ["type:journal", named("issn", issn)],
      });
    },
    byNumber: {
      kind: "n:",
      find: (numbers, send) => {
        const year = parts.now().getUTCFullYear();
        const render = (each: z.output<typeof journal>) => journalOf(each, year);
        return listOfThese(parts, "sources", "issn", numbers, send, journal, render);
      },
    },
  };
}

interface Wanted {
  readonly search: string | undefined;
  readonly filter: readonly (string | undefined)[];
}

async function list<Item extends z.ZodType>(
  parts: AdapterParts,
  path: string,
  params: Params,
  send: Send,
  item: Item,
  render: (each: z.output<Item>) => Fields,
  wanted: Wanted,
): Promise<Found> {
  const { size, from } = pageOf(params);
  if (from + size > DEEPEST) return beyondDeepest;
  const read = await askPage(parts, path, params, send, item, wanted);
  if ("found" in read) return read.found;
  const { meta, results } = read.value;
  return { outcome: "records", list: results.map(render), total: meta.count };
}

/** What has one of these numbers. */
async function listOfThese<Item extends z.ZodType>(
  parts: AdapterParts,
  path: string,
  filter: string,
  numbers: readonly string[],
  send: Send,
  item: Item,
  render: (each: z.output<Item>) => Fields,
): Promise<Found> {
  const wanted = { search: undefined, filter: [`${filter}:${numbers.join("|")}`] };
  return list(parts, path, pageOfAll(numbers), send, item, render, wanted);
}

/** A journal may be known by two numbers, so there are at most as many things as numbers. */
function pageOfAll(numbers: readonly string[]): Params {
  return { page: "1", page_size: String(numbers.length) };
}

/** OpenAlex counts more than it gives. */
const beyondDeepest: Found = { outcome: "records", list: [], total: DEEPEST };

/** One page as OpenAlex gives it. */
async function askPage<Item extends z.ZodType>(
  { base, credentials }: AdapterParts,
  path: string,
  params: Params,
  send: Send,
  item: Item,
  { search, filter }: Wanted,
) {
  const { page, size } = pageOf(params);
  const url = address(`${base}/${path}`, {
    search,
    filter: filter.filter((each) => each !== undefined).join(","),
    page,
    "per-page": size,
    api_key: credentials["key"],
  });
  return readJson(await send({ method: "GET", url, headers: json }), listOf(item));
}

const json = { accept: "application/json" };

/** Works of these authors, most cited first. */
async function mostCited({ base, credentials }: AdapterParts, ids: readonly string[], send: Send) {
  const url = address(`${base}/works`, {
    filter: `author.id:${ids.join("|")}`,
    sort: "cited_by_count:desc",
    "per-page": 100,
    api_key: credentials["key"],
  });
  return readJson(await send({ method: "GET", url, headers: json }), listOf(work));
}

/** A comma or a bar in a value would begin another filter. */
function plain(value: string): string {
  return value.replaceAll(/[,|]/g, " ");
}

function named(filter: string, value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : `${filter}:${plain(value)}`;
}

function idOf(address: string): string {
  return address.slice(address.lastIndexOf("/") + 1);
}

function orcidOf(address: string | null | undefined): string | null {
  return address ? idOf(address) : null;
}

function paperOf(found: Work): Fields {
  const { biblio, primary_location, open_access } = found;
  const source = primary_location?.source;
  const pages = [biblio?.first_page, biblio?.last_page].filter(Boolean).join("-");
  return {
    id: idOf(found.id),
    paper_id: idOf(found.id),
    doi: found.doi?.replace(/^https?:\/\/doi\.org\//, "") ?? null,
    title: found.display_name ?? "",
    authors: (found.authorships ?? []).map(
      ({ author: { id, display_name, orcid }, institutions, is_corresponding }) => ({
        name: display_name ?? "",
        scholar_id: id ? idOf(id) : null,
        affiliation: institutions?.[0]?.display_name ?? null,
        orcid: orcidOf(orcid),
        corresponding: is_corresponding === true,
      }),
    ),
    abstract: abstractOf(found.abstract_inverted_index),
    keywords: (found.keywords ?? []).map(({ display_name }) => display_name),
    publication_date: found.publication_date,
    year: found.publication_year,
    journal: source?.display_name
      ? {
          name: source.display_name,
          issn: source.issn_l ?? null,
          volume: biblio?.volume ?? null,
          issue: biblio?.issue ?? null,
          pages: pages || null,
        }
      : null,
    citation_count: found.cited_by_count,
    references_count: found.referenced_works_count,
    type: found.type ?? "other",
    language: found.language,
    indexed_in: found.indexed_in ?? [],
    open_access: open_access ? { is_oa: open_access.is_oa, url: open_access.oa_url ?? null } : null,
    retracted: found.is_retracted === true,
    source: { url: found.id },
  };
}

/** The words of an abstract at their places. A place beyond a long abstract is not believed. */
function abstractOf(index: Readonly<Record<string, readonly number[]>> | null | undefined): string | null {
  if (!index) return null;
  const words: string[] = [];
  for (const [word, places] of Object.entries(index))
    for (const place of places) if (place < LONGEST_ABSTRACT) words[place] = word;
  return words.filter((word) => word !== undefined).join(" ") || null;
}

const LONGEST_ABSTRACT = 20_000;

function scholarOf(found: z.infer<typeof author>, works: readonly Work[]): Fields {
  const current = new Set((found.last_known_institutions ?? []).map(({ id }) => id));
  const own = works.filter(({ authorships }) => authorships?.some((each) => each.author.id === found.id));
  return {
    id: idOf(found.id),
    scholar_id: idOf(found.id),
    name: found.display_name,
    affiliations: (found.affiliations ?? [])
      .filter(({ institution }) => institution.display_name)
      .map(({ institution }) => ({ name: institution.display_name, current: current.has(institution.id) })),
    research_areas: (found.topics ?? []).slice(0, 10).map(({ display_name }) => display_name),
    works_count: found.works_count,
    citation_count: found.cited_by_count,
    h_index: found.summary_stats?.h_index,
    orcid: orcidOf(found.orcid),
    publications: own.slice(0, 5).map((each) => ({
      paper_id: idOf(each.id),
      title: each.display_name ?? "",
      year: each.publication_year ?? null,
      venue: each.primary_location?.source?.display_name ?? null,
      citation_count: each.cited_by_count ?? null,
    })),
    publications_total: found.works_count,
    source: { url: found.id },
  };
}

function journalOf(found: z.infer<typeof journal>, year: number): Fields {
  const citedness = found.summary_stats?.["2yr_mean_citedness"];
  return {
    id: idOf(found.id),
    journal_id: idOf(found.id),
    name: found.display_name,
    issn: found.issn_l ?? found.issn?.[0],
    eissn: found.issn?.find((each) => each !== found.issn_l) ?? null,
    publisher: found.host_organization_name,
    subjects: (found.topics ?? []).slice(0, 10).map(({ display_name }) => display_name),
    impact_factor:
      citedness === null || citedness === undefined
        ? null
        : { value: Math.round(citedness * 1_000) / 1_000, year, kind: "OpenAlex 2-year mean citedness" },
    indexed_in: found.is_in_doaj === true ? ["DOAJ"] : [],
    is_oa: found.is_oa,
    homepage: found.homepage_url,
    works_count: found.works_count,
    citation_count: found.cited_by_count,
    source: { url: found.id },
  };
}
