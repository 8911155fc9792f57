import { keyTerm } from "../../../search/keyed-document.ts";
import type { Published } from "../../../sources/joining.ts";

/** A parcel is known by its number and its carrier: two carriers may use one number. */
export function parcelIdentities({ express_no, carrier_code }: Published): string[] {
  if (typeof express_no !== "string" || typeof carrier_code !== "string") return [];
  return [keyTerm(parcelKey(express_no, carrier_code))];
}

export function parcelKey(number: unknown, carrier: unknown): string {
  return `${number}|${carrier}`;
}
