import { parseArgs } from "node:util";
import { type Simulated, simulateScheduler } from "../test/scheduler-simulation.ts";
import { simulateSlots } from "../test/slots-simulation.ts";

export const title = "locallm: the scheduler, and the slots of a model, simulated";

const simulations: Readonly<Record<string, (seed: number) => Promise<Simulated>>> = {
  scheduler: simulateScheduler,
  slots: simulateSlots,
};

/** `--seeds` (10,000) simulations of each, or `--only` one, from `--seed` (1). A breach is printed with its seed, which repeats it. */
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
      only: { type: "string" },
    },
  });
  const first = Number(values.seed);
  const all: string[] = [];
  for (const [name, simulate] of Object.entries(simulations)) {
    if (values.only !== undefined && values.only !== name) continue;
    const sums = new Map<string, number>();
    const breaches: string[] = [];
    for (let seed = first; seed < first + Number(values.seeds); seed++) {
      const { counts, breach } = await simulate(seed);
      for (const [what, times] of Object.entries(counts)) sums.set(what, (sums.get(what) ?? 0) + times);
      if (breach !== undefined)
        breaches.push(`\`npm run proof -- places --only ${name} --seed ${seed} --seeds 1\`: ${breach}`);
      if (breaches.length >= 20) break;
    }
    print(`${name}, seeds ${first} to ${first + Number(values.seeds) - 1}: ${breaches.length} breaches.`);
    print("");
    print("| what happened | times |");
    print("| --- | --: |");
    for (const [what, times] of [...sums].sort()) print(`| ${what} | ${times.toLocaleString("en")} |`);
    print("");
    for (const line of breaches) print(`${line}\n`);
    all.push(...breaches);
  }
  if (all.length > 0) throw new Error(`${all.length} breaches`);
}
