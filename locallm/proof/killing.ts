import { seeded } from "../test/crowd.ts";
import { killAmidChanges, killAmidPulls } from "../test/killing.ts";

export const title = "Kill -9 in the midst of create, copy, delete and pull";

export async function run(print: (line: string) => void): Promise<void> {
  print(
    "| what | kills | work done before the kill | problems | bytes fetched for each byte of the models |",
  );
  print("|---|---|---|---|---|");
  const changes = await killAmidChanges(200, seeded(11));
  print(
    `| create, copy, delete | ${changes.rounds} | ${changes.finished} | ${changes.problems.length} | – |`,
  );
  const pulls = await killAmidPulls(100, seeded(12));
  print(
    `| pull | ${pulls.rounds} | ${pulls.finished} | ${pulls.problems.length} | ${pulls.fetchedRatio.toFixed(3)} |`,
  );
  for (const line of [...changes.problems, ...pulls.problems].slice(0, 20)) print(`\n- ${line}`);
}
