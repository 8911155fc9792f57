/** The calendar date in China, YYYY-MM-DD. */
export function chinaDate(at: Date): string {
  return new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 10);
}
