import type { Envelope } from "@dataq/contract";
import type { CatalogEntry, Estimate, Status } from "@dataq/contract/wire";
import { queryOptions } from "@tanstack/react-query";
import { call, exchange } from "./call.ts";

/** The part of JSON Schema that the contract uses. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly (string | null)[];
  readonly maxLength?: number;
  readonly anyOf?: readonly Schema[];
  readonly format?: string;
  readonly const?: unknown;
}

/** An entry of the catalogue with typed schemas. */
export interface CatalogOperation extends Omit<CatalogEntry, "operation" | "params" | "record"> {
  readonly name: string;
  readonly params: Schema;
  readonly record: Schema;
}

export const catalogQuery = queryOptions({
  queryKey: ["catalog"],
  queryFn: async ({ signal }): Promise<readonly CatalogOperation[]> => {
    const { data } = await call<{ data: readonly CatalogEntry[] }>("/v1/catalog", { signal });
    return data.map(({ operation, ...rest }) => ({ name: operation, ...rest }));
  },
  staleTime: 300_000,
});

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

/** The answer of any operation. */
export type Answer = Omit<Envelope, "data"> & {
  readonly data: readonly Record<string, unknown>[] | Record<string, unknown>;
};

export function estimate(body: QueryBody, signal?: AbortSignal): Promise<Estimate> {
  return call("/v1/data/estimate", { method: "POST", body, signal });
}

/** `isKept` is false for an answer that the service must not keep for a repeat. */
export function runQuery(body: QueryBody, signal: AbortSignal, isKept = true) {
  const headers: Record<string, string> = isKept ? {} : { "cache-control": "no-store" };
  return exchange<Answer>("/v1/data/query", { method: "POST", body, headers, signal });
}
