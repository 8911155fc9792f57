import { z } from "zod";
import type { Adapter, AdapterParts, Fields, Found, Send } from "../adapter.ts";
import { address, pageOf } from "./page.ts";
import { nameOf } from "./person.ts";
import { type Read, readJson } from "./read-json.ts";

const text = z.string().nullish();

const person = z.object({
  "orcid-id": z.string(),
  "given-names": text,
  "family-names": text,
  "credit-name": text,
  "institution-name": z.array(z.string()).nullish(),
});
const list = z.object({
  "expanded-result": z.array(person).nullish(),
  "num-found": z.number().int().nonnegative(),
});

const summary = z.object({
  title: z.object({ title: z.object({ value: text }).nullish() }).nullish(),
  "publication-date": z.object({ year: z.object({ value: text }).nullish() }).nullish(),
  "journal-title": z.object({ value: text }).nullish(),
  "put-code": z.number().int(),
});
const works = z.object({ group: z.array(z.object({ "work-summary": z.array(summary).min(1) })) });
type Works = z.infer<typeof works>;

/** People by name, with the works that they registered: one request for the page, and one for each person. */
export function orcidScholars({ operation, base, credentials }: AdapterParts): Adapter {
  const token = credentials["token"];
  const headers = {
    accept: "application/json",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  return {
    operation,
    takes: new Set(["name"]),
    ask: (params, send) => {
      const { size, from } = pageOf(params);
      const name = (params["name"] ?? "").replaceAll(/[+\-&|!(){}[\]^"~*?:\\/]/g, " ").trim();
      const query = `given-and-family-names:"${name}" OR credit-name:"${name}" OR other-names:"${name}"`;
      return search(query, from, size, send);
    },
    byNumber: {
      kind: "o:",
      find: (ids, send) => search(ids.map((id) => `orcid:${id}`).join(" OR "), 0, ids.length, send),
    },
  };

  async function search(q: string, start: number, rows: number, send: Send): Promise<Found> {
    const url = address(`${base}/expanded-search/`, { q, start, rows });
    const answer = await send({ method: "GET", url, headers });
    const read = readJson(answer, list);
    if ("found" in read) return read.found;
    const people: Fields[] = [];
    for (const each of read.value["expanded-result"] ?? []) {
      const own = await worksOf(base, each["orcid-id"], headers, send);
      if ("found" in own) return own.found;
      people.push(scholarOf(each, own.value));
    }
    return { outcome: "records", list: people, total: read.value["num-found"] };
  }
}

async function worksOf(
  base: string,
  id: string,
  headers: Readonly<Record<string, string>>,
  send: Send,
): Promise<Read<Works>> {
  const answer = await send({ method: "GET", url: `${base}/${encodeURIComponent(id)}/works`, headers });
  // Somebody may close a record between two requests.
  if (answer.status === 404 || answer.status === 409) return { value: { group: [] } };
  return readJson(answer, works);
}

function scholarOf(found: z.infer<typeof person>, { group }: Works): Fields {
  const id = found["orcid-id"];
  return {
    id,
    scholar_id: id,
    name: found["credit-name"] ?? nameOf(found["given-names"], found["family-names"]),
    affiliations: (found["institution-name"] ?? []).map((name) => ({ name, current: false })),
    works_count: group.length,
    orcid: id,
    publications: group.slice(0, 5).map(({ "work-summary": [first] }) => ({
      paper_id: `${id}/${first!["put-code"]}`,
      title: first!.title?.title?.value ?? "",
      year: Number(first!["publication-date"]?.year?.value) || null,
      venue: first!["journal-title"]?.value ?? null,
      citation_count: null,
    })),
    publications_total: group.length,
    source: { url: `https://orcid.org/${id}` },
  };
}
