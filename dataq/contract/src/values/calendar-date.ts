import type { Bilingual } from "../bilingual.ts";
import type { Completed, Params } from "../operation.ts";
import { bad, type Problem, parameter, type Reading } from "./reading.ts";

/** A real calendar date, YYYY-MM-DD. */
export function calendarDate(description: Bilingual) {
  return parameter(description, { format: "date" }, readCalendarDate);
}

export function readCalendarDate(raw: string): Reading<string> {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(raw.length > 20 ? "" : raw.trim());
  if (found === null)
    return bad(
      "format",
      "must have the form YYYY-MM-DD",
      "send a date such as 2024-03-15",
      "请发送如 2024-03-15 的日期",
    );
  const [value, year, month, day] = found as unknown as [string, string, string, string];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (Number(year) < 1000 || date.toISOString().slice(0, 10) !== value) {
    return bad("no_such_date", "is not an existing date", "send an existing date", "请发送存在的日期");
  }
  return { value };
}

/**
 * One end of a range of days: a date, or a month or year as a whole (2024-03, 2024). The value becomes the first or the
 * last day of it.
 */
export function dateBound(description: Bilingual, end: "first" | "last") {
  return parameter(description, { format: "date" }, (raw) => readDateBound(raw, end));
}

function readDateBound(raw: string, end: "first" | "last"): Reading<string> {
  const text = raw.length > 40 ? "" : raw.normalize("NFKC").trim();
  const [, year, month] = /^(\d{4})(?:-(\d{2}))?$/.exec(text) ?? [];
  if (year === undefined) return readCalendarDate(text);
  const first = `${year}-${month ?? (end === "first" ? "01" : "12")}`;
  if (end === "first" || !/-(?:0[1-9]|1[0-2])$/.test(first)) return readCalendarDate(`${first}-01`);
  const lastDay = new Date(Date.UTC(Number(year), Number(first.slice(5)), 0)).getUTCDate();
  return readCalendarDate(`${first}-${lastDay}`);
}

/** Checks that `date_from` is not after `date_to`. */
export function completeRange(params: Params): Completed {
  const { date_from: from, date_to: to } = params;
  if (from === undefined || to === undefined || from <= to) return { params };
  const message = `params.date_from ${from} is after params.date_to ${to}`;
  return {
    problem: { param: "date_from", code: "conflict", message, fix: "exchange them", fixZh: "请对调两者" },
  };
}

/** Checks that a day can have indexes and rankings. `today` is the date in China. */
export function problemOfDay(date: string, today: string): Problem | undefined {
  if (date > today)
    return bad(
      "future",
      `${date} is in the future (China time)`,
      `send ${today} or earlier`,
      `请发送 ${today} 或更早的日期`,
    ).problem;
  if (date < firstDay)
    return bad(
      "too_early",
      `${date} is before ${firstDay}`,
      `send ${firstDay} or later`,
      `请发送 ${firstDay} 或之后的日期`,
    ).problem;
  return undefined;
}

const firstDay = "2011-01-01";
