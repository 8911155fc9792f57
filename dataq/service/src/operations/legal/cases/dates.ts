import type { DateRange } from "../../../search/date-range.ts";

/**
 * Reads a date such as 2024, 2024-03 or 2024-03-15, or a range with `..`, in which either end may be missing.
 */
export function readDates(text: string): DateRange | undefined {
  const parts = text.split("..");
  if (parts.length > 2) return undefined;
  const [first = "", last = first] = parts;
  if (first === "" && last === "") return undefined;
  const from = first === "" ? null : edge(first, "from");
  const to = last === "" ? null : edge(last, "to");
  if (from === undefined || to === undefined) return undefined;
  return { ...(from !== null && { from }), ...(to !== null && { to }) };
}

function edge(text: string, side: "from" | "to"): string | undefined {
  const found = /^(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?$/.exec(text);
  if (found === null) return undefined;
  const [, year, month, day] = found;
  const whole = [
    year,
    (month ?? (side === "from" ? "1" : "12")).padStart(2, "0"),
    (day ?? (side === "from" ? "1" : lastDayOf(year, month ?? "12"))).padStart(2, "0"),
  ];
  return Number(whole[1]) > 12 || Number(whole[2]) > 31 ? undefined : whole.join("-");
}

function lastDayOf(year = "", month: string): string {
  return String(new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate());
}
