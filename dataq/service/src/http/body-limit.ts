import { findOperation, type Operation, operations } from "@dataq/contract";
import { BODY_LIMIT_BYTES } from "./app.ts";

const list: readonly Operation[] = operations;

/** The limit of the operation with the longest parameters. */
export const mostBodyBytes = Math.max(...list.map(({ bodyBytes }) => bodyBytes ?? BODY_LIMIT_BYTES));

/** Returns the limit for the body of a query, in bytes. */
export function bodyLimitOf(query: unknown): number {
  const { domain, operation } = (query ?? {}) as Readonly<Record<string, unknown>>;
  const name = String(operation).trim().toLowerCase();
  const found =
    findOperation(name) ??
    findOperation(`${String(domain).toLowerCase()}_${name}`) ??
    list.find((each) => each.name === `${each.domain}_${name}`);
  return found?.bodyBytes ?? BODY_LIMIT_BYTES;
}
