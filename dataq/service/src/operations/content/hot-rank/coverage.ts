import { counted } from "@dataq/contract";
import { type TellCoverage, withDays } from "../../covered.ts";
import { rankingKey } from "./corpus.ts";

/** The days of each platform. */
export const tellRankings: TellCoverage = async ({ index, corpus }) => {
  const days = new Map<string, string[]>();
  for (const term of await index.terms(corpus, `k:${rankingKey("", "").slice(0, -1)}`)) {
    const [, platform = "", day = ""] = term.split("|");
    const held = days.get(platform);
    if (held === undefined) days.set(platform, [day]);
    else held.push(day);
  }
  if (days.size === 0) return undefined;
  const parts = [...days].map(([platform, held]) => {
    const sorted = held.toSorted();
    return {
      what: { en: platform, zh: platform },
      count: sorted.length,
      oldest_day: sorted[0] ?? null,
      newest_day: sorted.at(-1) ?? null,
    };
  });
  const all = parts.flatMap(({ oldest_day, newest_day }) => [oldest_day ?? "", newest_day ?? ""]).sort();
  const names = parts.map(({ what }) => what.en);
  const text = {
    en: `${counted(parts.length, "platform")} (${names.join(", ")})`,
    zh: `${parts.length} 个平台（${names.join("、")}）`,
  };
  return { parts, text: withDays(text, all[0] ?? null, all.at(-1) ?? null) };
};
