import type { Params } from "@dataq/contract";
import { wechatIndex } from "../../../sample/series.ts";
import { single } from "../../answers.ts";
import { chinaDate } from "../../china-time.ts";
import type { Answer, Page, Source, SourceContext } from "../../source.ts";

export const sampleWechat: Source = {
  version: async () => "sample-1",
  async run(params: Params, _page: Page, context: SourceContext): Promise<Answer> {
    const { keyword = "", date = "" } = params;
    const isPast = date < chinaDate(context.now);
    return { ...single(wechatIndex(keyword, date)), cacheS: isPast ? 604_800 : 21_600 };
  },
};
