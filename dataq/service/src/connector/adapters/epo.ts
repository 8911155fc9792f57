import { z } from "zod";
import type { Adapter, AdapterParts, Fields, Found, Send, VendorAnswer } from "../adapter.ts";
import { address, pageOf } from "./page.ts";
import { readJson } from "./read-json.ts";

/** OPS gives the first 2,000 results, and 100 at once. */
const DEEPEST = 2_000;

/** A token is renewed so long before its end, in milliseconds. */
const BEFORE_END_MS = 60_000;

const token = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number() });

/** In JSON, OPS writes the text of an element as `$` and its attributes with `@`; one element is not in a list. */
const words = z.object({ $: z.coerce.string() });
const many = <Item extends z.ZodType>(item: Item) =>
  z
    .union([z.array(item), item])
    .nullish()
    .transform((found): z.infer<Item>[] =>
      found === null || found === undefined
        ? []
        : ((Array.isArray(found) ? found : [found]) as z.infer<Item>[]),
    );

const documentId = z.object({
  "@document-id-type": z.string().nullish(),
  country: words.nullish(),
  "doc-number": words.nullish(),
  kind: words.nullish(),
  date: words.nullish(),
});
const reference = z.object({ "document-id": many(documentId) }).nullish();
const party = (kind: "applicant" | "inventor") =>
  z.object({ "@data-format": z.string().nullish(), [`${kind}-name`]: z.object({ name: words }).nullish() });

const exchangeDocument = z.object({
  "@country": z.string(),
  "@doc-number": z.string(),
  "@kind": z.string(),
  "bibliographic-data": z.object({
    "invention-title": many(z.object({ $: z.coerce.string(), "@lang": z.string().nullish() })),
    "publication-reference": reference,
    "application-reference": reference,
    parties: z
      .object({
        applicants: z.object({ applicant: many(party("applicant")) }).nullish(),
        inventors: z.object({ inventor: many(party("inventor")) }).nullish(),
      })
      .nullish(),
    "classifications-ipcr": z.object({ "classification-ipcr": many(z.object({ text: words })) }).nullish(),
  }),
  abstract: many(z.object({ "@lang": z.string().nullish(), p: many(words) })),
});

const found = z.object({
  "ops:world-patent-data": z.object({
    "ops:biblio-search": z.object({
      "@total-result-count": z.coerce.number().int().nonnegative(),
      "ops:search-result": z
        .object({ "exchange-documents": many(z.object({ "exchange-document": many(exchangeDocument) })) })
        .nullish(),
    }),
  }),
});

/** Chinese publications in the EPO's database, by words, number and applicant. Words are those of English titles. */
export function epoPatents({ operation, base, credentials, now }: AdapterParts): Adapter {
  let held: { readonly token: string; readonly untilMs: number } | undefined;
  const signIn = async (send: Send): Promise<string | Found> => {
    if (held !== undefined && now().getTime() < held.untilMs) return held.token;
    const basic = Buffer.from(`${credentials["key"]}:${credentials["secret"]}`).toString("base64");
    const answer = await send({
      method: "POST",
      url: `${base}/auth/accesstoken`,
      headers: { authorization: `Basic ${basic}`, "content-type": "application/x-www-form-urlencoded" },
      body: "grant_type=client_credentials",
      secrets: [basic],
      isFree: true,
    });
    const read = readJson(answer, token);
    if ("found" in read) return read.found;
    const { access_token, expires_in } = read.value;
    held = { token: access_token, untilMs: now().getTime() + expires_in * 1000 - BEFORE_END_MS };
    return access_token;
  };
  return {
    operation,
    takes: new Set(["query", "applicant"]),
    async ask(params, send) {
      const { size, from } = pageOf(params);
      if (from + size > DEEPEST) return { outcome: "records", list: [], total: DEEPEST };
      const access = await signIn(send);
      if (typeof access !== "string") return access;
      const answer = await send({
        method: "GET",
        url: address(`${base}/rest-services/published-data/search/biblio`, {
          q: questionOf(params["query"], params["applicant"]),
          Range: `${from + 1}-${from + size}`,
        }),
        headers: { accept: "application/json", authorization: `Bearer ${access}` },
        secrets: [access],
      });
      // OPS answers 404 if nothing is found, and 403 with a reason if a quota is used up.
      if (answer.status === 404) return { outcome: "records", list: [], total: 0 };
      if (answer.status === 401) held = undefined;
      const slowed = throttled(answer);
      if (slowed !== undefined) return slowed;
      const read = readJson(answer, found);
      if ("found" in read) return read.found;
      const search = read.value["ops:world-patent-data"]["ops:biblio-search"];
      const documents = (search["ops:search-result"]?.["exchange-documents"] ?? []).flatMap((each) =>
        each["exchange-document"].slice(0, 1),
      );
      return { outcome: "records", list: documents.map(patentOf), total: search["@total-result-count"] };
    },
  };
}

function questionOf(query: string | undefined, applicant: string | undefined): string {
  const plain = (text: string) => text.replaceAll(/["\\()=<>]/g, " ").trim();
  const number = /^(?:CN)?\s*(\d{7,13}(?:\.?[\dX])?)\s*([A-Z]\d?)?$/i.exec(query?.trim() ?? "");
  return [
    "pn=CN",
    ...(query && !number
      ? plain(query)
          .split(/\s+/)
          .filter(Boolean)
          .map((word) => `txt="${word}"`)
      : []),
    ...(number ? [`num=CN${number[1]?.replace(/\.[\dX]$/i, "")}`] : []),
    ...(applicant ? [`pa="${plain(applicant)}"`] : []),
  ].join(" and ");
}

function throttled({ status, headers }: VendorAnswer): Found | undefined {
  const reason = headers["x-rejection-reason"];
  if (status !== 403 || reason === undefined) return undefined;
  const why = { en: `the quota is used up: ${reason}`, zh: `配额已用完：${reason}` };
  const isWeekly = /registered|week/i.test(reason);
  return { outcome: "unavailable", reason: "limited", why, retryAfterS: isWeekly ? 3_600 : 60 };
}

function patentOf(document: z.infer<typeof exchangeDocument>): Fields {
  const { "@country": country, "@doc-number": number, "@kind": kind, abstract } = document;
  const data = document["bibliographic-data"];
  const publication = `${country}${number}${kind}`;
  const application = data["application-reference"]?.["document-id"] ?? [];
  const published = data["publication-reference"]?.["document-id"] ?? [];
  const granted = /^[BCUYS]/.test(kind);
  const day = (ids: typeof application) => dayOf(ids.map(({ date }) => date?.$).find(Boolean));
  return {
    id: publication,
    patent_id: publication,
    application_no: numberOf(application),
    publication_no: granted ? null : publication,
    grant_no: granted ? publication : null,
    title: preferred(data["invention-title"].map(({ $, "@lang": lang }) => ({ lang, text: $ }))) ?? "",
    abstract: preferred(
      abstract.map(({ p, "@lang": lang }) => ({ lang, text: p.map(({ $ }) => $).join("\n") })),
    ),
    type:
      kind.startsWith("U") || kind.startsWith("Y")
        ? "utility_model"
        : kind.startsWith("S")
          ? "design"
          : "invention",
    applicants: namesOf(data.parties?.applicants?.applicant ?? [], "applicant-name"),
    inventors: namesOf(data.parties?.inventors?.inventor ?? [], "inventor-name"),
    ipc: (data["classifications-ipcr"]?.["classification-ipcr"] ?? []).map(({ text }) =>
      text.$.replaceAll(/\s+/g, "").slice(0, 20),
    ),
    application_date: day(application),
    publication_date: granted ? null : day(published),
    grant_date: granted ? day(published) : null,
    // A publication does not say what became of the patent.
    legal_status: "unknown",
    legal_status_text: granted ? "已授权公告，当前法律状态未知" : "已公布，当前法律状态未知",
    source: { url: `https://worldwide.espacenet.com/patent/search?q=pn%3D${publication}` },
  };
}

/** The original names are better than those in the database's own spelling. */
function namesOf(parties: readonly object[], member: string): string[] {
  const named = parties as readonly {
    "@data-format"?: string | null;
    [name: string]: { name: { $: string } } | string | null | undefined;
  }[];
  const format = named.some((each) => each["@data-format"] === "original") ? "original" : "epodoc";
  return named
    .filter((each) => each["@data-format"] === format)
    .map(
      (each) => (each[member] as { name: { $: string } } | undefined)?.name.$.replace(/[\s,;]+$/, "") ?? "",
    )
    .filter(Boolean);
}

function numberOf(ids: readonly z.infer<typeof documentId>[]): string | null {
  const id = ids.find((each) => each["@document-id-type"] === "docdb") ?? ids[0];
  const number = id?.["doc-number"]?.$;
  return number === undefined ? null : `${id?.country?.$ ?? ""}${number}`;
}

function dayOf(text: string | undefined): string | null {
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})$/.exec(text ?? "") ?? [];
  return year === undefined ? null : `${year}-${month}-${day}`;
}

function preferred(texts: readonly { lang: string | null | undefined; text: string }[]): string | null {
  const by = (lang: string) => texts.find((each) => each.lang === lang)?.text;
  return by("zh") ?? by("en") ?? texts[0]?.text ?? null;
}
