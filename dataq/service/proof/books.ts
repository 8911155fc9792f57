import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { verifyLedger } from "../src/ledger/verify.ts";
import { type Played, play } from "../test/books/play.ts";
import { World } from "../test/books/world.ts";

export const title = "Books: services, sweeper, importer and messages over broken lines, with a moving clock";

/** The accounts of a world stay, and the laws of wallets look at all of them. */
const SEEDS_OF_A_WORLD = 300;
const MOST_BREACHES = 20;

type Line = Played & { readonly seed: number };

/**
 * Plays `--seeds` (10,000) from `--seed` (1), or as many as `--minutes` (20) allow, `--at-once` (6) in worlds of their
 * own, because a seed mostly waits. `--file` keeps a line for each seed, and the seeds that have one are not played
 * again. A breach is printed with its seed, which repeats it.
 */
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
      "at-once": { type: "string", default: "6" },
      file: { type: "string" },
    },
  });
  const first = Number(values.seed);
  const last = first + Number(values.seeds) - 1;
  const begin = performance.now();
  const end = begin + Number(values.minutes) * 60_000;
  const lines = values.file === undefined ? [] : linesOf(values.file);
  const known = new Set(lines.map(({ seed }) => seed));
  const breaches: string[] = [];
  let next = first;
  let played = 0;

  function take(): number | undefined {
    while (known.has(next)) next++;
    return next <= last && performance.now() < end && breaches.length < MOST_BREACHES ? next++ : undefined;
  }

  async function playInOneWorld(): Promise<void> {
    const world = await World.open();
    try {
      for (let left = SEEDS_OF_A_WORLD; left > 0; left--) {
        const seed = take();
        if (seed === undefined) break;
        const line = { seed, ...(await play(world, seed)) };
        lines.push(line);
        played++;
        if (values.file !== undefined) appendFileSync(values.file, `${JSON.stringify(line)}\n`);
        if (line.breach === undefined) continue;
        breaches.push(`\`npm run proof -- books --seed ${seed} --seeds 1\`: ${line.breach}`);
        // Books that are wrong stay so.
        return;
      }
      for (const { law, breaches: found } of (await verifyLedger(world.database)).findings)
        breaches.push(...found.map((breach) => `${law}, of all books: ${breach}`));
    } finally {
      await world.close();
    }
  }

  async function playOn(): Promise<void> {
    while (next <= last && performance.now() < end && breaches.length < MOST_BREACHES) await playInOneWorld();
  }

  const atOnce = Math.min(Number(values["at-once"]), Number(values.seeds));
  await Promise.all(Array.from({ length: atOnce }, playOn));

  const minutes = (performance.now() - begin) / 60_000;
  const sums = new Map<string, number>();
  for (const { counts } of lines)
    for (const [what, times] of Object.entries(counts)) sums.set(what, (sums.get(what) ?? 0) + times);
  const all = lines.map(({ seed }) => seed).sort((one, other) => one - other);
  print(
    `Seeds ${rangesOf(all)}: ${lines.filter(({ breach }) => breach !== undefined).length} with a breach; ${played} now, in ${minutes.toFixed(1)} minutes.`,
  );
  print("");
  print("| what happened | times |");
  print("| --- | --: |");
  for (const [what, times] of [...sums].sort()) print(`| ${what} | ${times.toLocaleString("en")} |`);
  for (const line of breaches) print(`\n${line}`);
  if (breaches.length > 0) throw new Error(`${breaches.length} breaches`);
}

function linesOf(file: string): Line[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** `1 to 40, 43`. */
function rangesOf(sorted: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const seed of sorted) {
    const range = ranges.at(-1);
    if (range !== undefined && range[1] === seed - 1) range[1] = seed;
    else ranges.push([seed, seed]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`)).join(", ");
}
