import { parseArgs } from "node:util";
import { commitWithoutDisk, makeDataFolder, openFolder, removeDataFolder } from "../test/data-folder.ts";
import { Interleaver } from "../test/interleavings.ts";
import { checkLaws } from "../test/ledger-model.ts";
import { operations, playPair, preparePairs } from "../test/money-pairs.ts";

export const title = "Ledger: every order of the statements of each two operations on one account";

/** `--only NAME`: pairs with this operation. */
export async function run(print: (line: string) => void, _folder: string, args: readonly string[]) {
  const { values } = parseArgs({ args: [...args], options: { only: { type: "string" } } });
  const folder = await makeDataFolder("tables");
  const database = await openFolder(folder);
  await commitWithoutDisk(database);
  const interleaver = await Interleaver.open(database);
  try {
    await preparePairs(database);
    const names = Object.keys(operations);
    const wrong: string[] = [];
    let pairs = 0;
    let orders = 0;
    for (const [place, first] of names.entries()) {
      for (const second of names.slice(place)) {
        if (values.only !== undefined && ![first, second].includes(values.only)) continue;
        const played = await playPair(database, interleaver, first, second);
        pairs++;
        orders += played.orders;
        wrong.push(...played.wrong.map((one) => `${first} and ${second}: ${one}`));
        console.error(`${first}, ${second}: ${played.orders} orders, ${played.wrong.length} wrong`);
      }
    }
    print("| pairs | orders of statements | that end as neither operation after the other does |");
    print("| --: | --: | --: |");
    print(`| ${pairs} | ${orders} | ${wrong.length} |`);
    for (const line of wrong) print(`\n${line}`);
    await checkLaws(database);
    if (wrong.length > 0) throw new Error(`${wrong.length} orders end wrongly`);
  } finally {
    await interleaver.close();
    await database.close();
    await removeDataFolder(folder);
  }
}
