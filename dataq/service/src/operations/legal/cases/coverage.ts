import { type TellCoverage, tellByTerm } from "../../covered.ts";
import { regions } from "../../regions.ts";
import { placePrefix, placeTerm } from "./corpus.ts";

/** The judgments of the courts of each region. */
export const tellCases: TellCoverage = (covered) =>
  tellByTerm(covered, placePrefix, (place) => byPlace.get(place), { en: "region", zh: "个省级地区" });

const byPlace = new Map(regions.map((region) => [placeTerm(region.zh).slice(placePrefix.length), region]));
