import type { Bilingual, OperationName, Params } from "@dataq/contract";
import type { Target } from "../importer/target.ts";
import type { Meaning } from "../search/meaning/meaning.ts";
import type { IndexDocument, MakeDocument, SearchIndex } from "../search/search-index.ts";
import type { FromVendor } from "../sources/connected.ts";
import type { Identities } from "../sources/joining.ts";
import type { OptionalSource } from "../sources/layered.ts";
import type { Reach } from "../sources/reach.ts";
import type { Source } from "../sources/source.ts";
import type { TellCoverage } from "./covered.ts";

/**
 * What the service needs to answer an operation of the contract. The operation's folder has a file for each of these.
 */
export interface OperationParts {
  /**
   * The operation whose imported records and samples answer this one too. Such an operation has no `document`, `sample`
   * and `import` of its own.
   */
  readonly reads?: OperationName;
  /** The corpus from which answers are made where the operation has no records of its own. */
  readonly madeFrom?: string;
  /**
   * Makes an index document from a record, for operations that are searched. Records that are only looked up have
   * none.
   */
  readonly document?: MakeDocument;
  /** Makes the source that answers from a corpus of imported records or of samples. */
  readonly source: (index: SearchIndex, corpus: string, meaning?: Meaning) => OptionalSource;
  /** The values that samples answer; by default the operation's example. */
  readonly samples?: readonly Params[];
  /** Documents for a corpus of samples, or a source that generates its samples itself. */
  readonly sample?: SampleDocuments | Source;
  readonly import?: Target;
  /** What a record is, with its counter in Chinese: judgment, 篇裁判文书. */
  readonly unit?: Bilingual;
  /** What the imported records cover, where their number and their days do not say it. */
  readonly tellCoverage?: TellCoverage;
  /** The days and parts that a question asks about, where records have a day or are counted by parts. */
  readonly reach?: (params: Params) => Reach | undefined;
  /** The numbers by which publishers mean the same thing, if what several know of it is joined. */
  readonly identities?: Identities;
  /** What the operation adds to a vendor's answer. */
  readonly fromVendor?: FromVendor;
}

export interface SampleDocuments {
  readonly count: number;
  /** Set if live keys may ask any question, not only the published samples. */
  readonly isOpen?: true;
  documents(): Iterable<IndexDocument>;
}

/** Makes samples with the numbers from 0 to `count` - 1. */
export function numbered(count: number, document: (number: number) => IndexDocument): SampleDocuments {
  return {
    count,
    *documents() {
      for (let number = 0; number < count; number++) yield document(number);
    },
  };
}
