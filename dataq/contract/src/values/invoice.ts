import type { Bilingual } from "../bilingual.ts";
import { counted } from "../counted.ts";
import { bad, type Problem, parameter, type Reading } from "./reading.ts";

/**
 * An invoice code, the number of a fully digital invoice, or a code and a number joined. Checks only the
 * form; `splitInvoice` splits joined ones.
 */
export function invoiceCode(description: Bilingual) {
  const pattern = "^([0-9]{10}|[0-9]{12}|[0-9]{18}|[0-2][0-9]{19})$";
  return parameter(description, { pattern }, readInvoiceCode);
}

export function readInvoiceCode(raw: string): Reading<string> {
  if (raw.length > 200) return bad("length", "is too long", fix, fixZh);
  const value = raw.normalize("NFKC").replace(/[\s\-—_/.,;:、]/g, "");
  if (!/^\d+$/.test(value)) return bad("character", "must contain only digits", fix, fixZh);
  if ([10, 12, 18].includes(value.length)) return { value };
  if (value.length !== 20) return bad("length", `has ${counted(value.length, "digit")}`, fix, fixZh);
  return /^[012]/.test(value)
    ? { value }
    : bad("format", "must start with 0, 1 or 2 if it has 20 digits", fix, fixZh);
}

export interface InvoiceName {
  readonly code: string | null;
  readonly number: string | null;
}

/**
 * Splits joined digits. 18 digits are a code of 10 and a number of 8. 20 digits that start with 0 or 1 are a
 * code of 12 and a number of 8; those that start with 2 are the number of a digital invoice.
 */
export function splitInvoice(digits: string): InvoiceName {
  if (digits.length === 18) return { code: digits.slice(0, 10), number: digits.slice(10) };
  if (digits.length === 20) {
    return digits.startsWith("2")
      ? { code: null, number: digits }
      : { code: digits.slice(0, 12), number: digits.slice(12) };
  }
  return { code: digits, number: null };
}

export function invoiceNumber(description: Bilingual) {
  return parameter(description, { pattern: "^([0-9]{8}|[0-9]{20})$" }, (raw) => {
    const value = raw.length > 100 ? "" : raw.normalize("NFKC").replace(/[\s-]/g, "");
    return /^(\d{8}|\d{20})$/.test(value)
      ? { value }
      : bad("format", "must have 8 or 20 digits", "send the printed number", "请发送票面上的号码");
  });
}

export function amountText(description: Bilingual) {
  return parameter(description, { pattern: "^-?[0-9]{1,12}([.][0-9]{1,2})?$" }, (raw) => {
    const value = raw.length > 100 ? "" : raw.normalize("NFKC").replace(/[\s,¥]/g, "");
    return /^-?\d{1,12}(\.\d{1,2})?$/.test(value)
      ? { value }
      : bad("format", "must be an amount in yuan", "send digits such as 1280.50", "请发送数字，如 1280.50");
  });
}

export function checkCode(description: Bilingual) {
  return parameter(description, { pattern: "^([0-9]{6}|[0-9]{20})$" }, (raw) => {
    const value = raw.length > 100 ? "" : raw.normalize("NFKC").replace(/\s/g, "");
    return /^(\d{6}|\d{20})$/.test(value)
      ? { value: value.slice(-6) }
      : bad("format", "must be a check code", "send its last 6 digits", "请发送校验码后 6 位");
  });
}

/** Finds a contradiction between the given numbers. */
export function problemOfInvoice(name: InvoiceName, given: string | undefined): Problem | undefined {
  if (given === undefined || name.number === null || name.number === given) return undefined;
  return bad(
    "conflict",
    `is ${given}, but invoice_code already contains the number ${name.number}`,
    "send one of them",
    "两者只发送一个",
  ).problem;
}

const fix =
  "send 10 or 12 digits (code), 20 digits starting with 2 (digital invoice), or code and number together";
const fixZh = "请发送 10 或 12 位发票代码、以 2 开头的 20 位数电发票号码，或代码加号码";
