import type { Bilingual, Operation, Params } from "@dataq/contract";
import type { DataKind } from "../../sources/source.ts";

/** What an operation costs now, and what answers it. */
export interface Terms {
  readonly tokens: number;
  readonly cachedTokens: number | null;
  readonly data: DataKind;
  readonly samples: readonly Params[];
}

export type TermsOf = (operation: Operation) => Terms;

/** What a caller has to know before the call; undefined where real data answers. */
export function notice({ data }: Terms): Bilingual | undefined {
  if (data === "sample")
    return {
      en: "Generated samples only on this service, free of charge",
      zh: "本服务仅有生成的样例，免费",
    };
  if (data === "none") return { en: "Not available on this service", zh: "本服务未提供" };
  return undefined;
}
