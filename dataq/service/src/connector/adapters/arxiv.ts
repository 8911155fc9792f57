import {
  type Adapter,
  type AdapterParts,
  type Fields,
  type Found,
  refusalByStatus,
  type VendorAnswer,
  wrong,
} from "../adapter.ts";
import { address, doiIn, pageOf } from "./page.ts";

/** Preprints by words, author and date. The answer is an Atom feed. */
export function arxivPapers({ operation, base }: AdapterParts): Adapter {
  return {
    operation,
    takes: new Set(["query", "author", "year", "date_from", "date_to"]),
    async ask(params, send) {
      const { size, from } = pageOf(params);
      const doi = doiIn(params["query"]);
      const words = doi === undefined ? (params["query"] ?? "") : "";
      const terms = [
        ...words
          .split(/\s+/)
          .filter(Boolean)
          .map((word) => `all:${quoted(word)}`),
        ...(doi === undefined ? [] : [`doi:${quoted(doi)}`]),
        ...(params["author"] ? [`au:${quoted(params["author"])}`] : []),
        ...range(
          params["date_from"] ?? yearStart(params["year"]),
          params["date_to"] ?? yearEnd(params["year"]),
        ),
      ];
      const url = address(`${base}/query`, {
        search_query: terms.join(" AND "),
        start: from,
        max_results: size,
      });
      return papersIn(await send({ method: "GET", url, headers: atom }));
    },
    byNumber: {
      kind: "x:",
      async find(ids, send) {
        const url = address(`${base}/query`, { id_list: ids.join(","), max_results: ids.length });
        return papersIn(await send({ method: "GET", url, headers: atom }));
      },
    },
  };
}

const atom = { accept: "application/atom+xml" };

function papersIn(answer: VendorAnswer): Found {
  const refused = refusalByStatus(answer);
  if (refused !== undefined) return refused;
  const total = Number(textIn(answer.text, "opensearch:totalResults"));
  if (!/<feed[\s>]/.test(answer.text) || !/<\/feed>\s*$/.test(answer.text) || !Number.isSafeInteger(total))
    return wrong("the answer is not a complete Atom feed", "响应不是完整的 Atom 数据");
  const entries = piecesOf(answer.text, "entry");
  const failed = entries.find((entry) => textIn(entry, "id")?.includes("/api/errors"));
  if (failed !== undefined) {
    const why = textIn(failed, "summary") ?? "an error";
    return wrong(`arXiv answered: ${why}`, `arXiv 返回错误：${why}`);
  }
  return { outcome: "records", list: entries.map(paperOf), total };
}

/** A quote or a bracket would end the term. */
function quoted(words: string): string {
  return `"${words.replaceAll(/["()\\]/g, " ").trim()}"`;
}

function yearStart(year: string | undefined): string | undefined {
  return year === undefined || year === "" ? undefined : `${year}-01-01`;
}

function yearEnd(year: string | undefined): string | undefined {
  return year === undefined || year === "" ? undefined : `${year}-12-31`;
}

function range(from: string | undefined, to: string | undefined): string[] {
  if (!from && !to) return [];
  const compact = (day: string) => day.replaceAll("-", "");
  return [`submittedDate:[${compact(from || "1991-01-01")}0000 TO ${compact(to || "2100-12-31")}2359]`];
}

function paperOf(entry: string): Fields {
  const address = textIn(entry, "id") ?? "";
  const id = address.replace(/^https?:\/\/arxiv\.org\/abs\//, "").replace(/v\d+$/, "");
  const published = textIn(entry, "published")?.slice(0, 10) ?? null;
  const categories = [...entry.matchAll(/<category\s[^>]{0,300}?term="([^"]{1,60})"/g)].map(
    ([, term]) => term,
  );
  const journal = textIn(entry, "arxiv:journal_ref");
  return {
    id,
    paper_id: id,
    doi: textIn(entry, "arxiv:doi") ?? null,
    title: textIn(entry, "title") ?? "",
    authors: piecesOf(entry, "author").map((author) => ({
      name: textIn(author, "name") ?? "",
      scholar_id: null,
      affiliation: textIn(author, "arxiv:affiliation") ?? null,
      orcid: null,
      corresponding: false,
    })),
    abstract: textIn(entry, "summary") ?? null,
    keywords: categories,
    publication_date: published,
    year: published === null ? null : Number(published.slice(0, 4)),
    journal: journal ? { name: journal, issn: null, volume: null, issue: null, pages: null } : null,
    type: "preprint",
    language: "en",
    indexed_in: ["arxiv"],
    open_access: { is_oa: true, url: `https://arxiv.org/pdf/${id}` },
    retracted: false,
    source: { url: `https://arxiv.org/abs/${id}` },
  };
}

/** The insides of all elements of a name that do not lie in each other. Reads the text once. */
function piecesOf(text: string, name: string): string[] {
  const pieces: string[] = [];
  const end = `</${name}>`;
  const begin = new RegExp(`<${name}(?:\\s[^<>]{0,1000})?>`, "g");
  for (let found = begin.exec(text); found !== null; found = begin.exec(text)) {
    const until = text.indexOf(end, begin.lastIndex);
    if (until < 0) break;
    pieces.push(text.slice(begin.lastIndex, until));
    begin.lastIndex = until + end.length;
  }
  return pieces;
}

function textIn(text: string, name: string): string | undefined {
  const [piece] = piecesOf(text, name);
  return piece === undefined ? undefined : unescaped(piece).replaceAll(/\s+/g, " ").trim();
}

function unescaped(text: string): string {
  const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{2,4}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
