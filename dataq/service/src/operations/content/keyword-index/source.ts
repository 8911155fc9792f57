import type { Params, Provenance } from "@dataq/contract";
import { chinaDate } from "@dataq/contract";
import type { SearchIndex } from "../../../search/search-index.ts";
import { single } from "../../../sources/answers.ts";
import { KeyedRecords } from "../../../sources/keyed-source.ts";
import type { OptionalSource } from "../../../sources/layered.ts";
import type { Answer, Page, SourceContext } from "../../../sources/source.ts";
import { dayKey, hotRanksCorpus, type StoredRanking } from "../hot-rank/corpus.ts";
import { changePercent, pointsOf } from "./change.ts";

/**
 * Series from an imported file by keyword and date, or else derived from archives of rankings. A derived
 * value is the sum of the heat of a day's titles that contain the keyword. If the archive has no heat, each
 * title counts with a score for its rank.
 */
export class ImportedKeywords implements OptionalSource {
  readonly #series: KeyedRecords;
  readonly #rankings: KeyedRecords;

  constructor(index: SearchIndex, corpus: string) {
    this.#series = new KeyedRecords(index, corpus);
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
    const days = daysUpTo(date);
    const daysBefore = daysUpTo(shifted(date, -30));
    const daysOfLastYear = daysUpTo(yearBefore(date));
    const keys = [...days, ...daysBefore, ...daysOfLastYear].map(dayKey);
    const rankings = (await this.#rankings.find(keys, 10_000)) as StoredRanking[];
    const levels = new Map(days.map((day) => [day, 0]));
    let source: Provenance | undefined;
    for (const ranking of rankings) {
      const before = levels.get(ranking.date);
      const level = before === undefined ? 0 : levelOf(ranking, keyword);
      if (before === undefined || level === 0) continue;
      if (ranking.date > (source?.published_at ?? ""))
        source = { ...ranking.source, published_at: ranking.date };
      levels.set(ranking.date, before + level);
    }
    if (source === undefined) return single(undefined);
    const trend = days.map((day) => ({ date: day, index: levels.get(day) ?? 0, pc: null, mobile: null }));
    const average = mean(trend.map(({ index }) => index));
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
      yoy_percent: changePercent(keyword, rankings, daysOfLastYear, days),
      mom_percent: changePercent(keyword, rankings, daysBefore, days),
      trend,
      related: null,
      estimated: true,
      disclaimer:
        "Derived from archived rankings of trending topics; not the figures of any search engine. Changes compare ranks on platforms for which the archive covers both periods.",
      source,
    };
    return { ...single(record), cacheS };
  }
}

function levelOf(ranking: StoredRanking, keyword: string): number {
  const wanted = keyword.toLowerCase();
  let level = 0;
  for (const [place, { title, heat }] of ranking.items.entries()) {
    if (title.toLowerCase().includes(wanted)) level += heat ?? pointsOf(place) * rankUnit;
  }
  return level;
}

/** The 30 days of a trend, oldest first. */
function daysUpTo(date: string): string[] {
  return Array.from({ length: 30 }, (_, place) => shifted(date, place - 29));
}

/** The same day of the previous year. For 29 February: 28 February. */
function yearBefore(date: string): string {
  const rest = date.slice(4);
  return `${String(Number(date.slice(0, 4)) - 1).padStart(4, "0")}${rest === "-02-29" ? "-02-28" : rest}`;
}

/** The value of one rank, on the scale of measured heat, which is several hundred thousand on Weibo. */
const rankUnit = 10_000;

function mean(values: readonly number[]): number {
  return Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
}

function shifted(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
}
