import type { Params } from "@dataq/contract";
import type { Reach } from "../../../sources/reach.ts";
import { regionOfName } from "../../regions.ts";

/**
 * A question that begins with a place reaches for local regulations, beside those that hold everywhere. A court that is
 * named so is none of them.
 */
export function lawReach({ query = "", law = "" }: Params): Reach | undefined {
  const isLocal =
    [query, law].some((text) => regionOfName(text) !== undefined && !/^\S*法院/.test(text.trimStart())) ||
    `${query} ${law}`.includes("地方性法规");
  return isLocal ? { parts: ["national law", "administrative regulation", "local regulation"] } : undefined;
}
