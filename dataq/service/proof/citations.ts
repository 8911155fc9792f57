import { join } from "node:path";
import { parseArgs } from "node:util";
import { judgePassages } from "../test/judged-passages.ts";
import { foldPacks, readPack } from "../test/law-packs.ts";
import { judgeRetold } from "../test/retold-articles.ts";

export const title = "dataq: citations with known faults";

const packs = ["law_versions_md", "law_articles", "law_catalog", "laws_current_md"];
const now = new Date("2026-11-22T04:00:00Z");

/** Needs TEST_DATA. `--seed WORD` makes other passages, `--show` lists what was judged wrongly. */
export async function run(
  print: (line: string) => void,
  _: string,
  args: readonly string[] = [],
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { seed: { type: "string", default: "proof" }, show: { type: "boolean", default: false } },
  });
  const from = process.env["TEST_DATA"];
  if (from === undefined) return print("Skipped: TEST_DATA names no folder with the packs.");
  const read = await Promise.all(packs.map((name) => readPack(name, join(from, `${name}.jsonl.zst`))));
  const { articles } = foldPacks(read);
  const figures = await judgePassages(articles, values.seed, 300, now);
  print("| passages | number | as expected |");
  print("| --- | --: | --: |");
  for (const { fault, passages, found } of figures.byFault)
    print(`| ${fault === "none" ? "without a fault" : fault} | ${passages} | ${found} |`);
  const faulty = figures.byFault.filter(({ fault }) => fault !== "none");
  const all = faulty.reduce((sum, { passages }) => sum + passages, 0);
  const found = faulty.reduce((sum, each) => sum + each.found, 0);
  print("");
  print(`Faults found: ${found} of ${all} (${percent(found, all)}).`);
  print(
    `False alarms: ${figures.falseAlarms} of ${figures.correct} citations without a fault (${percent(figures.falseAlarms, figures.correct)}).`,
  );
  print(`Passages of which a citation was not read: ${figures.misread}.`);
  if (values.show) for (const line of figures.wrong) print(line);
  const retold = judgeRetold(articles, values.seed, 10_000);
  print("");
  print("| a sentence of an article retold | number | told as an error |");
  print("| --- | --: | --: |");
  for (const { way, tried, accused } of retold.allowed)
    print(`| allowed: ${way} | ${tried} | ${accused.length} |`);
  for (const { way, tried, missed } of retold.planted)
    print(`| planted: ${way} | ${tried} | ${tried - missed.length} |`);
  if (values.show) for (const { missed } of retold.planted) for (const line of missed) print(line);
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
}
