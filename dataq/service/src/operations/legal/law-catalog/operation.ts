import type { OperationParts } from "../../operation.ts";
import { tellLaws } from "../laws/coverage.ts";
import { sampleLaws } from "../laws/sample.ts";
import { lawEntryDocument } from "./corpus.ts";
import { catalogImport } from "./import.ts";
import { LawCatalogSource } from "./source.ts";

export const lawCatalog: OperationParts = {
  document: lawEntryDocument,
  source: (index, corpus) => new LawCatalogSource(index, corpus),
  sample: {
    count: sampleLaws().length,
    documents: () =>
      sampleLaws().map(({ facts, articles }) =>
        lawEntryDocument({
          ...facts,
          article_count: articles.length,
          source: (articles[0] as (typeof articles)[number]).source,
        }),
      ),
  },
  import: catalogImport,
  tellCoverage: tellLaws,
};
