import type { Params, Provenance } from "@dataq/contract";
import { dayKey, hotRanksCorpus, type StoredRanking } from "../../../search/corpora/hot-ranks.ts";
import type { PostingIndex } from "../../../search/postings/posting-index.ts";
import { single } from "../../answers.ts";
import { chinaDate } from "../../china-time.ts";
import { KeyedRecords } from "../../keyed-source.ts";
import type { OptionalSource } from "../../layered.ts";
import type { Answer, Page, SourceContext } from "../../source.ts";

/**
 * Series of an imported file by keyword and date; else derived from the archives of rankings: for every title of a
 * day that holds the keyword its heat, or where the archive has none, a score for its rank.
 */
export class ImportedKeywords implements OptionalSource {
  readonly #series: KeyedRecords;
  readonly #rankings: KeyedRecords;

  constructor(index: PostingIndex) {
    this.#series = new KeyedRecords(index, "content_keyword_index");
    this.#rankings = new KeyedRecords(index, hotRanksCorpus);
  }

  async exists(): Promise<boolean> {
    return (await this.#series.exists()) || (await this.#rankings.exists());
  }

  async version(): Promise<string> {
    return `${await this.#series.version()} ${await this.#rankings.version()}`;
  }

  async run(params: Params, _page: Page, context: SourceContext): Promise<Answer> {
    const { keyword = "", date = "" } = params;
    const cacheS = date < chinaDate(context.now) ? 604_800 : 21_600;
    if (await this.#series.exists()) {
      const [found] = await this.#series.find([`${keyword}|${date}`], 1);
      if (found !== undefined || !(await this.#rankings.exists())) return { ...single(found), cacheS };
    }
    const days = Array.from({ length: 60 }, (_, place) => shifted(date, place - 59));
    const rankings = (await this.#rankings.find(days.map(dayKey), 10_000)) as StoredRanking[];
    const levels = new Map(days.map((day) => [day, 0]));
    let source: Provenance | undefined;
    for (const ranking of rankings) {
      const level = levelOf(ranking, keyword);
      if (level > 0 && ranking.date > (source?.published_at ?? "")) {
        source = { ...ranking.source, published_at: ranking.date };
      }
      levels.set(ranking.date, (levels.get(ranking.date) ?? 0) + level);
    }
    const trend = days
      .slice(30)
      .map((day) => ({ date: day, index: levels.get(day) ?? 0, pc: null, mobile: null }));
    if (source === undefined || trend.every(({ index }) => index === 0)) return single(undefined);
    const average = mean(trend.map(({ index }) => index));
    const before = mean(days.slice(0, 30).map((day) => levels.get(day) ?? 0));
    const record = {
      id: `keyword:${keyword}:${date}`,
      keyword,
      date,
      engine: "hot_rank_archive",
      granularity: "day",
      index: trend[29]?.index ?? 0,
      pc: null,
      mobile: null,
      average_30d: average,
      yoy_percent: null,
      mom_percent: before === 0 ? null : Math.round((1000 * (average - before)) / before) / 10,
      trend,
      related: null,
      estimated: true,
      disclaimer: "Derived from archived rankings of trending topics; not the figures of any search engine.",
      source,
    };
    return { ...single(record), cacheS };
  }
}

function levelOf(ranking: StoredRanking, keyword: string): number {
  const wanted = keyword.toLowerCase();
  let level = 0;
  for (const [place, { title, heat }] of ranking.items.entries()) {
    if (title.toLowerCase().includes(wanted)) level += heat ?? (51 - Math.min(place + 1, 50)) * rankUnit;
  }
  return level;
}

/** What one step of rank counts beside measured heat, which on weibo is some hundred thousands. */
const rankUnit = 10_000;

function mean(values: readonly number[]): number {
  return Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
}

function shifted(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
}
