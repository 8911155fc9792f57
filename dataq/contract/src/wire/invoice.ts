import { z } from "zod";
import { readTaxId } from "../values/tax-id.ts";
import type { Received } from "./answer.ts";
import { correctionKinds, invoiceFilters, invoiceStates, statementLines } from "./choices.ts";
import { moment } from "./moment.ts";
import { pageLimit } from "./page.ts";
import { wellFormed } from "./well-formed.ts";

const text = (most: number) => wellFormed(z.string().trim().max(most));
const whole = z.number().int();

/** One line of a statement. The tokens of all lines, added to the opening balance, are the closing balance. */
const statementLine = z.strictObject({
  kind: z.enum(statementLines),
  operation: z.string().nullable().meta({ description: "Only for calls" }),
  at: moment.nullable().meta({ description: "Null for lines that sum up several entries" }),
  note: z.string().nullable(),
  count: whole.meta({ description: "Charged calls, or entries" }),
  tokens: whole,
});

/** What happened to the balance in a month of China's calendar. */
export const statement = z.strictObject({
  month: z.string(),
  from: moment,
  to: moment,
  is_complete: z.boolean().meta({ description: "False while the month is not over" }),
  opening_balance: whole,
  lines: z.array(statementLine),
  closing_balance: whole,
  projects: z
    .array(
      z.strictObject({
        project_id: z.string().nullable().meta({ description: "Null for calls outside of projects" }),
        name: z.string().nullable(),
        count: whole,
        tokens: whole,
      }),
    )
    .meta({ description: "The lines of calls by project, with the same sum; empty without projects" }),
  tokens_per_cny: whole,
});
export type Statement = Received<typeof statement>;

export const documentQuery = z.strictObject({ language: z.enum(["zh", "en"]).default("zh") });

/** A tax number with its check character; empty for a person. */
const taxNumber = z
  .string()
  .meta({
    description: "Unified social credit code (税号) with a valid check character; empty for a person",
    pattern: "^([0-9A-HJ-NP-RTUWXY]{18}|[0-9]{15}|)$",
    format: "credit-code",
  })
  .transform((sent, context) => {
    if (sent.trim() === "") return "";
    const read = readTaxId(sent);
    if ("value" in read) return read.value;
    const { message, fix, fixZh } = read.problem;
    context.addIssue({ code: "custom", message, params: { fix, fixZh } });
    return z.NEVER;
  });

/** Who invoices (发票) are made out to. */
export const invoiceBuyer = z.strictObject({
  title: text(100).min(1).meta({ description: "Name of the company or person (抬头)" }),
  tax_number: taxNumber,
  address: text(200).default(""),
  phone: text(50).default(""),
  bank: text(100).default(""),
  bank_account: text(50).default(""),
  email: text(254).default("").meta({ description: "Where the invoice is sent" }),
});
export type InvoiceBuyer = Received<typeof invoiceBuyer>;

export const newInvoice = z.strictObject({
  payments: z
    .array(z.string().min(1).max(64))
    .min(1)
    .max(100)
    .meta({ description: "Payments without an invoice yet" }),
});

const correction = z.strictObject({
  kind: z.enum(correctionKinds),
  number: z.string(),
  amount_fen: whole.meta({ description: "Not negative: a red one lowers the invoice by it" }),
  issued_at: moment,
});

export const invoice = z.strictObject({
  id: z.string(),
  state: z.enum(invoiceStates),
  amount_fen: whole.meta({ description: "Paid less what went back; of an issued invoice, as it was then" }),
  buyer: z.strictObject({
    title: z.string(),
    tax_number: z.string(),
    address: z.string(),
    phone: z.string(),
    bank: z.string(),
    bank_account: z.string(),
    email: z.string(),
  }),
  payments: z.array(z.string()),
  number: z.string().nullable().meta({ description: "Number of the invoice, once it is issued" }),
  created_at: moment,
  issued_at: moment.nullable(),
  corrections: z.array(correction).meta({
    description:
      "Red invoices over what went back since, and invoices over what came back again; oldest first",
  }),
});
export type Invoice = Received<typeof invoice>;
export const anyInvoice = invoice.extend({
  account_id: z.string(),
  red_fen: whole.meta({
    description: "What went back since it was issued and is not corrected yet: a red invoice is due over it",
  }),
  again_fen: whole.meta({
    description:
      "What came back since, as by a dispute that was won: the red invoice stays, and another invoice is due over it",
  }),
});
export type AnyInvoice = Received<typeof anyInvoice>;

export const invoicesQuery = z.strictObject({ cursor: z.string().max(64).optional(), limit: pageLimit });
export const anyInvoicesQuery = invoicesQuery.extend({ state: z.enum(invoiceFilters).optional() });
export const invoiceIssue = z.strictObject({
  number: text(50).min(1),
  amount_fen: whole.min(1).optional().meta({
    description: "What you issued it over; refused if that is not the amount of the invoice any more",
  }),
});
export const newCorrection = z.strictObject({
  kind: z.enum(correctionKinds),
  number: text(50).min(1),
  amount_fen: whole.min(1).meta({ description: "At most `red_fen` or `again_fen` of the invoice" }),
});
