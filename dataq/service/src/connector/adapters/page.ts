import type { Params } from "@dataq/contract";

/** Number and size of the wanted page. */
export function pageOf(params: Params): {
  readonly page: number;
  readonly size: number;
  readonly from: number;
} {
  const page = Number(params["page"] ?? 1);
  const size = Number(params["page_size"] ?? 20);
  return { page, size, from: (page - 1) * size };
}

/** An address with those of the parameters that have a value. */
export function address(base: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => `${name}=${encodeURIComponent(value!)}`);
  return pairs.length === 0 ? base : `${base}?${pairs.join("&")}`;
}

/** The DOI that a question is, or undefined. */
export function doiIn(query: string | undefined): string | undefined {
  const text = query?.trim().replace(/^(?:https?:\/\/(?:dx\.)?doi\.org\/|doi:\s*)/i, "");
  return text !== undefined && /^10\.\d{4,9}\/\S+$/.test(text) ? text.toLowerCase() : undefined;
}

/** The ISSN that a question is, or undefined. */
export function issnIn(query: string | undefined): string | undefined {
  const [, first, last] = /^(\d{4})-?(\d{3}[\dXx])$/.exec(query?.trim() ?? "") ?? [];
  return first === undefined || last === undefined ? undefined : `${first}-${last.toUpperCase()}`;
}

/** The values of the identities of a kind: with `d:`, the DOIs. A text that could end a filter is left out. */
export function valuesOf(kind: string, identities: readonly string[]): string[] {
  return identities
    .filter((each) => each.startsWith(kind))
    .map((each) => each.slice(kind.length))
    .filter((value) => /^[^\s,|"()]{1,200}$/.test(value))
    .slice(0, MOST_AT_ONCE);
}

/** No publisher is asked about more things in one request. */
const MOST_AT_ONCE = 50;
