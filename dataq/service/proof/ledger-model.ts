import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { openDatabase } from "../src/database/database.ts";
import { migrate } from "../src/database/migrations.ts";
import { migrations } from "../src/schema.ts";
import { commitWithoutDisk } from "../test/data-folder.ts";
import { checkLaws, playSteps, prepareModel, stepArbitrary } from "../test/ledger-model.ts";

export const title = "Ledger: a million random steps against the model";

const PARTS = 20;
const RUNS_A_PART = 10;
const STEPS_A_RUN = 5_000;
const ACCOUNTS = 40;
const FIRST_SEED = 20_260_301;

export async function run(print: (line: string) => void): Promise<void> {
  print("| seed | steps | breaches of L1–L14 | differences from the model | entries | seconds |");
  print("|---:|---:|---:|---:|---:|---:|");
  const kinds = new Map<string, number>();
  for (let part = 0; part < PARTS; part++) {
    const begin = performance.now();
    const counted = await playPart(FIRST_SEED + part);
    const entries = counted.reduce((sum, { n }) => sum + n, 0);
    const seconds = ((performance.now() - begin) / 1000).toFixed(0);
    print(`| ${FIRST_SEED + part} | ${RUNS_A_PART * STEPS_A_RUN} | 0 | 0 | ${entries} | ${seconds} |`);
    for (const { kind, n } of counted) kinds.set(kind, (kinds.get(kind) ?? 0) + n);
  }
  print("");
  print(`Entries by kind: ${[...kinds].map(([kind, n]) => `${kind} ${n}`).join(", ")}.`);
}

/**
 * Runs one part on its own database. Throws at the first difference or breach. Returns the number of entries.
 */
export async function playPart(seed: number): Promise<{ kind: string; n: number }[]> {
  const folder = mkdtempSync(join(tmpdir(), "dataq-proof-"));
  const database = await openDatabase({ folder, progress: () => {} });
  try {
    await migrate(database, migrations);
    await commitWithoutDisk(database);
    const statements = await prepareModel(database);
    await fc.assert(
      fc.asyncProperty(fc.array(stepArbitrary, { minLength: STEPS_A_RUN, maxLength: STEPS_A_RUN }), (steps) =>
        playSteps(database, steps, statements, ACCOUNTS),
      ),
      { numRuns: RUNS_A_PART, seed, endOnFailure: true },
    );
    await checkLaws(database);
    const found = await database.pool.query<{ kind: string; n: number }>(
      "select kind, count(*)::int as n from entry group by kind order by kind",
    );
    return found.rows;
  } finally {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
