import { type Failure, invalid, type Params, platforms } from "@dataq/contract";
import { hotRank } from "../../../sample/hot-ranks.ts";
import { whole } from "../../answers.ts";
import { chinaDate } from "../../china-time.ts";
import type { Answer, Page, Source, SourceContext } from "../../source.ts";

export const sampleRanks: Source = {
  version: async () => "sample-1",
  async check({ platform = "" }: Params): Promise<void> {
    if (!(platforms as readonly string[]).includes(platform)) throw unknownPlatform(platform, platforms);
  },
  async run(params: Params, _page: Page, context: SourceContext): Promise<Answer> {
    const { platform = "", date = "" } = params;
    const isToday = date === chinaDate(context.now);
    const summary = { platform, date, captured_at: null, snapshot_kind: isToday ? "latest" : "end_of_day" };
    return { ...whole(hotRank(platform, date), summary), cacheS: isToday ? 600 : 86_400 };
  },
};

export function unknownPlatform(platform: string, known: readonly string[]): Failure {
  return invalid(
    "params.platform",
    "unknown_platform",
    `params.platform ${platform} is not a platform with rankings here`,
    `use one of ${known.join(", ")}`,
    `可选：${known.join("、")}`,
  );
}
