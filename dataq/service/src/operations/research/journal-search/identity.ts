import { readIssn } from "@dataq/contract";
import type { Published } from "../../../sources/joining.ts";
import { issnTerm } from "./corpus.ts";

/** A journal is known by its ISSNs. A number with a wrong check character says nothing. */
export function journalIdentities({ issn, eissn }: Published): string[] {
  return [issn, eissn].flatMap((number) => {
    const read = typeof number === "string" ? readIssn(number) : undefined;
    return read === undefined ? [] : [issnTerm(read)];
  });
}
