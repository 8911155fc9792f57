import { Failure, invalid, tokensPerCny } from "@dataq/contract";
import {
  type anyInvoice,
  anyInvoicesQuery,
  documentQuery,
  invoiceBuyer,
  invoiceIssue,
  type invoice as invoiceSchema,
  invoicesQuery,
  newCorrection,
  newInvoice,
  type Sent,
  type statement as statementSchema,
} from "@dataq/contract/wire";
import type { FastifyInstance, FastifyReply } from "fastify";
import { findAccount } from "../../accounts/account.ts";
import { inTransaction } from "../../database/transaction.ts";
import { type Parties, receiptPdf, statementPdf } from "../../invoices/documents.ts";
import {
  correctInvoice,
  findBuyer,
  type Invoice,
  issueInvoice,
  listInvoices,
  requestInvoice,
  setBuyer,
} from "../../invoices/invoice.ts";
import { readStatement } from "../../invoices/statement.ts";
import { taxWorkbook } from "../../invoices/tax-export.ts";
import { wrongState } from "../../payments/payment.ts";
import type { Payments } from "../../payments/payments.ts";
import { check, readJson } from "../body.ts";
import { authorOf, principalOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";

type ById = { Params: { id: string } };
type ByMonth = { Params: { month: string } };

const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/** Receipts, statements and invoices. */
export function addInvoiceRoutes(app: FastifyInstance, parts: HttpParts, payments: Payments): void {
  const { database } = parts;
  const { seller } = payments.settings;
  const partiesOf = async (accountId: string): Promise<Parties> => ({
    seller,
    buyer: await findBuyer(database, accountId),
    accountName: (await findAccount(database, accountId))!.name,
  });

  app.get<ById>("/v1/payments/:id/receipt", async (request, reply) => {
    const { account } = principalOf(request);
    const { language } = check(documentQuery, request.query);
    const { id } = request.params;
    const payment = await payments.find(id, account.id);
    if (!payment) throw new Failure("not_found", { what: `The payment ${id.slice(0, 64)}` });
    if (payment.state !== "paid") throw wrongState(payment.state);
    return sendPdf(reply, `receipt-${id}`, receiptPdf(payment, await partiesOf(account.id), language));
  });

  app.get<ByMonth>("/v1/statements/:month", async (request): Promise<Sent<typeof statementSchema>> => {
    const { account } = principalOf(request);
    const read = await readStatement(database, account.id, monthOf(request.params.month));
    return {
      month: read.month,
      from: read.from,
      to: read.to,
      is_complete: read.to <= parts.clock(),
      opening_balance: read.opening,
      lines: read.lines,
      closing_balance: read.closing,
      projects: read.projects,
      tokens_per_cny: tokensPerCny,
    };
  });

  app.get<ByMonth>("/v1/statements/:month/pdf", async (request, reply) => {
    const { account } = principalOf(request);
    const { language } = check(documentQuery, request.query);
    const read = await readStatement(database, account.id, monthOf(request.params.month));
    const isComplete = read.to <= parts.clock();
    const pdf = statementPdf(read, await partiesOf(account.id), language, isComplete);
    return sendPdf(reply, `statement-${read.month}`, pdf);
  });

  app.get("/v1/invoices/buyer", async (request): Promise<Sent<typeof invoiceBuyer>> => {
    const buyer = await findBuyer(database, principalOf(request).account.id);
    if (!buyer) throw new Failure("not_found", { what: "The buyer of invoices" });
    return buyer;
  });

  app.patch("/v1/invoices/buyer", async (request): Promise<Sent<typeof invoiceBuyer>> => {
    const buyer = check(invoiceBuyer, readJson(request));
    const { account } = principalOf(request);
    const author = authorOf(parts, request);
    await inTransaction(database, (transaction) => setBuyer(transaction, account.id, buyer, author));
    return buyer;
  });

  app.get("/v1/invoices", async (request) => {
    const { cursor, limit } = check(invoicesQuery, request.query);
    const wanted = { accountId: principalOf(request).account.id, after: cursor, limit: limit + 1 };
    return pageOf(await listInvoices(database, wanted), limit, invoiceBody);
  });

  app.post("/v1/invoices", async (request, reply): Promise<Sent<typeof invoiceSchema>> => {
    const wanted = check(newInvoice, readJson(request));
    const { account } = principalOf(request);
    const author = authorOf(parts, request);
    const made = await inTransaction(database, (transaction) =>
      requestInvoice(transaction, account.id, wanted.payments, author),
    );
    reply.code(201);
    return invoiceBody(made);
  });

  app.get("/admin/v1/invoices", async (request) => {
    const { cursor, limit, state } = check(anyInvoicesQuery, request.query);
    const found = await listInvoices(database, { state, after: cursor, limit: limit + 1 });
    return pageOf(found, limit, anyInvoiceBody);
  });

  app.get("/admin/v1/invoices/export", async (_request, reply) => {
    const open = await listInvoices(database, { state: "requested", limit: 10_000 });
    const from = seller ?? { name: "", tax_number: "", item: "", tax_code: "", tax_rate: 0 };
    reply.header("content-disposition", 'attachment; filename="invoices.xlsx"');
    // Nothing is left to invoice where everything went back.
    const due = open.filter(({ amountFen }) => amountFen > 0).reverse();
    return reply.type(XLSX).send(taxWorkbook(due, from));
  });

  app.post<ById>("/admin/v1/invoices/:id/issue", async (request): Promise<Sent<typeof anyInvoice>> => {
    const { number, amount_fen: amountFen } = check(invoiceIssue, readJson(request));
    const author = authorOf(parts, request);
    return anyInvoiceBody(
      await inTransaction(database, (transaction) =>
        issueInvoice(transaction, request.params.id, { number, amountFen }, author),
      ),
    );
  });

  app.post<ById>(
    "/admin/v1/invoices/:id/corrections",
    async (request, reply): Promise<Sent<typeof anyInvoice>> => {
      const { amount_fen: amountFen, ...wanted } = check(newCorrection, readJson(request));
      const author = authorOf(parts, request);
      const made = await inTransaction(database, (transaction) =>
        correctInvoice(transaction, request.params.id, { ...wanted, amountFen }, author),
      );
      reply.code(201);
      return anyInvoiceBody(made);
    },
  );
}

function monthOf(text: string): string {
  if (/^20\d\d-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw invalid(
    "month",
    "format",
    "month must look like 2026-03",
    "send a month such as 2026-03",
    "请使用 2026-03 这样的月份",
  );
}

function sendPdf(reply: FastifyReply, name: string, pdf: Buffer): FastifyReply {
  reply.header("content-disposition", `attachment; filename="${name}.pdf"`);
  return reply.type("application/pdf").send(pdf);
}

function pageOf<Body>(found: readonly Invoice[], limit: number, bodyOf: (invoice: Invoice) => Body) {
  const shown = found.slice(0, limit);
  return { data: shown.map(bodyOf), next_cursor: found.length > limit ? shown.at(-1)!.id : null };
}

function invoiceBody(one: Invoice): Sent<typeof invoiceSchema> {
  return {
    id: one.id,
    state: one.state,
    amount_fen: one.amountFen,
    buyer: one.buyer,
    payments: one.payments,
    number: one.number,
    created_at: one.createdAt,
    issued_at: one.issuedAt,
    corrections: one.corrections.map(({ kind, number, amountFen, issuedAt }) => ({
      kind,
      number,
      amount_fen: amountFen,
      issued_at: issuedAt,
    })),
  };
}

function anyInvoiceBody(one: Invoice): Sent<typeof anyInvoice> {
  return { ...invoiceBody(one), account_id: one.accountId, red_fen: one.redFen, again_fen: one.againFen };
}
