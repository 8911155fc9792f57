import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { openDatabase } from "../src/database/database.ts";
import { migrate } from "../src/database/migrations.ts";
import { migrations } from "../src/schema.ts";
import { checkLaws, playSteps, prepareModel, stepArbitrary } from "../test/ledger-model.ts";

export const title = "Ledger: a million random steps against the model";

const STEPS = 1_000_000;
const STEPS_A_RUN = 2_000;
const CHECK_EVERY_RUNS = 50;

export async function run(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "dataq-proof-"));
  const database = await openDatabase({ folder, progress: () => {} });
  try {
    await migrate(database, migrations);
    // Nothing is killed here, so nothing has to reach the disk.
    await database.pool.query("alter system set synchronous_commit = off");
    await database.pool.query("select pg_reload_conf()");
    await prepareModel(database);
    const begin = performance.now();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(stepArbitrary, { minLength: STEPS_A_RUN, maxLength: STEPS_A_RUN }),
        async (steps) => {
          await playSteps(database, steps);
          if (++runs % CHECK_EVERY_RUNS === 0) await checkLaws(database);
        },
      ),
      { numRuns: STEPS / STEPS_A_RUN, seed: 20_260_301, endOnFailure: true },
    );
    await checkLaws(database);
    const found = await database.pool.query<{ kind: string; n: number }>(
      "select kind, count(*)::int as n from entry group by kind order by kind",
    );
    print("| steps | breaches of L1–L14 | differences from the model | entries | seconds |");
    print("|---:|---:|---:|---:|---:|");
    const entries = found.rows.reduce((sum, { n }) => sum + n, 0);
    print(
      `| ${runs * STEPS_A_RUN} | 0 | 0 | ${entries} | ${((performance.now() - begin) / 1000).toFixed(0)} |`,
    );
    print("");
    print(`Entries by kind: ${found.rows.map(({ kind, n }) => `${kind} ${n}`).join(", ")}.`);
  } finally {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
