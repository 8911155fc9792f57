import type { Params } from "@dataq/contract";
import { chinaDate, chinaInstant } from "@dataq/contract";
import { single } from "../../../sources/answers.ts";
import type { Answer } from "../../../sources/source.ts";

/** An invoice in a register. The check compares it with the parameters of a call. */
export interface KnownInvoice {
  readonly invoice_type: string | null;
  readonly issue_date: string | null;
  readonly check_code: string | null;
  readonly amount: string | null;
  readonly total: string | null;
  readonly status: string | null;
}

/** The invoice that a call identifies, or the parameters that are missing. */
export function namedInvoice(
  params: Params,
): { code: string | null; number: string } | { missing: string[] } {
  const { invoice_code: code = "", invoice_number: number } = params;
  if (code.length === 20) return { code: null, number: code };
  return number === undefined ? { missing: ["invoice_number"] } : { code, number };
}

export function insufficient(params: Params, missing: readonly string[], source: object, now: Date): Answer {
  const record = {
    ...nothingKnown,
    id: params["invoice_code"],
    invoice_code: params["invoice_code"] ?? null,
    invoice_number: null,
    result: "insufficient_elements",
    authentic: null,
    missing,
    checked_at: chinaInstant(now),
    source,
  };
  return { outcome: "insufficient_elements", record, total: 0, totalRelation: "eq", warnings: [] };
}

/**
 * Compares the parameters of a call with the invoice. As in the official check, an invoice is not available
 * on its day of issue or after five years.
 */
export function checkInvoice(
  invoice: (KnownInvoice & object) | undefined,
  params: Params,
  now: Date,
): Answer {
  if (invoice === undefined) return single(undefined);
  const today = chinaDate(now);
  const issued = invoice.issue_date ?? params["issue_date"];
  const oldest = `${Number(today.slice(0, 4)) - 5}${today.slice(4)}`;
  const checked = { missing: [], checked_at: chinaInstant(now) };
  if (issued === today) return answer(invoice, { result: "not_yet_verifiable", authentic: null, ...checked });
  if (issued !== undefined && issued < oldest) {
    return answer(invoice, { result: "expired", authentic: null, ...checked });
  }
  const isMatch =
    agrees(params["issue_date"], invoice.issue_date) &&
    agrees(params["check_code"], invoice.check_code?.slice(-6) ?? null) &&
    (params["amount"] === undefined ||
      [invoice.amount, invoice.total].some(
        (amount) => amount !== null && Number(amount) === Number(params["amount"]),
      ));
  return answer(invoice, { result: isMatch ? "match" : "mismatch", authentic: isMatch, ...checked });
}

function agrees(given: string | undefined, known: string | null): boolean {
  return given === undefined || known === null || given === known;
}

/** A mismatch returns no field of the invoice. Otherwise callers could guess a stranger's invoice field by field. */
function answer(
  invoice: KnownInvoice & object,
  outcome: { result: string; authentic: boolean | null },
): Answer {
  if (outcome.result === "match") return single({ ...invoice, ...outcome });
  const { id, invoice_code, invoice_number, source } = invoice as Record<string, unknown>;
  return single({ ...nothingKnown, id, invoice_code, invoice_number, ...outcome, source });
}

export const nothingKnown = {
  invoice_type: null,
  invoice_type_text: null,
  status: null,
  status_text: null,
  issue_date: null,
  check_code: null,
  machine_no: null,
  seller: null,
  buyer: null,
  amount: null,
  tax: null,
  total: null,
  total_text: null,
  items: [],
  remark: null,
  check_count: null,
};
