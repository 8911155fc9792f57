import { parseArgs } from "node:util";
import { simulateScheduler } from "../test/scheduler-simulation.ts";

export const title = "locallm: the scheduler, simulated";

/** `--seeds` (10,000) simulations from `--seed` (1). A breach is printed with its seed, which repeats it. */
export async function run(
  print: (line: string) => void,
  _: string,
  args: readonly string[] = [],
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: "string", default: "10000" },
      seed: { type: "string", default: "1" },
    },
  });
  const first = Number(values.seed);
  const sums = new Map<string, number>();
  const breaches: string[] = [];
  for (let seed = first; seed < first + Number(values.seeds); seed++) {
    const { counts, breach } = await simulateScheduler(seed);
    for (const [what, times] of Object.entries(counts)) sums.set(what, (sums.get(what) ?? 0) + times);
    if (breach !== undefined)
      breaches.push(`\`npm run proof -- places --seed ${seed} --seeds 1\`: ${breach}`);
    if (breaches.length >= 20) break;
  }
  print(`Seeds ${first} to ${first + Number(values.seeds) - 1}: ${breaches.length} breaches.`);
  print("");
  print("| what happened | times |");
  print("| --- | --: |");
  for (const [what, times] of [...sums].sort()) print(`| ${what} | ${times.toLocaleString("en")} |`);
  for (const line of breaches) print(`\n${line}`);
  if (breaches.length > 0) throw new Error(`${breaches.length} breaches`);
}
