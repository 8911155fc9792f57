import type { ArticleVersion, LawFacts } from "./corpus.ts";

/** Place of the version that holds on a day: the last that has taken effect, else the first there is. */
export function inForceOn(versions: readonly ArticleVersion[], today: string): number {
  for (let place = versions.length - 1; place > 0; place--) {
    const effective = versions[place]?.effective_date ?? versions[place]?.version_date ?? null;
    if (effective === null || effective <= today) return place;
  }
  return 0;
}

/** `hasNext`: a newer version is known, which has not taken effect on the day. */
export function statusOf(facts: LawFacts, hasNext: boolean, today: string) {
  const { status_text: text, effective_date: effective } = facts;
  if (effective !== null && effective > today)
    return { status: "not_yet_effective", status_text: "尚未施行" };
  if (text === null) return { status: "in_force", status_text: "未注明" };
  if (text.includes("废止") || text.includes("失效")) return { status: "repealed", status_text: text };
  if (text === "历史版本" && hasNext) return { status: "in_force", status_text: "现行有效" };
  if (text === "历史版本" || text.includes("修改")) return { status: "amended", status_text: text };
  return { status: "in_force", status_text: text };
}

export function levelOf(text: string | null): string {
  return levels.find(([name]) => text?.includes(name))?.[1] ?? "other";
}

const levels: readonly (readonly [string, string])[] = [
  ["宪法", "constitution"],
  ["行政法规", "administrative_regulation"],
  ["司法解释", "judicial_interpretation"],
  ["地方", "local"],
  ["规章", "departmental_rule"],
  ["法律", "law"],
];
