import { readTaxId } from "@dataq/contract";
import { keyTerm } from "../../../search/keyed-document.ts";
import type { Published } from "../../../sources/joining.ts";

/** A company is known by its credit code. */
export function companyIdentities({ tax_id }: Published): string[] {
  const read = typeof tax_id === "string" ? readTaxId(tax_id) : undefined;
  return read !== undefined && "value" in read ? [keyTerm(read.value)] : [];
}
