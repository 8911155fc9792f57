import { type MoreChoices, operations } from "@dataq/contract";
import type { CatalogEntry } from "@dataq/contract/wire";
import type { ContractBook } from "../../connector/contract-book.ts";
import { archivedPlatforms } from "../../operations/content/hot-rank/platform.ts";
import type { SearchIndex } from "../../search/search-index.ts";
import type { HttpParts } from "../parts.ts";
import { readProviders } from "../provided-by.ts";
import { catalogEntry, modelTools, olderCapabilities } from "./catalog.ts";
import { llmsText } from "./llms.ts";
import { openApi } from "./openapi.ts";
import type { Terms, TermsOf } from "./terms.ts";

/** What the service offers. Each part is made when it is first asked for, because it takes a tenth of a second. */
export interface Offer {
  readonly entries: () => readonly CatalogEntry[];
  readonly tools: () => readonly object[];
  readonly capabilities: () => object;
  /** JSON */
  readonly openApi: () => string;
  readonly llms: () => string;
}

function offerWith(more: MoreChoices, termsOf: TermsOf): Offer {
  return {
    entries: madeOnce(() => operations.map((operation) => catalogEntry(operation, more, termsOf))),
    tools: madeOnce(() => modelTools(more, termsOf)),
    capabilities: madeOnce(() => olderCapabilities(termsOf)),
    openApi: madeOnce(() => JSON.stringify(openApi(more, termsOf))),
    llms: madeOnce(() => llmsText(termsOf)),
  };
}

function madeOnce<Value extends object | string>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Tells the present offer. The same object is returned while nothing has changed. */
export function offers(
  parts: Pick<HttpParts, "database" | "pipeline" | "clock"> & {
    readonly index: SearchIndex;
    readonly contracts: Pick<ContractBook, "of">;
  },
): () => Promise<Offer> {
  let made: { readonly of: string; readonly offer: Offer } | undefined;
  /** Rebuilt only when an import adds a platform, a day or real data, or when a new price takes effect. */
  return async () => {
    const platform = await archivedPlatforms(parts.index);
    const terms = new Map<string, Terms>();
    const known: unknown[] = [...platform];
    const providedBy = await readProviders(parts.database, parts.contracts);
    for (const { name } of operations) {
      const { tokens, cachedTokens, version } = await parts.pipeline.prices.find(name, parts.clock());
      const answered = await answeredBy(parts, name);
      const from = await providedBy(name, answered.data);
      terms.set(name, { tokens, cachedTokens, ...answered, from });
      known.push(version, answered.data, answered.coverage?.text.en, ...from.publishers, Number(from.since));
    }
    const of = known.join();
    if (made?.of !== of) made = { of, offer: offerWith({ platform }, ({ name }) => terms.get(name)!) };
    return made.offer;
  };
}

/** Where answers for live keys come from, and what the samples contain. */
export async function answeredBy(
  { pipeline }: Pick<HttpParts, "pipeline">,
  operation: string,
): Promise<Pick<Terms, "data" | "coverage" | "samples">> {
  const source = pipeline.sources.find(operation);
  if (source === undefined) return { data: "none", coverage: null, samples: [] };
  // Pages that tell what is here do not wait for the data of a first start.
  const data = (await source.answeredBy?.("now")) ?? "imported";
  const coverage = data === "imported" ? ((await source.coverage?.()) ?? null) : null;
  return { data, coverage, samples: source.samples ?? [] };
}
