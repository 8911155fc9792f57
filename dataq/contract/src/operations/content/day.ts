import type { Completed, Params } from "../../operation.ts";
import { problemOfDay } from "../../values/calendar-date.ts";

/** `date` is today in China by default. It must not be in the future. */
export function completeDay(params: Params, today: string): Completed {
  const date = params["date"] ?? today;
  const problem = problemOfDay(date, today);
  return problem === undefined ? { params: { ...params, date } } : { problem: { ...problem, param: "date" } };
}
