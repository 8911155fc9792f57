import { warning } from "@dataq/contract";
import { wordsOnly } from "../../../search/text-search.ts";
import type { Searching } from "../../../sources/search-source.ts";
import { personTerm } from "../person-term.ts";
import type { ScholarRecord } from "./corpus.ts";

/** Researchers by name; exact matches come first. */
export const scholars: Searching = {
  read: (params) => {
    const name = params["name"] ?? "";
    return {
      question: { ...wordsOnly(name), exact: [personTerm(name)] },
      warnings: [],
      notHeld: warning("researcher_not_held"),
    };
  },
  text: (body) => {
    const { name, affiliations } = body as ScholarRecord;
    return [name, ...affiliations.map((each) => each.name)].join(" ");
  },
};
