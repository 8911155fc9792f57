import type { Bilingual } from "../bilingual.ts";
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
