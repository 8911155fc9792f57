import { SearchSource } from "../../../sources/search-source.ts";
import type { OperationParts } from "../../operation.ts";
import { lawArticleDocument } from "./corpus.ts";
import { tellLaws } from "./coverage.ts";
import { lawImport } from "./import/import-laws.ts";
import { lawReach } from "./reach.ts";
import { sampleLaws } from "./sample.ts";
import { laws } from "./source.ts";

export const legalLaws: OperationParts = {
  document: lawArticleDocument,
  source: (index, corpus, meaning) => new SearchSource(index, corpus, laws, { meaning }),
  sample: {
    count: sampleLaws().length,
    documents: () =>
      sampleLaws().flatMap(({ facts, articles }) =>
        articles.map(({ number, content, source }) =>
          lawArticleDocument({
            id: `${facts.law_id}:${number}`,
            law_name: facts.law_name,
            article_no: `第${"零一二三四五六七八九"[number]}条`,
            article: { number, sub: null },
            versions: [{ ...facts, chapter: null, section: null, content, source }],
          }),
        ),
      ),
  },
  samples: [{ query: "样例合同条例 第三条" }, { query: "样例数据条例 第一条" }, { query: "样例数据条例" }],
  import: lawImport,
  reach: lawReach,
  tellCoverage: tellLaws,
};
