import { Failure, tokensPerCny } from "@dataq/contract";
import {
  type anyPayment,
  anyPaymentsQuery,
  type autoTopUp,
  newAutoTopUp,
  newMoneyReturn,
  newPackageOffer,
  newPayment,
  type packageOffer,
  type packages as packagesSchema,
  paymentConfirmation,
  type paymentOptions,
  type payment as paymentSchema,
  paymentsQuery,
  type Sent,
} from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { writeAudit } from "../../accounts/audit.ts";
import { makeIdentifier } from "../../database/identifier.ts";
import { inTransaction } from "../../database/transaction.ts";
import { createOffer, endOffer, listOffers, listPackages, type Offer } from "../../ledger/package.ts";
import { listShutOut } from "../../payments/admission.ts";
import { chargedThisMonth, endAutoTopUp } from "../../payments/auto-top-up.ts";
import { listPayments, type PaymentWithReturns, returnedFen } from "../../payments/payment.ts";
import type { Payments } from "../../payments/payments.ts";
import type { BankSettings } from "../../payments/settings.ts";
import { check, readJson } from "../body.ts";
import { authorOf, principalOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";

type ById = { Params: { id: string } };

/** Payments: begun by customers, notified by providers, confirmed and refunded by operators. */
export function addPaymentRoutes(app: FastifyInstance, parts: HttpParts, payments: Payments): void {
  const { bank, most_cny, offers_cny } = payments.settings;

  app.get(
    "/v1/payments/options",
    async (): Promise<Sent<typeof paymentOptions>> => ({
      providers: payments.options.map(({ name, leastFen, isAutomatic }) => ({
        name,
        least_fen: leastFen,
        automatic: isAutomatic,
      })),
      most_fen: Math.round(most_cny * 100),
      offers_fen: offers_cny.map((yuan) => Math.round(yuan * 100)),
      tokens_per_cny: tokensPerCny,
    }),
  );

  app.get("/v1/payments", async (request) => {
    const { account } = principalOf(request);
    const { cursor, limit } = check(paymentsQuery, request.query);
    const found = await listPayments(parts.database, {
      accountId: account.id,
      after: cursor,
      limit: limit + 1,
    });
    return pageOf(found, limit, (one) => paymentBody(one, bank));
  });

  const autoBody = async (accountId: string): Promise<Sent<typeof autoTopUp>> => {
    const found = await payments.autoTopUp(accountId);
    return {
      available: payments.options.some(({ isAutomatic }) => isAutomatic),
      state: found?.state ?? "off",
      low_tokens: found?.lowTokens ?? null,
      amount_fen: found?.amountFen ?? null,
      most_fen: found?.mostFen ?? null,
      charged_fen: await chargedThisMonth(parts.database, accountId, parts.clock()),
      card: found?.label ?? null,
      url: found?.setupUrl ?? null,
      consented_at: found?.consentedAt ?? null,
      failures: found?.failures ?? 0,
      reason: found?.reason ?? null,
      retry_at: found?.state === "on" && found.failures > 0 ? found.notBefore : null,
    };
  };
  app.get("/v1/auto-top-up", async (request) => autoBody(principalOf(request).account.id));

  app.patch("/v1/auto-top-up", async (request) => {
    const { low_tokens, amount_fen, most_fen, new_card } = check(newAutoTopUp, readJson(request));
    const { account } = principalOf(request);
    const wanted = { lowTokens: low_tokens, amountFen: amount_fen, mostFen: most_fen, newCard: new_card };
    await payments.allowAuto(account.id, wanted, authorOf(parts, request));
    return autoBody(account.id);
  });

  app.delete("/v1/auto-top-up", async (request, reply) => {
    const author = authorOf(parts, request);
    await inTransaction(parts.database, (transaction) =>
      endAutoTopUp(transaction, principalOf(request).account.id, author),
    );
    return reply.code(204).send();
  });

  app.get("/v1/packages", async (request): Promise<Sent<typeof packagesSchema>> => {
    const { account } = principalOf(request);
    const own = await listPackages(parts.database, account.id, parts.clock());
    return {
      offers: (await listOffers(parts.database)).map(offerBody),
      data: own.map((one) => ({
        id: one.id,
        payment_id: one.paymentId,
        tokens: one.tokens,
        left: one.left,
        bought_at: one.boughtAt,
        ends_at: one.endsAt,
        ended_at: one.endedAt,
      })),
    };
  });

  app.post("/admin/v1/packages", async (request, reply): Promise<Sent<typeof packageOffer>> => {
    const { tokens, price_fen, days } = check(newPackageOffer, readJson(request));
    const author = authorOf(parts, request);
    const id = makeIdentifier("off", author.now);
    const offer = { id, tokens, priceFen: price_fen, days, createdAt: author.now };
    await inTransaction(parts.database, async (transaction) => {
      await createOffer(transaction, offer);
      await writeAudit(transaction, author, "package.offer", id, null, { tokens, price_fen, days });
    });
    reply.code(201);
    return offerBody(offer);
  });

  app.delete<ById>("/admin/v1/packages/:id", async (request, reply) => {
    const author = authorOf(parts, request);
    await inTransaction(parts.database, async (transaction) => {
      await endOffer(transaction, request.params.id, author.now);
      await writeAudit(transaction, author, "package.end", request.params.id, null, null);
    });
    return reply.code(204).send();
  });

  app.get<ById>("/v1/payments/:id", async (request): Promise<Sent<typeof paymentSchema>> => {
    const { id } = request.params;
    const found = await payments.find(id, principalOf(request).account.id);
    if (!found) throw new Failure("not_found", { what: `The payment ${id.slice(0, 64)}` });
    return paymentBody(found, bank);
  });

  app.post("/v1/payments", async (request, reply): Promise<Sent<typeof paymentSchema>> => {
    const { provider, amount_fen, package: offer } = check(newPayment, readJson(request));
    const { account } = principalOf(request);
    const wanted = { provider, amountFen: amount_fen, package: offer };
    const made = await payments.create(account.id, wanted, authorOf(parts, request));
    reply.code(201);
    return paymentBody(made, bank);
  });

  app.post<{ Params: { provider: string } }>("/v1/payments/:provider/notify", async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    await payments.hear(request.params.provider, { headers: request.headers, body });
    // Alipay repeats a notification until it reads this word; the others look at the status alone.
    return reply.type("text/plain; charset=utf-8").send("success");
  });

  app.get("/admin/v1/payments", async (request) => {
    const { cursor, limit, account, ...filter } = check(anyPaymentsQuery, request.query);
    const wanted = { ...filter, accountId: account, after: cursor, limit: limit + 1 };
    const page = pageOf(await listPayments(parts.database, wanted), limit, (one) =>
      anyPaymentBody(one, bank),
    );
    return { ...page, shut: await listShutOut(parts.database) };
  });

  app.post<ById>("/admin/v1/payments/:id/confirm", async (request): Promise<Sent<typeof anyPayment>> => {
    const { transaction, amount_fen } = check(paymentConfirmation, readJson(request));
    const seen = { transaction, amountFen: amount_fen };
    return anyPaymentBody(await payments.confirm(request.params.id, seen, authorOf(parts, request)), bank);
  });

  app.post<ById>(
    "/admin/v1/payments/:id/refunds",
    async (request, reply): Promise<Sent<typeof anyPayment>> => {
      const { amount_fen, reason, transaction } = check(newMoneyReturn, readJson(request));
      const wanted = { amountFen: amount_fen, reason, transaction };
      const refunded = await payments.refund(request.params.id, wanted, authorOf(parts, request));
      reply.code(201);
      return anyPaymentBody(refunded, bank);
    },
  );
}

export function offerBody({ id, tokens, priceFen, days }: Offer): Sent<typeof packageOffer> {
  return { id, tokens, price_fen: priceFen, days };
}

function pageOf<Body>(
  found: readonly PaymentWithReturns[],
  limit: number,
  bodyOf: (payment: PaymentWithReturns) => Body,
) {
  const shown = found.slice(0, limit);
  return { data: shown.map(bodyOf), next_cursor: found.length > limit ? shown.at(-1)!.id : null };
}

function paymentBody(
  payment: PaymentWithReturns,
  bank: BankSettings | undefined,
): Sent<typeof paymentSchema> {
  const { reference, returns } = payment;
  const isOpen = payment.state === "open";
  return {
    id: payment.id,
    provider: payment.provider,
    amount_fen: payment.amountFen,
    currency: "CNY",
    tokens: payment.tokens,
    state: payment.state,
    url: isOpen ? payment.url : null,
    qr: isOpen ? payment.qr : null,
    transfer: isOpen && bank && reference !== null ? { ...bank, reference } : null,
    created_at: payment.createdAt,
    expires_at: payment.expiresAt,
    paid_at: payment.paidAt,
    returned_fen: returnedFen(returns),
    returns: returns.map((one) => ({
      id: one.id,
      kind: one.kind,
      state: one.state,
      amount_fen: one.amountFen,
      tokens: one.paid + one.credit,
      reason: one.reason,
      created_at: one.createdAt,
    })),
    package: payment.packageOffer,
    invoice_id: payment.invoiceId,
  };
}

function anyPaymentBody(
  payment: PaymentWithReturns,
  bank: BankSettings | undefined,
): Sent<typeof anyPayment> {
  return {
    ...paymentBody(payment, bank),
    account_id: payment.accountId,
    account_name: payment.accountName,
    transaction: payment.transaction,
    heard_by: payment.heardBy,
    trouble: payment.trouble,
    lost_tokens: payment.returns.reduce((sum, { state, lost }) => (state === "failed" ? sum : sum + lost), 0),
  };
}
