/** The calendar date in China, YYYY-MM-DD. */
export function chinaDate(at: Date): string {
  return chinaInstant(at).slice(0, 10);
}

/** RFC 3339 in China's time. */
export function chinaInstant(at: Date): string {
  return `${new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 19)}+08:00`;
}
