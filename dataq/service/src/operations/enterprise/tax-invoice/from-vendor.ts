import { chinaInstant, type Params } from "@dataq/contract";
import type { FromVendor } from "../../../sources/connected.ts";
import { namedInvoice, nothingKnown } from "./check.ts";

/** A vendor checks the elements itself; what it tells of an invoice is told only if they match. */
export const invoiceFromVendor: FromVendor = {
  /** `code` and `number` as one invoice has them; a digital one has no code. */
  asked: (params) => ({ ...params, ...nameOf(params) }),
  prepare(fields, { params, now }) {
    const { result = "match" } = fields;
    const { code, number } = nameOf(params);
    const own = {
      id: `${code}-${number}`,
      invoice_code: code || null,
      invoice_number: number || null,
      result,
      authentic: result === "match" ? true : result === "mismatch" ? false : null,
      missing: fields["missing"] ?? [],
      checked_at: chinaInstant(now),
    };
    return result === "match" ? { ...fields, ...own } : { ...nothingKnown, ...own };
  },
  outcome: (record) =>
    "result" in record && record.result === "insufficient_elements" ? "insufficient_elements" : "found",
};

function nameOf(params: Params): { code: string; number: string } {
  const named = namedInvoice(params);
  return "missing" in named
    ? { code: params["invoice_code"] ?? "", number: "" }
    : { code: named.code ?? "", number: named.number };
}
