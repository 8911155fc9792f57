import { findOperation, type Operation } from "@dataq/contract";
import type { Contract } from "../connector/contract.ts";
import type { Meaning } from "../search/meaning/meaning.ts";
import type { SearchIndex } from "../search/search-index.ts";
import { connected } from "../sources/connected.ts";
import { LayeredSource, type Layers, type OptionalSource } from "../sources/layered.ts";
import type { Source, Sources } from "../sources/source.ts";
import { Coverages } from "./coverage.ts";
import { corpusOf, registry } from "./registry.ts";
import { sampleCorpus } from "./sample-corpora.ts";

/** The operations whose records have a text to compare by meaning. */
export const searchedByMeaning = ["legal_laws", "legal_cases", "research_paper_search"] as const;

export interface SourceParts {
  readonly index: SearchIndex;
  /** Whether samples answer live keys where nothing real is configured. */
  readonly samples: boolean;
  /** The operator's contracts with vendors, as they are at the moment. */
  readonly contracts?: { of(operation: string): Promise<readonly Contract[]> };
  /** Resolves when a corpus that a first start builds is ready, or will not be built. */
  readonly ready?: (corpus: string) => Promise<void>;
  /** Searches imported records by meaning too. */
  readonly meaning?: Meaning | undefined;
}

/** The sources of every operation: connector, imported records, samples. */
export function createSources(parts: SourceParts): Sources {
  const { index, contracts } = parts;
  const coverages = new Coverages(index);
  const sources = new Map(
    Object.entries(registry).map(([name, { source, sample, samples, fromVendor, reach, identities }]) => {
      const corpusSource = (corpus: string, meaning?: Meaning) =>
        awaited(corpus, source(index, corpus, meaning), parts);
      const documents = sample !== undefined && "documents" in sample ? sample : undefined;
      const own = sample !== undefined && "documents" in sample ? undefined : sample;
      const imported = corpusSource(corpusOf(name), parts.meaning);
      const joining = identities && { identities, imported: imported.asOfNow ?? imported };
      const layers: Layers = {
        ...(contracts && {
          connector: contractSource(name, contracts, (able) => connected(name, able, fromVendor, joining)),
        }),
        imported,
        coverage: () => coverages.of(name),
        reach,
        sample: own ?? corpusSource(sampleCorpus(corpusOf(name))),
        samples: samples ?? [(findOperation(name) as Operation).example],
        sampleScope: own !== undefined ? "own" : documents?.isOpen ? "any" : "published",
        hasLiveSamples: parts.samples,
      };
      return [name, new LayeredSource(name, layers)];
    }),
  );
  return { find: (operation) => sources.get(operation) };
}

/** The contracts may change while the service runs. */
function contractSource(
  operation: string,
  contracts: NonNullable<SourceParts["contracts"]>,
  make: (contracts: readonly Contract[]) => Source,
): () => Promise<Source | undefined> {
  let made: { readonly of: readonly Contract[]; readonly source: Source | undefined } | undefined;
  return async () => {
    const now = await contracts.of(operation);
    const isSame = made?.of.length === now.length && made.of.every((each, place) => each === now[place]);
    if (made === undefined || !isSame) made = { of: now, source: now.length === 0 ? undefined : make(now) };
    return made.source;
  };
}

/** A first start builds some corpora in the background. A call that needs one waits for it. */
function awaited(corpus: string, source: OptionalSource, parts: SourceParts): OptionalSource {
  const ready = async () => parts.ready?.(corpus);
  const { check, count, hasGenerated, normalised } = source;
  return {
    asOfNow: source,
    async exists() {
      await ready();
      return source.exists();
    },
    async version(sandbox) {
      await ready();
      return source.version(sandbox);
    },
    async run(params, page, context) {
      await ready();
      return source.run(params, page, context);
    },
    ...(check && { check: check.bind(source) }),
    ...(count && {
      async count(params, sandbox) {
        await ready();
        return count.call(source, params, sandbox);
      },
    }),
    ...(normalised && { normalised: normalised.bind(source) }),
    ...(hasGenerated && {
      async hasGenerated() {
        await ready();
        return hasGenerated.call(source);
      },
    }),
  };
}
