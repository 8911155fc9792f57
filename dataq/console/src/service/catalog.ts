import { queryOptions } from "@tanstack/react-query";
import { call, exchange } from "./call.ts";

export interface Bilingual {
  readonly en: string;
  readonly zh: string;
}

/** As much of JSON Schema as the contract's records and parameters use. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly (string | null)[];
  readonly anyOf?: readonly Schema[];
  readonly format?: string;
  readonly const?: unknown;
}

export interface CatalogOperation {
  readonly name: string;
  readonly domain: string;
  readonly title: Bilingual;
  readonly description: Bilingual;
  readonly kind: "list" | "single";
  readonly paged: boolean;
  readonly params: Schema;
  readonly record: Schema;
  /** What fields mean, by path: `judges[].name`. */
  readonly meanings: Readonly<Record<"params" | "record", Readonly<Record<string, Bilingual>>>>;
  readonly example: { readonly params: Readonly<Record<string, string>> };
}

export const catalogQuery = queryOptions({
  queryKey: ["catalog"],
  queryFn: async ({ signal }): Promise<readonly CatalogOperation[]> => {
    const { data } = await call<{
      data: readonly (Omit<CatalogOperation, "name"> & { operation: string })[];
    }>("/v1/catalog", { signal });
    return data.map(({ operation, ...rest }) => ({ name: operation, ...rest }));
  },
  staleTime: 300_000,
});

/** What is behind each operation, and in what state. */
export interface Status {
  readonly operations: readonly {
    readonly operation: string;
    readonly data: string;
    readonly index: {
      readonly size: number;
      readonly refreshed_at: string | null;
      readonly next_refresh_at: string | null;
    } | null;
    readonly building: { readonly done: number; readonly total: number | null } | null;
    readonly overdue: boolean;
  }[];
}

export const statusQuery = queryOptions({
  queryKey: ["status"],
  queryFn: async ({ signal }) => (await call<{ data: Status }>("/v1/status", { signal })).data,
});

export interface QueryBody {
  readonly operation: string;
  readonly params: Readonly<Record<string, string>>;
  readonly page?: number;
  readonly page_size?: number;
  readonly cache?: "bypass";
}

export interface Usage {
  readonly tokens: number;
  readonly list_tokens: number;
  readonly cached: boolean;
  readonly billed: boolean;
  readonly reason: string | null;
  readonly balance: number;
}

export interface Envelope {
  readonly data: readonly Record<string, unknown>[] | Record<string, unknown>;
  readonly page: number;
  readonly total?: number;
  readonly total_relation?: "eq" | "gte";
  readonly total_pages: number;
  readonly request_id: string;
  readonly usage: Usage;
  readonly warnings?: readonly string[];
  readonly summary?: Record<string, unknown>;
}

export interface Estimate {
  readonly tokens: number;
  readonly cached: boolean;
  readonly balance_after: number;
}

export function estimate(body: QueryBody, signal?: AbortSignal): Promise<Estimate> {
  return call("/v1/data/estimate", { method: "POST", body, signal });
}

export function runQuery(body: QueryBody) {
  return exchange<Envelope>("/v1/data/query", { method: "POST", body });
}
