import { askNationalLaws } from "./connectors/national-laws.ts";
import { askVendors } from "./connectors/vendors.ts";

export const title = "dataq: the real public sources, asked as little as possible";

/** Each asks one publisher a bounded number of times and prints what it answered. */
const parts: Readonly<Record<string, (print: (line: string) => void) => Promise<void>>> = {
  "national-laws": askNationalLaws,
  vendors: askVendors,
};

/**
 * Asks strangers, so it runs only by its name and never with all proofs. `--only national-laws` runs one part. Needs a
 * network.
 */
export async function run(
  print: (line: string) => void,
  _folder: string,
  args: readonly string[],
): Promise<void> {
  if (!process.argv.includes("connectors"))
    return print("Skipped: it asks the real publishers. Run it by its name: npm run proof -- connectors");
  const [option, only] = args;
  if (option !== undefined && (option !== "--only" || only === undefined || parts[only] === undefined))
    throw new Error(`Use --only with one of ${Object.keys(parts).join(", ")}.`);
  const failed: string[] = [];
  for (const [name, ask] of Object.entries(parts)) {
    if (only !== undefined && only !== name) continue;
    print(`### ${name}\n`);
    try {
      await ask(print);
    } catch (error) {
      // The others are asked all the same.
      failed.push(name);
      print(`FAILED: ${(error as Error).message}`);
    }
  }
  if (failed.length > 0) throw new Error(`Not as described: ${failed.join(", ")}.`);
}
