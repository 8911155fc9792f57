import fc from "fast-check";
import { queryAsOwner } from "../test/data-folder.ts";
import { paymentStep, playPayments } from "../test/payment-model.ts";
import { PaymentRig } from "../test/payment-rig.ts";

export const title = "Payments: 10,000 random histories, money at the providers = money in the ledger";

const PARTS = 20;
const HISTORIES_A_PART = 500;
const FIRST_SEED = 20_261_128;

export async function run(print: (line: string) => void): Promise<void> {
  print("| seed | histories | steps | payments | returns | entries | differences | broken laws | seconds |");
  print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
  for (let part = 0; part < PARTS; part++) {
    const begin = performance.now();
    const seed = FIRST_SEED + part;
    await using rig = await PaymentRig.start();
    await queryAsOwner(rig.database, "alter system set synchronous_commit = off", "select pg_reload_conf()");
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
