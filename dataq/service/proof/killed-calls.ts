import { verifyLedger } from "../src/ledger/verify.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "../test/data-folder.ts";
import { killAndRetry, killedCalls } from "../test/killed-calls.ts";
import { startService } from "../test/service-process.ts";

export const title = "Calls whose service is killed at every step are answered and charged once";

const ROUNDS = 5;

/** Kills a service at every step of a call with one query and with several, beside two services on its database. */
export async function run(print: (line: string) => void): Promise<void> {
  const folder = await makeDataFolder("first start");
  const database = await openFolder(folder);
  try {
    await using one = await startService({ folder, vendor: true });
    await using two = await startService({ folder, vendor: true });
    print("| killed at | call with | kills | answered and charged once |");
    print("|---|---|---:|---:|");
    for (const killed of killedCalls) {
      for (let round = 0; round < ROUNDS; round++)
        await killAndRetry(killed, { folder, database, others: [one, two] });
      print(`| ${killed.failpoint} | ${killed.queries} | ${ROUNDS} | ${ROUNDS} |`);
    }
    const { findings } = await verifyLedger(database);
    const broken = findings.filter(({ breaches }) => breaches.length > 0);
    if (broken.length > 0) throw new Error(JSON.stringify(broken));
    print("");
    print("After all kills the books balance.");
  } finally {
    await database.close();
    await removeDataFolder(folder);
  }
}
