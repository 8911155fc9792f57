import type { Bilingual } from "@dataq/contract";

/** Days, YYYY-MM-DD. Both ends are included. */
export interface DateRange {
  readonly from?: string;
  readonly to?: string;
}

/** The range that the parameters `date_from` and `date_to` name. */
export function dateRange({
  date_from: from,
  date_to: to,
}: Readonly<Record<string, string>>): DateRange | undefined {
  if (from === undefined && to === undefined) return undefined;
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

/** The days that are in both ranges. */
export function both(a: DateRange | undefined, b: DateRange | undefined): DateRange | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const from = [a.from, b.from]
    .filter((day) => day !== undefined)
    .sort()
    .at(-1);
  const to = [a.to, b.to].filter((day) => day !== undefined).sort()[0];
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

/** A range as sentences name it. */
export function rangeText({ from, to }: DateRange): Bilingual {
  const zh = from === undefined ? `${to} 及以前` : to === undefined ? `${from} 及以后` : `${from} 至 ${to}`;
  return { en: `${from ?? ""}..${to ?? ""}`, zh };
}
