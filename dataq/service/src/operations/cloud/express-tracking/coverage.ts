import { findCarrier, type Params } from "@dataq/contract";
import { keyTerm } from "../../../search/keyed-document.ts";
import type { Reach } from "../../../sources/reach.ts";
import { type TellCoverage, tellByTerm } from "../../covered.ts";
import { carrierOf } from "./carrier.ts";

/** Prefix of the keys by which the parcels of a carrier are counted. */
export const carrierPrefix = "carrier|";

export const tellCarriers: TellCoverage = (covered) =>
  tellByTerm(covered, keyTerm(carrierPrefix), (code) => ({ en: code, zh: findCarrier(code)?.name ?? code }), {
    en: "carrier",
    zh: "家快递公司",
  });

/** The carrier that the question names, or the only one whose numbers look like this. */
export function carrierReach(params: Params): Reach | undefined {
  const { carrier, candidates = [] } = carrierOf(params) ?? {};
  const isSure = params["carrier"] !== undefined || candidates.length === 1;
  return carrier === undefined || !isSure ? undefined : { parts: [carrier.code] };
}
