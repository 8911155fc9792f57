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

/** RFC 3339 in China's time, which has no daylight saving. */
export function chinaInstant(at: Date): string {
  return `${new Date(at.getTime() + OFFSET_MS).toISOString().slice(0, 19)}+08:00`;
}

/** Until the next midnight in China. */
export function untilChinaMidnightMs(at: Date): number {
  return DAY_MS - ((at.getTime() + OFFSET_MS) % DAY_MS);
}
