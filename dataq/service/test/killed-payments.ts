import type { Database } from "../src/database/database.ts";
import type { PaymentFailpoint } from "../src/payments/failpoint.ts";
import { Payments } from "../src/payments/payments.ts";
import { readPaymentSettings } from "../src/payments/settings.ts";
import type { Notice, OnlineProvider, PaymentProviders } from "./payment-providers.ts";
import { ledgerFen } from "./payment-rig.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

const AMOUNT = 1_234;
const REFUND = 234;

/**
 * Kills a service with SIGKILL at a step of a payment or its refund, beside another one on its database. Throws unless
 * the money at the provider is the money in the ledger once the provider has repeated its notification and was asked.
 */
export async function killDuringPayment(
  failpoint: PaymentFailpoint,
  provider: OnlineProvider,
  parts: {
    readonly folder: string;
    readonly database: Database;
    readonly providers: PaymentProviders;
    readonly other: ServiceProcess;
  },
): Promise<void> {
  const { folder, database, providers, other } = parts;
  const setting = providers.configure(folder);
  const doomed = await startService({ folder, env: { ...setting, DATAQ_FAILPOINT: failpoint } });
  const begin = async (at: ServiceProcess) =>
    (await at.call("/v1/payments", { body: { provider, amount_fen: AMOUNT } })).body.id as string;
  const deliver = (at: ServiceProcess, { path, headers, body }: Notice) =>
    at.call(path, { key: null, headers, body });
  const dies = async (call: Promise<unknown>) => {
    const answer = await call.catch(() => undefined);
    if (answer !== undefined)
      throw new Error(`The service was not killed at ${failpoint}: ${JSON.stringify(answer)}`);
    await doomed.ended;
  };

  let id: string;
  let expected = AMOUNT;
  if (failpoint.endsWith("_charge")) {
    // The other service stands still meanwhile, because it would charge the card itself.
    process.kill(other.pid, "SIGSTOP");
    const { charged_fen } = (await doomed.call("/v1/auto-top-up")).body;
    const auto = { low_tokens: 1e12, amount_fen: AMOUNT, most_fen: charged_fen + AMOUNT, consent: true };
    const { url } = (await doomed.call("/v1/auto-top-up", { method: "PATCH", body: auto })).body;
    await deliver(doomed, providers.saveCard(url));
    await doomed.ended;
    process.kill(other.pid, "SIGCONT");
    id = (await other.call("/v1/payments?limit=1")).body.data[0].id;
    await other.call("/v1/auto-top-up", { method: "DELETE" });
  } else if (failpoint.endsWith("create_payment")) {
    await dies(begin(doomed));
    id = (await other.call("/v1/payments?limit=1")).body.data[0].id;
    // The provider heard of it, so somebody might pay. Stripe cannot be asked without its number, which died with the
    // service, but tells; of the others the notification is lost.
    const notice = providers.trades.has(id) ? providers.pay(id) : undefined;
    if (notice && provider === "stripe") await deliver(other, notice);
    if (!notice) expected = 0;
  } else {
    id = await begin(other);
    const notice = providers.pay(id);
    const isReturn = failpoint.includes("return");
    if (isReturn) {
      await deliver(other, notice);
      const body = { amount_fen: REFUND, reason: "killed" };
      await dies(doomed.call(`/admin/v1/payments/${id}/refunds`, { body }));
      expected -= REFUND;
    } else {
      await dies(deliver(doomed, notice));
      await deliver(other, notice.again?.() ?? notice);
    }
  }
  // What the sweepers do later. The clock stays, because signatures of the providers are only good for minutes.
  const sweeper = new Payments({
    database,
    settings: await readPaymentSettings(setting.DATAQ_PAYMENTS),
    clock: () => new Date(),
    publicUrl: () => "https://data.example",
    onWarning: () => {},
    failpoint: () => {},
  });
  for (let round = 0; round < 3; round++) {
    for (const table of ["payment", "payment_return"])
      await database.query(`update ${table} set ask_at = $1 where ask_at is not null`, [new Date()]);
    await sweeper.askDue();
  }
  const [ledger, there] = [await ledgerFen(database, id), providers.balanceFen(id)];
  if (providers.chargedTwice > 0) throw new Error(`${failpoint}: the card was charged twice`);
  if (ledger !== expected || there !== expected)
    throw new Error(`${failpoint}, ${provider}: ${there} fen are at the provider, ${ledger} in the ledger`);
}
