import type { Params } from "@dataq/contract";
import { both, type DateRange } from "../../../search/date-range.ts";
import { type Reach, reachOf } from "../../../sources/reach.ts";
import { datesIn } from "./question.ts";

/** The days that the parameters ask for, and `date:` in the query. A year among its words is only a wish. */
export function caseReach(params: Params): Reach | undefined {
  return both(reachOf(params) as DateRange | undefined, datesIn(params["query"] ?? ""));
}
