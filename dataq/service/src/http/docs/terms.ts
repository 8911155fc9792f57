import type { Bilingual, Operation, Params } from "@dataq/contract";
import type { Coverage } from "@dataq/contract/wire";
import type { HeldFrom } from "../../importer/runs.ts";
import type { DataKind } from "../../sources/source.ts";

/** What an operation costs now, and where its answers come from. */
export interface Terms {
  readonly tokens: number;
  readonly cachedTokens: number | null;
  readonly data: DataKind;
  /** What is imported; null if nothing is. */
  readonly coverage: Coverage | null;
  readonly samples: readonly Params[];
  /** Who published the records, and since when the operation has real ones. */
  readonly from: HeldFrom;
}

export type TermsOf = (operation: Operation) => Terms;

/** Where answers come from on this service, so that callers know it before the call. */
export function notice({ data, coverage }: Terms): Bilingual {
  if (data === "connector")
    return { en: "Answered by the operator's data vendor", zh: "由服务方接入的数据供应商实时返回" };
  if (data === "imported")
    return coverage === null
      ? { en: "Imported records", zh: "已导入真实数据" }
      : { en: `Held here: ${coverage.text.en}`, zh: `本服务现有：${coverage.text.zh}` };
  if (data === "sample")
    return {
      en: "Generated samples only on this service, free of charge",
      zh: "本服务仅有生成的样例，免费",
    };
  return { en: "Not available on this service", zh: "本服务未提供" };
}

/** The example of an operation that has samples only must be one of them. */
export function exampleOf({ example }: Operation, { data, samples }: Terms): Params {
  return data === "sample" ? (samples[0] ?? example) : example;
}
