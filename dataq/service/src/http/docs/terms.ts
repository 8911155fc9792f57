import type { Bilingual, Operation, Params } from "@dataq/contract";
import type { DataKind } from "../../sources/source.ts";

/** What an operation costs now, and where its answers come from. */
export interface Terms {
  readonly tokens: number;
  readonly cachedTokens: number | null;
  readonly data: DataKind;
  /** Dates of the imported records, if they have any. */
  readonly newestDay: string | null;
  readonly samples: readonly Params[];
}

export type TermsOf = (operation: Operation) => Terms;

/** Where answers come from on this service, so that callers know it before the call. */
export function notice({ data, newestDay }: Terms): Bilingual {
  if (data === "connector")
    return { en: "Answered by the operator's data vendor", zh: "由服务方接入的数据供应商实时返回" };
  if (data === "imported")
    return newestDay === null
      ? { en: "Imported records", zh: "已导入真实数据" }
      : { en: `Imported records, the newest of ${newestDay}`, zh: `已导入真实数据，最新日期 ${newestDay}` };
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
