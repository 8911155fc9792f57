import { parseArgs } from "node:util";
import { verifyLedger } from "../src/ledger/verify.ts";
import { play } from "../test/books/play.ts";
import { World } from "../test/books/world.ts";

export const title = "Books: services, sweeper, importer and messages over broken lines, with a moving clock";

/** Plays seeds from `--seed` (1) for `--minutes` (20), or `--seeds`. A breach is printed with its seed, which repeats it. */
export async function run(
  print: (line: string) => void,
  _: string,
  args: readonly string[] = [],
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: "1" },
      seeds: { type: "string", default: "10000" },
      minutes: { type: "string", default: "20" },
    },
  });
  const first = Number(values.seed);
  const end = performance.now() + Number(values.minutes) * 60_000;
  const sums = new Map<string, number>();
  const breaches: string[] = [];
  const world = await World.open();
  let seed = first;
  try {
    for (; seed < first + Number(values.seeds) && performance.now() < end && breaches.length < 20; seed++) {
      const { counts, breach } = await play(world, seed);
      for (const [what, times] of Object.entries(counts)) sums.set(what, (sums.get(what) ?? 0) + times);
      if (breach !== undefined)
        breaches.push(`\`npm run proof -- books --seed ${seed} --seeds 1\`: ${breach}`);
    }
    for (const { law, breaches: found } of (await verifyLedger(world.database)).findings)
      breaches.push(...found.map((breach) => `${law}, of all books: ${breach}`));
  } finally {
    await world.close();
  }
  print(`Seeds ${first} to ${seed - 1}: ${breaches.length} breaches.`);
  print("");
  print("| what happened | times |");
  print("| --- | --: |");
  for (const [what, times] of [...sums].sort()) print(`| ${what} | ${times.toLocaleString("en")} |`);
  for (const line of breaches) print(`\n${line}`);
  if (breaches.length > 0) throw new Error(`${breaches.length} breaches`);
}
