import { keywordSamples } from "../../../sample/series.ts";
import { trendReach } from "../../../sources/reach.ts";
import type { OperationParts } from "../../operation.ts";
import { wechatImport } from "./import.ts";
import { sampleWechat } from "./sample.ts";
import { ImportedWechat } from "./source.ts";

export const wechatIndex: OperationParts = {
  source: (index, corpus) => new ImportedWechat(index, corpus),
  sample: sampleWechat,
  samples: keywordSamples,
  import: wechatImport,
  reach: trendReach(30),
  unit: { en: "series", zh: "条指数" },
};
