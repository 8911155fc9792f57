import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkCitations } from "../src/operations/legal/citation-check/check-citations.ts";
import { findCitations } from "../src/operations/legal/citation-check/find-citations.ts";
import { LawRegister } from "../src/operations/legal/citation-check/law-register.ts";
import { PlainText } from "../src/operations/legal/citation-check/plain-text.ts";
import { citationsOf, isJudgedAs, opinionOf, readAsked } from "../test/asked-opinion.ts";
import { HeldArticles } from "../test/held-articles.ts";
import { judgePassages } from "../test/judged-passages.ts";
import { foldPacks, readPack } from "../test/law-packs.ts";
import { judgeRetold } from "../test/retold-articles.ts";
import { readOpinion, recordsOf } from "../test/written-opinion.ts";

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
  await judgeOpinions(new HeldArticles(articles), print, values.show);
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

/** Opinions that somebody wrote with errors: what is told of the errors, and of the right citations. */
async function judgeOpinions(held: HeldArticles, print: (line: string) => void, showsWrong: boolean) {
  const register = new LawRegister(held.names);
  const check = (text: string) => {
    const plain = new PlainText(text);
    const citations = findCitations(plain, register);
    return checkCitations({ plain, citations, register, held, date: "2026-11-26", now });
  };
  print("");
  print("| opinion | errors | told | right citations | accused |");
  print("| --- | --: | --: | --: | --: |");
  const put = (name: string, judged: readonly { words: string; isError: boolean; isTold: boolean }[]) => {
    const errors = judged.filter(({ isError }) => isError);
    const right = judged.filter(({ isError }) => !isError);
    const count = (list: typeof judged) => list.filter(({ isTold }) => isTold).length;
    print(`| ${name} | ${errors.length} | ${count(errors)} | ${right.length} | ${count(right)} |`);
    if (showsWrong)
      for (const { words, isError, isTold } of judged)
        if (isError !== isTold) print(`${isTold ? "accused" : "missed"}: ${words}`);
  };
  for (const name of ["one", "two", "three", "four", "five", "six"]) {
    const opinion = readOpinion(name, new URL("opinions/", import.meta.url));
    const judged = recordsOf(opinion, await check(opinion.text)).map(({ quote, is_error, records }) => ({
      words: quote,
      isError: is_error,
      isTold: records.some(({ problems }) => problems.length > 0),
    }));
    put(`written, ${name}`, judged);
  }
  for (const name of ["ninth", "tenth", "eleventh", "twelfth"]) {
    const asked = readAsked(new URL(`strangers/${name}-opinion.tsv`, import.meta.url));
    const judged = citationsOf(asked, await check(opinionOf(asked))).map(({ words, expected, own }) => {
      const isError = expected !== "right";
      return { words, isError, isTold: isError === isJudgedAs(expected, own) };
    });
    put(`sentences, ${name}`, judged);
  }
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
}
