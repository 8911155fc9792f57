import {
  type MoreChoices,
  meanings,
  type Operation,
  operations,
  paramsSchema,
  recordSchema,
} from "@dataq/contract";
import type { CatalogEntry, olderCapabilities as capabilities, Sent } from "@dataq/contract/wire";
import type { PricesInForce } from "./prices.ts";

export function catalogEntry(operation: Operation, more: MoreChoices, prices: PricesInForce): CatalogEntry {
  const { tokens, cachedTokens } = prices(operation);
  return {
    operation: operation.name,
    domain: operation.domain,
    title: operation.title,
    description: operation.description,
    params: paramsSchema(operation, more),
    record: recordSchema(operation),
    meanings: meanings(operation),
    kind: operation.kind,
    paged: operation.paged,
    price: { tokens, cached_tokens: cachedTokens },
    cache_seconds: operation.cacheS,
    example: { params: operation.example },
  };
}

/** The operations as functions that a model can call, in the form of OpenAI's chat interface. */
export function modelTools(more: MoreChoices): object[] {
  return operations.map((operation) => ({
    type: "function",
    function: {
      name: operation.name,
      description: `${operation.description.en} ${operation.description.zh}`,
      parameters: paramsSchema(operation, more),
    },
  }));
}

/** The form in which the older published client looks for what there is. */
export function olderCapabilities(prices: PricesInForce): Sent<typeof capabilities> {
  const list: readonly Operation[] = operations;
  return {
    capabilities: list.map((operation) => {
      const { tokens } = prices(operation);
      return {
        domain: operation.domain,
        type: operation.olderType,
        operation: operation.name,
        description: operation.description.en,
        filters: paramsSchema(operation),
        units: tokens,
      };
    }),
  };
}
