import type { Published } from "../../../sources/joining.ts";
import { orcidTerm } from "./corpus.ts";

/** A person is known by an ORCID iD, never by a name. */
export function scholarIdentities({ orcid }: Published): string[] {
  const term = typeof orcid === "string" ? orcidTerm(orcid) : undefined;
  return term === undefined ? [] : [term];
}
