import { setTimeout as sleep } from "node:timers/promises";
import type { AnyPayment, Payment, PaymentOptions, Verdict } from "@dataq/contract/wire";
import { Argument, Command } from "commander";
import type { DataQueryOptions } from "dataq-client";
import { renderUnicodeCompact } from "uqr";
import { confirm } from "../confirm.ts";

/** `dataq payments`: tries the ways to pay. */
export function paymentsCommand(connect: () => DataQueryOptions): Command {
  const payments = new Command("payments").description("try the ways to pay");
  payments
    .command("test")
    .description(
      "pay the smallest amount to yourself and refund it, with real money: shows that the keys, the notification and the refund work",
    )
    .addArgument(new Argument("<provider>").choices(["stripe", "alipay", "wechat"]))
    .option("--yes", "do not ask before the payment is begun")
    .action(async (provider: string, options: { yes?: boolean }) =>
      walkThrough(new Caller(connect()), provider, options.yes === true),
    );
  return payments;
}

const POLL_MS = 2_000;

async function walkThrough(service: Caller, provider: string, isSure: boolean): Promise<void> {
  const options = await service.ask<PaymentOptions>("/v1/payments/options");
  const way = options.providers.find(({ name }) => name === provider);
  if (!way)
    throw new Error(
      `${provider} is not set up. Write its keys to payments.json (docs/dataq/payments.md), and restart the service.`,
    );
  const yuan = (way.least_fen / 100).toFixed(2);
  console.log(
    `This pays ${yuan} CNY by ${provider} to your own account at the service, and refunds it. The provider may keep a fee.`,
  );
  if (!isSure && !(await confirm("Begin?")))
    throw new Error("nothing was paid. Add --yes to begin without being asked.");

  const begun = await service.ask<Payment>("/v1/payments", { provider, amount_fen: way.least_fen });
  console.log(`1. ${begun.id} is begun. Pay it now:`);
  if (begun.qr !== null) console.log(`\n${renderUnicodeCompact(begun.qr)}\n`);
  console.log(`   ${begun.url ?? begun.qr}`);
  const end = Date.parse(begun.expires_at);
  let payment = begun;
  while (payment.state === "open" && Date.now() < end) {
    await sleep(POLL_MS);
    payment = await service.ask<Payment>(`/v1/payments/${begun.id}`);
  }
  if (payment.state !== "paid") throw new Error(`the payment is ${payment.state}, so nothing was paid.`);
  console.log(`2. Paid: ${payment.tokens} tokens were credited.`);
  const { heard_by } = await service.find(begun.id);
  console.log(
    heard_by === "notification"
      ? `   The notification of ${provider} arrived and was genuine.`
      : `   No notification arrived: the service asked ${provider}. Check DATAQ_URL and the address in the settings at ${provider}; without notifications, refunds made there and chargebacks go unnoticed.`,
  );

  const body = { amount_fen: way.least_fen, reason: "dataq payments test" };
  await service.ask<AnyPayment>(`/admin/v1/payments/${begun.id}/refunds`, body);
  let [returned] = (await service.find(begun.id)).returns.slice(-1);
  console.log("3. The refund is on its way …");
  while (returned!.state === "pending") {
    await sleep(POLL_MS);
    [returned] = (await service.find(begun.id)).returns.slice(-1);
  }
  if (returned!.state !== "done")
    throw new Error(
      `the refund failed; the tokens are back. See the log of the service and the pages of ${provider}.`,
    );
  const { ok } = await service.ask<Verdict>("/admin/v1/ledger/verify");
  if (!ok) throw new Error("the money moved, but the ledger does not verify. Run dataq ledger verify.");
  console.log(`4. Refunded, and the ledger verifies. ${provider} works.`);
}

/** The service over HTTP, as its operator. */
class Caller {
  readonly #connection: DataQueryOptions;

  constructor(connection: DataQueryOptions) {
    this.#connection = connection;
  }

  async ask<Answer>(path: string, body?: object): Promise<Answer> {
    const { baseUrl, apiKey } = this.#connection;
    const response = await fetch(`${baseUrl}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...(apiKey && { authorization: `Bearer ${apiKey}` }),
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Answer & { detail?: string; next_action?: string };
    if (!response.ok) throw new Error(`${answer.detail} ${answer.next_action}`);
    return answer;
  }

  /** The newest payment with this ID, as operators see it. */
  async find(id: string): Promise<AnyPayment> {
    const { data } = await this.ask<{ data: readonly AnyPayment[] }>("/admin/v1/payments?limit=100");
    const found = data.find((one) => one.id === id);
    if (!found) throw new Error(`the payment ${id} is not among the newest 100.`);
    return found;
  }
}
