import type { SampleDocuments } from "./operation.ts";
import { registry } from "./registry.ts";

/** Name of the data set. Change it when the generator changes, so that older samples are rebuilt. */
export const sampleDataset = "sample-1";

/** The corpus of an operation's samples, separate from what is imported. */
export function sampleCorpus(corpus: string): string {
  return `${corpus}${ofSamples}`;
}

/** Whether a corpus holds samples, not real records. */
export function isOfSamples(corpus: string): boolean {
  return corpus.endsWith(ofSamples);
}

const ofSamples = "#sample";

/** The samples of every searched operation, smallest first, because they are ready first. */
export const sampleCorpora: readonly ({ readonly corpus: string } & SampleDocuments)[] = Object.entries(
  registry,
)
  .flatMap(([corpus, { sample }]) =>
    sample !== undefined && "documents" in sample ? [{ corpus, ...sample }] : [],
  )
  .sort((a, b) => a.count - b.count);
