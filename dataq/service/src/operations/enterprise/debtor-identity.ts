import { keyTerm, nameKey } from "../../search/keyed-document.ts";
import type { Published } from "../../sources/joining.ts";

/** A debtor's record is known by the number of the case together with the name: one case may have several debtors. */
export function debtorIdentities({ case_no, name }: Published): string[] {
  return debtorKeys(case_no, name).map(keyTerm);
}

export function debtorKeys(caseNo: unknown, name: unknown): string[] {
  if (typeof caseNo !== "string" || typeof name !== "string" || caseNo === "") return [];
  return [`case|${nameKey(caseNo)}|${nameKey(name)}`];
}
