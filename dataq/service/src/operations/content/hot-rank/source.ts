import { chinaDate, type Params, platforms, warning } from "@dataq/contract";
import type { SearchIndex } from "../../../search/search-index.ts";
import { whole } from "../../../sources/answers.ts";
import { KeyedRecords } from "../../../sources/keyed-source.ts";
import type { OptionalSource } from "../../../sources/layered.ts";
import type { Answer, Page, SourceContext } from "../../../sources/source.ts";
import { platformPrefix, rankingKey, type StoredRanking } from "./corpus.ts";
import { archivedPlatforms, unknownPlatform } from "./platform.ts";

/**
 * Rankings of imported archives. A question for today gets the newest ranking, with its own date in the
 * summary.
 */
export class ImportedRanks extends KeyedRecords implements OptionalSource {
  readonly #index: SearchIndex;

  constructor(index: SearchIndex, corpus: string) {
    super(index, corpus);
    this.#index = index;
  }

  async check({ platform = "" }: Params): Promise<void> {
    if ((platforms as readonly string[]).includes(platform)) return;
    const known = [...new Set([...platforms, ...(await archivedPlatforms(this.#index))])];
    if (!known.includes(platform)) throw unknownPlatform(platform, known);
  }

  async run(params: Params, _page: Page, context: SourceContext): Promise<Answer> {
    const { platform = "", date = "" } = params;
    const isToday = date === chinaDate(context.now);
    let [ranking] = (await this.find([rankingKey(platform, date)], 1)) as StoredRanking[];
    if (ranking === undefined && isToday) {
      [ranking] = (await this.find([platformPrefix + platform], 1)) as StoredRanking[];
    }
    if (ranking === undefined) {
      const summary = { platform, date, captured_at: null, snapshot_kind: "end_of_day" };
      const missing = warning("ranking_not_held", { platform, date });
      return { ...whole([], summary, [missing]), notHeld: true };
    }
    const warnings =
      ranking.date === date ? [] : [warning("ranking_older", { platform, date: ranking.date })];
    const summary = {
      platform,
      date: ranking.date,
      captured_at: null,
      snapshot_kind: isToday ? "latest" : "end_of_day",
    };
    return { ...whole(recordsOf(ranking), summary, warnings), cacheS: isToday ? 600 : 86_400 };
  }
}

function recordsOf({ platform, date, items, source }: StoredRanking): object[] {
  return items.slice(0, 50).map((item, place) => ({
    id: `${platform}:${date}:${place + 1}`,
    rank: place + 1,
    title: item.title,
    heat: item.heat,
    heat_text: item.heat === null ? null : `${(item.heat / 10_000).toFixed(1)}万`,
    label: null,
    category: null,
    url: null,
    first_seen_at: null,
    peak_rank: null,
    is_ad: false,
    is_pinned: false,
    source,
  }));
}
