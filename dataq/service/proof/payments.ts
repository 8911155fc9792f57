import fc from "fast-check";
import { verifyLedger } from "../src/ledger/verify.ts";
import { paymentFailpoints } from "../src/payments/failpoint.ts";
import { commitWithoutDisk, makeDataFolder, openFolder, removeDataFolder } from "../test/data-folder.ts";
import { killDuringPayment } from "../test/killed-payments.ts";
import { paymentStep, playPayments } from "../test/payment-model.ts";
import { onlineProviders, PaymentProviders } from "../test/payment-providers.ts";
import { PaymentRig } from "../test/payment-rig.ts";
import { startService } from "../test/service-process.ts";

export const title = "Payments: 10,000 random histories, money at the providers = money in the ledger";

const PARTS = 20;
const HISTORIES_A_PART = 500;
const FIRST_SEED = 20_261_128;

/** Services that are killed with SIGKILL at every step of a payment and its refund, with each provider. */
async function kill(print: (line: string) => void): Promise<void> {
  const folder = await makeDataFolder("first start");
  const database = await openFolder(folder);
  try {
    await using providers = await PaymentProviders.start(() => Date.now());
    await using other = await startService({ folder, env: providers.configure(folder) });
    print("| killed at | kills | money at the provider = money in the ledger |");
    print("|---|---:|---:|");
    for (const failpoint of paymentFailpoints) {
      // Only Stripe charges saved cards.
      const killed = failpoint.endsWith("_charge") ? (["stripe"] as const) : onlineProviders;
      for (const provider of killed)
        await killDuringPayment(failpoint, provider, { folder, database, providers, other });
      print(`| ${failpoint} | ${killed.length} | ${killed.length} |`);
    }
    const { findings } = await verifyLedger(database);
    const broken = findings.filter(({ breaches }) => breaches.length > 0);
    if (broken.length > 0) throw new Error(JSON.stringify(broken));
    print("");
  } finally {
    await database.close();
    await removeDataFolder(folder);
  }
}

export async function run(print: (line: string) => void): Promise<void> {
  await kill(print);
  print("| seed | histories | steps | payments | returns | entries | differences | broken laws | seconds |");
  print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
  for (let part = 0; part < PARTS; part++) {
    const begin = performance.now();
    const seed = FIRST_SEED + part;
    await using rig = await PaymentRig.start();
    await commitWithoutDisk(rig.database);
    let steps = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(paymentStep, { minLength: 10, maxLength: 60 }), async (history) => {
        steps += history.length;
        await playPayments(rig, history);
      }),
      { numRuns: HISTORIES_A_PART, seed, endOnFailure: true },
    );
    const broken = await rig.brokenLaws();
    if (broken.length > 0) throw new Error(`Broken laws: ${broken.join("; ")}`);
    const counted = await rig.database.query<{ payments: number; returns: number; entries: number }>(
      "select (select count(*) from payment) as payments, (select count(*) from payment_return) as returns, (select count(*) from entry) as entries",
    );
    const { payments, returns, entries } = counted.rows[0]!;
    const seconds = ((performance.now() - begin) / 1000).toFixed(0);
    print(
      `| ${seed} | ${HISTORIES_A_PART} | ${steps} | ${payments} | ${returns} | ${entries} | 0 | 0 | ${seconds} |`,
    );
  }
}
