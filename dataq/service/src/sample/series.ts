import { asSample } from "./provenance.ts";
import { Random } from "./random.ts";

const disclaimer = "Generated sample; not a measurement of any platform.";

/** A keyword's search index over the 30 days up to `date`. */
export function keywordIndex(keyword: string, date: string) {
  const trend = lastDays(date, 30).map((day) => {
    const index = level(`keyword ${keyword}`, day, 6_000);
    const pc = Math.round(index * 0.35);
    return { date: day, index, pc, mobile: index - pc };
  });
  const last = trend[trend.length - 1] as (typeof trend)[number];
  const average = mean(trend.map(({ index }) => index));
  return asSample({
    id: `keyword:${keyword}:${date}`,
    keyword,
    date,
    engine: "sample",
    granularity: "day" as const,
    index: last.index,
    pc: last.pc,
    mobile: last.mobile,
    average_30d: average,
    yoy_percent: percent(last.index, level(`keyword ${keyword}`, shifted(date, -365), 6_000)),
    mom_percent: percent(
      average,
      mean(lastDays(shifted(date, -30), 30).map((day) => level(`keyword ${keyword}`, day, 6_000))),
    ),
    trend,
    related: ["最新", "价格", "怎么办"].map((tail) => ({
      keyword: `${keyword}${tail}`,
      index: level(`keyword ${keyword}${tail}`, date, 900),
    })),
    estimated: true,
    disclaimer,
  });
}

/** A keyword's popularity on WeChat over the 30 days up to `date`. */
export function wechatIndex(keyword: string, date: string) {
  const trend = lastDays(date, 30).map((day) => ({
    date: day,
    index: level(`wechat ${keyword}`, day, 900_000),
  }));
  const index = trend[29]?.index ?? 0;
  const shares = [0.42, 0.21, 0.2, 0.08, 0.06];
  const [search, accounts, video, programs, moments] = shares.map((share) => Math.round(index * share)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  return asSample({
    id: `wechat:${keyword}:${date}`,
    keyword,
    date,
    index,
    day_change_percent: percent(index, trend[28]?.index ?? 0),
    channels: {
      search,
      official_accounts: accounts,
      channels_video: video,
      mini_programs: programs,
      moments,
      other: index - search - accounts - video - programs - moments,
    },
    trend,
    disclaimer,
  });
}

/** A slow wave, the week's rhythm, and chance; the same for the same day. */
function level(seed: string, day: string, scale: number): number {
  const base = new Random(seed);
  const size = scale * (0.1 + 2 * base.next());
  const phase = base.next() * 6.28;
  const number = Date.parse(day) / 86_400_000;
  const wave = 1 + 0.3 * Math.sin(number / 29 + phase);
  const week = number % 7 < 2 ? 0.85 : 1;
  return Math.round(size * wave * week * (0.85 + 0.3 * new Random(`${seed} ${day}`).next()));
}

function lastDays(date: string, count: number): string[] {
  return Array.from({ length: count }, (_, place) => shifted(date, place - count + 1));
}

function shifted(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
}

function mean(values: readonly number[]): number {
  return Math.round(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length));
}

function percent(now: number, before: number): number | null {
  return before === 0 ? null : Math.round((1000 * (now - before)) / before) / 10;
}
