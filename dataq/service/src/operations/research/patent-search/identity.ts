import type { Published } from "../../../sources/joining.ts";
import { patentNumberTerm } from "./corpus.ts";

/** A patent is known by its numbers of application, publication and grant. */
export function patentIdentities({ application_no, publication_no, grant_no }: Published): string[] {
  return [application_no, publication_no, grant_no].flatMap((number) =>
    typeof number === "string" && /\d{6}/.test(number) ? [patentNumberTerm(number)] : [],
  );
}
