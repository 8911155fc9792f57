import type { Completed, Params } from "../../operation.ts";
import { problemOfDay } from "../../values/calendar-date.ts";

/** Fills and checks `date`. The default is today in China. Future dates are rejected. */
export function completeDay(params: Params, today: string): Completed {
  const date = params["date"] ?? today;
  const problem = problemOfDay(date, today);
  return problem === undefined ? { params: { ...params, date } } : { problem: { ...problem, param: "date" } };
}
