import type { DateRange } from "./date-range.ts";

/** YYYY-MM-DD as a number that sorts like it; 0 for none. */
export function dateNumber(date: string | null): number {
  return date === null ? 0 : Number(date.replaceAll("-", ""));
}

/** The date of such a number; null for 0. */
export function dateOf(number: number): string | null {
  return number === 0 ? null : String(number).replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3");
}

/** The first and the last number in a range. Documents without a date are in none. */
export function numbersIn({ from, to }: DateRange): readonly [number, number] {
  return [from === undefined ? 1 : dateNumber(from), to === undefined ? 99_999_999 : dateNumber(to)];
}
