import type { Params } from "@dataq/contract";
import { both, type DateRange } from "../../../search/date-range.ts";
import { type Reach, reachOf } from "../../../sources/reach.ts";
import { regionOfName } from "../../regions.ts";
import { datesIn } from "./question.ts";

/**
 * The days that the parameters ask for, and `date:` in the query. A year among its words is only a wish. A court belongs to
 * the region with which its name begins.
 */
export function caseReach(params: Params): Reach | undefined {
  const days = both(reachOf(params) as DateRange | undefined, datesIn(params["query"] ?? ""));
  const region = regionOfName(params["court"]);
  return region === undefined ? days : { ...days, parts: [region.en] };
}
