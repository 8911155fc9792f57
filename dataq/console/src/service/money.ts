import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

export interface Balance {
  readonly balance: number;
  readonly trial_balance: number;
  readonly paid_balance: number;
  readonly held: number;
  readonly currency: string;
  readonly tokens_per_cny: number;
  readonly trial_expires_at?: string | null;
  readonly credit_balance?: number;
  readonly credit_limit?: number;
}

export type EntryKind = "grant" | "topup" | "hold" | "capture" | "void" | "reverse" | "expire" | "adjust";

export interface Entry {
  readonly id: string | number;
  readonly at: string;
  readonly kind: EntryKind;
  readonly request_id: string | null;
  readonly operation: string | null;
  readonly tokens: number;
  readonly balance_after: number;
  readonly price_version: number | null;
  readonly note: string | null;
}

export interface Page<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

export interface UsageRow {
  readonly day?: string;
  readonly operation?: string;
  readonly key?: string;
  readonly calls: number;
  readonly billed_calls: number;
  readonly cached_calls: number;
  readonly failed_calls: number;
  readonly tokens: number;
}

export interface Price {
  readonly operation: string;
  readonly tokens: number;
  readonly cached_tokens: number | null;
  readonly version: number;
  readonly effective_from: string;
}

export interface RequestRow {
  readonly id: string;
  readonly at: string;
  readonly operation: string | null;
  readonly key_id?: string | null;
  /** Missing when only the ledger knows of the call. */
  readonly status?: number;
  readonly code?: string | null;
  readonly latency_ms?: number;
  readonly cached?: boolean;
  readonly tokens?: number;
  readonly entries?: readonly Entry[];
}

export const balanceQuery = queryOptions({
  queryKey: ["balance"],
  queryFn: ({ signal }) => call<Balance>("/v1/balance", { signal }),
});

export const pricingQuery = queryOptions({
  queryKey: ["pricing"],
  queryFn: ({ signal }) => call<{ data: readonly Price[] }>("/v1/pricing", { signal }),
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

/** What the overview charts. */
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
    queryFn: ({ signal }) => call<RequestRow>(`/v1/requests/${encodeURIComponent(id)}`, { signal }),
  });
}

export function redeemVoucher(code: string): Promise<{ tokens: number; balance: number }> {
  return call("/v1/vouchers/redeem", { method: "POST", body: { code } });
}

/** Days in China, as the bills count them; `back` days before today. */
export function chinaDay(back = 0, now = Date.now()): string {
  return new Date(now + 8 * 3_600_000 - back * 86_400_000).toISOString().slice(0, 10);
}

export function cursor(value: string, rest: Readonly<Record<string, string>>): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, text] of Object.entries(rest)) if (text !== "") search.set(name, text);
  if (value !== "") search.set("cursor", value);
  return search;
}
