import { z } from "zod";
import type { Adapter, AdapterParts, Fields, Found, Send } from "../adapter.ts";
import { address, issnIn, pageOf } from "./page.ts";
import { readJson } from "./read-json.ts";

const text = z.string().nullish();

const journal = z.object({
  id: z.string(),
  bibjson: z.object({
    title: z.string(),
    alternative_title: text,
    pissn: text,
    eissn: text,
    publisher: z.object({ name: text, country: text }).nullish(),
    institution: z.object({ name: text }).nullish(),
    language: z.array(z.string()).nullish(),
    subject: z.array(z.object({ term: z.string() })).nullish(),
    ref: z.object({ journal: text }).nullish(),
  }),
});
const list = z.object({ total: z.number().int().nonnegative(), results: z.array(journal) });

/** Open-access journals by name or ISSN. */
export function doajJournals({ operation, base, credentials }: AdapterParts): Adapter {
  return {
    operation,
    takes: new Set(["query"]),
    ask: (params, send) => {
      const { page, size } = pageOf(params);
      const issn = issnIn(params["query"]);
      const query = issn === undefined ? escaped(params["query"] ?? "") : `issn:${issn}`;
      return search(query, page, size, send);
    },
    byNumber: {
      kind: "n:",
      find: (numbers, send) =>
        search(numbers.map((issn) => `issn:${issn}`).join(" OR "), 1, numbers.length, send),
    },
  };

  async function search(query: string, page: number, size: number, send: Send): Promise<Found> {
    const url = address(`${base}/search/journals/${encodeURIComponent(query)}`, {
      page,
      pageSize: size,
      api_key: credentials["key"],
    });
    const answer = await send({ method: "GET", url, headers: { accept: "application/json" } });
    const read = readJson(answer, list);
    if ("found" in read) return read.found;
    const { results, total } = read.value;
    return { outcome: "records", list: results.map(journalOf), total };
  }
}

/** The query language of DOAJ is that of Elasticsearch's query strings. */
function escaped(words: string): string {
  return words.replaceAll(/[+\-=&|!(){}[\]^"~*?:\\/<>]/g, " ").trim();
}

function journalOf({ id, bibjson }: z.infer<typeof journal>): Fields {
  return {
    id,
    journal_id: id,
    name: bibjson.title,
    name_en: bibjson.alternative_title,
    issn: bibjson.pissn ?? bibjson.eissn,
    eissn: bibjson.eissn,
    sponsor: bibjson.institution?.name,
    publisher: bibjson.publisher?.name,
    language: bibjson.language?.join(", "),
    subjects: (bibjson.subject ?? []).map(({ term }) => term),
    indexed_in: ["DOAJ"],
    is_oa: true,
    homepage: bibjson.ref?.journal,
    source: { url: `https://doaj.org/toc/${id}` },
  };
}
