import { chinaDate } from "@dataq/contract";
import type {
  Balance,
  Entry,
  OwnPrice,
  Pricing,
  RequestDetail,
  RequestRow,
  UsageRow,
} from "@dataq/contract/wire";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

export interface Page<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

export const balanceQuery = queryOptions({
  queryKey: ["balance"],
  queryFn: ({ signal }) => call<Balance>("/v1/balance", { signal }),
});

export const pricingQuery = queryOptions({
  queryKey: ["pricing"],
  queryFn: ({ signal }) => call<Pricing>("/v1/pricing", { signal }),
  staleTime: 60_000,
});

/** What the account itself pays. */
export const ownPricesQuery = queryOptions({
  queryKey: ["pricing", "own"],
  queryFn: ({ signal }) => call<{ data: readonly OwnPrice[] }>("/v1/prices", { signal }),
  staleTime: 60_000,
});

export function usageQuery(from: string, to: string, groupBy: string) {
  return queryOptions({
    queryKey: ["usage", from, to, groupBy],
    queryFn: ({ signal }) =>
      call<{ data: readonly UsageRow[] }>(
        `/v1/usage?${new URLSearchParams({ from, to, group_by: groupBy })}`,
        {
          signal,
        },
      ),
  });
}

/** The period of the overview's chart. */
export const recentDays = 30;

export function recentUsageQuery() {
  return usageQuery(chinaDay(recentDays - 1), chinaDay(), "day");
}

export const ledgerQuery = infiniteQueryOptions({
  queryKey: ["ledger"],
  queryFn: ({ pageParam, signal }) =>
    call<Page<Entry>>(`/v1/ledger?${cursor(pageParam, { limit: "50" })}`, { signal }),
  initialPageParam: "",
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

export interface RequestFilter {
  readonly operation: string;
  readonly status: string;
  /** ID of a key, or `user_…` for calls that a user makes in the console. */
  readonly key: string;
}

export function requestsQuery(filter: RequestFilter) {
  return infiniteQueryOptions({
    queryKey: ["requests", filter],
    queryFn: ({ pageParam, signal }) =>
      call<Page<RequestRow>>(`/v1/requests?${cursor(pageParam, { limit: "50", ...filter })}`, { signal }),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

export function requestQuery(id: string) {
  return queryOptions({
    queryKey: ["request", id],
    queryFn: ({ signal }) => call<RequestDetail>(`/v1/requests/${encodeURIComponent(id)}`, { signal }),
  });
}

export function redeemVoucher(
  code: string,
): Promise<{ tokens: number; balance: number; percent?: number; until?: string }> {
  return call("/v1/vouchers/redeem", { method: "POST", body: { code } });
}

/** The day in China, as billing counts it, `back` days before today. */
export function chinaDay(back = 0, now = Date.now()): string {
  return chinaDate(new Date(now - back * 86_400_000));
}

export function cursor(value: string, rest: Readonly<Record<string, string>>): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, text] of Object.entries(rest)) if (text !== "") search.set(name, text);
  if (value !== "") search.set("cursor", value);
  return search;
}
