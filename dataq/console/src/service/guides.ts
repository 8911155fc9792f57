import { queryOptions } from "@tanstack/react-query";
import type { Language } from "../ui/look.ts";
import { call } from "./call.ts";

/** A part of the documentation: a page, or a heading of one. */
interface Guide {
  /** Below /docs/. */
  readonly address: string;
  readonly page: string;
  readonly heading: string;
}

/** The index of the documentation's search. Only the guides of this product are of use here. */
export function guidesQuery(language: Language) {
  return queryOptions({
    queryKey: ["guides", language],
    queryFn: async ({ signal }) =>
      (await call<readonly Guide[]>(`/docs/search-${language}.json`, { signal })).filter(({ address }) =>
        /^(?:zh\/)?dataq\//.test(address),
      ),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}
