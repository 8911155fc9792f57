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
  readonly title: Bilingual | string;
  readonly description: Bilingual | string;
  readonly kind: "list" | "single";
  readonly paged: boolean;
  readonly params: Schema;
  readonly record: Schema;
  readonly example: { readonly params: Readonly<Record<string, string>> };
}

export const catalogQuery = queryOptions({
  queryKey: ["catalog"],
  queryFn: async ({ signal }) => {
    const answer = await call<unknown>("/v1/catalog", { signal });
    return readCatalog(answer);
  },
  staleTime: 300_000,
});

export interface Status {
  readonly [part: string]: unknown;
}

export const statusQuery = queryOptions({
  queryKey: ["status"],
  queryFn: ({ signal }) => call<Status>("/v1/status", { signal }),
});

/** The operations of the catalogue; what an older service left out is filled with nothing. */
export function readCatalog(answer: unknown): readonly CatalogOperation[] {
  const list = Array.isArray(answer)
    ? answer
    : ((answer as { data?: unknown; operations?: unknown }).data ??
      (answer as { operations?: unknown }).operations ??
      []);
  return (list as Partial<CatalogOperation & { parameters: Schema; operation: string }>[]).map((one) => ({
    name: one.name ?? one.operation ?? "",
    domain: one.domain ?? "",
    title: one.title ?? one.name ?? "",
    description: one.description ?? "",
    kind: one.kind ?? "list",
    paged: one.paged ?? false,
    params: one.params ?? one.parameters ?? {},
    record: one.record ?? {},
    example: one.example ?? { params: {} },
  }));
}

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
