import { type Params, type Warning, warning } from "@dataq/contract";
import { Random } from "./random.ts";

/** The day of all samples of series and rankings. A call for today gets them too, with today's date. */
export const sampleDay = "2025-06-01";
export const sampleKeywords: readonly string[] = ["人工智能", "新能源汽车", "春运", "高考", "奶茶"];

/** The samples of an index by keyword. */
export const keywordSamples: readonly Params[] = sampleKeywords.flatMap((keyword): Params[] => [
  { keyword },
  { keyword, date: sampleDay },
]);

/** Whether a keyword and day are published; `today` is China's. */
export function isPublished(keyword: string, date: string, today: string): boolean {
  return sampleKeywords.includes(keyword) && (date === sampleDay || date === today);
}

export function otherDay(date: string): Warning[] {
  return date === sampleDay ? [] : [warning("sample_older", { date: sampleDay })];
}

export const disclaimer = "Generated sample; not a measurement of any platform.";

/** A value made of a slow wave, a weekly pattern and noise. The same day always gives the same value. */
export function level(seed: string, day: string, scale: number): number {
  const base = new Random(seed);
  const size = scale * (0.1 + 2 * base.next());
  const phase = base.next() * 6.28;
  const number = Date.parse(day) / 86_400_000;
  const wave = 1 + 0.3 * Math.sin(number / 29 + phase);
  const week = number % 7 < 2 ? 0.85 : 1;
  return Math.round(size * wave * week * (0.85 + 0.3 * new Random(`${seed} ${day}`).next()));
}

export function lastDays(date: string, count: number): string[] {
  return Array.from({ length: count }, (_, place) => shifted(date, place - count + 1));
}

export function shifted(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
}

export function mean(values: readonly number[]): number {
  return Math.round(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length));
}

export function percent(now: number, before: number): number | null {
  return before === 0 ? null : Math.round((1000 * (now - before)) / before) / 10;
}
