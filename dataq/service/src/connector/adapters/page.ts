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
