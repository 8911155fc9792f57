import { readTaxId } from "@dataq/contract";
import { keyTerm } from "../../../search/keyed-document.ts";
import type { Published } from "../../../sources/joining.ts";

/** A company is known by its credit code and by its LEI. */
export function companyIdentities({ tax_id, lei }: Published): string[] {
  const read = typeof tax_id === "string" ? readTaxId(tax_id) : undefined;
  return [...(read !== undefined && "value" in read ? [read.value] : []), ...leiKeys(lei)].map(keyTerm);
}

/** The key of an LEI (ISO 17442); none if it is not one. */
export function leiKeys(lei: unknown): string[] {
  const plain = typeof lei === "string" ? lei.trim().toUpperCase() : "";
  return /^[A-Z0-9]{18}\d{2}$/.test(plain) ? [`lei|${plain}`] : [];
}
