import { chinaDate } from "@dataq/contract";
import { knownLaws } from "../citation-check/known-laws.ts";

/** When a law that is not held ended, and the key of the law that replaced it; undefined if it is not known to have ended. */
export function endedBy(
  key: string,
  now: Date,
): { readonly date: string; readonly by: string | null } | undefined {
  const ended = knownLaws.get(key)?.repealed;
  return ended !== undefined && ended.date <= chinaDate(now) ? ended : undefined;
}
