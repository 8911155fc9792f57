import type { OperationParts } from "../../operation.ts";
import { tellLaws } from "../laws/coverage.ts";
import { CitationSource } from "./source.ts";

export const citationCheck: OperationParts = {
  reads: "legal_laws",
  source: (index, corpus) => new CitationSource(index, corpus),
  samples: [
    {
      text: "《样例合同条例》第三条规定：“一方不履行样例合同的，另一方可以请求其重新演示，或者解除样例合同。”",
    },
    { text: "《样例合同条例》第九条、样例数据条例第二条" },
  ],
  tellCoverage: tellLaws,
};
