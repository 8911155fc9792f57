/** China's offset from UTC as a PostgreSQL interval. China has had no daylight saving time since 1991. */
export const chinaOffset = "08:00";
const OFFSET_MS = 8 * 3_600_000;
const DAY_MS = 86_400_000;

/** The date in China, YYYY-MM-DD. */
export function chinaDate(at: Date): string {
  return chinaInstant(at).slice(0, 10);
}

/** The month in China, YYYY-MM. */
export function chinaMonth(at: Date): string {
  return chinaInstant(at).slice(0, 7);
}

/** The time in China as RFC 3339. */
export function chinaInstant(at: Date): string {
  const there = new Date(at.getTime() + OFFSET_MS).toISOString();
  return instantInChina(there.slice(0, 10), there.slice(11, 19));
}

/** Converts a date (YYYY-MM-DD) and a time (hh:mm:ss) in China to RFC 3339. */
export function instantInChina(date: string, time: string): string {
  return `${date}T${time}+${chinaOffset}`;
}

/** Milliseconds until the next midnight in China. */
export function untilChinaMidnightMs(at: Date): number {
  return DAY_MS - ((at.getTime() + OFFSET_MS) % DAY_MS);
}
