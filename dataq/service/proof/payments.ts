import { parseArgs } from "node:util";
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
/** A history mostly waits for its database, or the database for it; others use the processor meanwhile. */
const AT_ONCE = 4;

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

/** `--from 1`, `--to 20`: the parts; the kills come with the first. */
export async function run(print: (line: string) => void, _folder: string, args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      from: { type: "string", default: "1" },
      to: { type: "string", default: String(PARTS) },
    },
  });
  const [from, to] = [Number(values.from), Number(values.to)];
  if (from === 1) await kill(print);
  print("| seed | histories | steps | payments | returns | entries | differences | broken laws | seconds |");
  print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
  const first = FIRST_SEED + from - 1;
  const seeds = Array.from({ length: to - from + 1 }, (_, part) => first + part);
  const rows = new Map<number, string>();
  let printed = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
        rows.set(seed, await playPart(seed));
        for (; rows.has(first + printed); printed++) print(rows.get(first + printed)!);
      }
    }),
  );
}

/** Plays the histories of a seed on a database of their own. Throws at the first difference. Returns its row. */
async function playPart(seed: number): Promise<string> {
  const begin = performance.now();
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
  return `| ${seed} | ${HISTORIES_A_PART} | ${steps} | ${payments} | ${returns} | ${entries} | 0 | 0 | ${seconds} |`;
}
