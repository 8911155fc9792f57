import {
  chinaInstant,
  type MoreChoices,
  meanings,
  type Operation,
  operations,
  paramsSchema,
  recordSchema,
} from "@dataq/contract";
import type { CatalogEntry, olderCapabilities as capabilities, Sent } from "@dataq/contract/wire";
import { presets } from "../../connector/preset.ts";
import { openSets } from "../../importer/open-data/sets.ts";
import { publisherName } from "./publisher-name.ts";
import { exampleOf, notice, type TermsOf } from "./terms.ts";

export function catalogEntry(operation: Operation, more: MoreChoices, termsOf: TermsOf): CatalogEntry {
  const terms = termsOf(operation);
  const { tokens, cachedTokens, data, coverage, samples, from } = terms;
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
    price: {
      tokens,
      cached_tokens: cachedTokens,
      ...(operation.pricedPer !== undefined && { per: operation.pricedPer }),
    },
    cache_seconds: operation.cacheS,
    example: { params: exampleOf(operation, terms) },
    data,
    newest_day: coverage?.newest_day ?? null,
    coverage,
    publishers: [...from.publishers],
    publisher_names: from.publishers.map(publisherName),
    real_since: from.since === null ? null : chinaInstant(from.since),
    needs: operation.needs,
    open_data: openSets().flatMap(({ name, makes }) => (makes.includes(operation.name) ? [name] : [])),
    vendors: presets().flatMap(({ name, operations: answered }) =>
      answered[operation.name] === undefined ? [] : [name],
    ),
    samples: samples.map((params) => ({ params })),
  };
}

/** The operations as functions that a model can call, in the form of OpenAI's chat interface. */
export function modelTools(more: MoreChoices, termsOf: TermsOf): object[] {
  return operations.map((operation) => ({
    type: "function",
    function: {
      name: operation.name,
      description: describedWith(operation, termsOf),
      parameters: paramsSchema(operation, more),
    },
  }));
}

/** The list of operations in the form that the older published client expects. */
export function olderCapabilities(termsOf: TermsOf): Sent<typeof capabilities> {
  const list: readonly Operation[] = operations;
  return {
    capabilities: list.map((operation) => {
      const { tokens } = termsOf(operation);
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

function describedWith(operation: Operation, termsOf: TermsOf): string {
  const { en, zh } = operation.description;
  const known = notice(termsOf(operation));
  return `${en} ${zh} ${known.en}. ${known.zh}。`;
}
