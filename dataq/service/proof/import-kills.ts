import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Dataset, listDatasets } from "../src/importer/datasets.ts";
import { PostingIndex } from "../src/search/postings/posting-index.ts";
import { environmentOf, makeDataFolder, openFolder, removeDataFolder } from "../test/data-folder.ts";

export const title = "Imports that are killed leave the data set of before or the new one";

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const operations = ["research_journal_search", "legal_laws"] as const;
const kills = 15;

/**
 * Imports and removals of journals and laws, each killed at another moment of its run. After each
 * kill the data set must be one of the two states, with sums that agree and one dictionary, and laws must follow their
 * packs after the next command.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const folder = await makeDataFolder("tables");
  const files = mkdtempSync(join(tmpdir(), "dataq-kills-"));
  try {
    let killed = 0;
    let finished = 0;
    for (const target of operations) {
      const wholeMs = await timed(() => command(folder, importOf(target, files, 0)));
      for (let turn = 1; turn <= kills; turn++) {
        const before = await stateOf(folder, target);
        const words =
          turn % 4 === 3
            ? ["datasets", "remove", "killed", "--operation", target]
            : importOf(target, files, turn);
        const wasKilled = await command(folder, words, (wholeMs * turn) / kills);
        if (wasKilled) killed++;
        else finished++;
        const after = await stateOf(folder, target);
        check(target, before, after, turn);
        await command(folder, importOf(target, files, turn + 1_000));
        const whole = await stateOf(folder, target);
        if (whole?.served !== sizeOf(turn + 1_000))
          throw new Error(`After turn ${turn}: ${JSON.stringify(whole)}`);
      }
    }
    print("| | |");
    print("|---|---:|");
    print(`| commands killed | ${killed} |`);
    print(`| commands that ended before their kill | ${finished} |`);
    print("| data sets found in a state between two | 0 |");
  } finally {
    await removeDataFolder(folder);
    rmSync(files, { recursive: true, force: true });
  }
}

function sizeOf(turn: number): number {
  return 1_500 + (turn % 7);
}

function importOf(target: string, files: string, turn: number): string[] {
  const row = (n: number) =>
    target === "legal_laws"
      ? { category: "经济法", title: `测试${n}法`, version_date: "2020-01-01", text: `第一条 文本${turn}。` }
      : { title: `期刊${n} ${turn}`, issn: `${String(n).padStart(4, "0")}-0000` };
  const path = join(files, `killed-${turn}.jsonl`);
  writeFileSync(path, Array.from({ length: sizeOf(turn) }, (_, n) => JSON.stringify(row(n))).join("\n"));
  return ["import", target, path, "--dataset", "killed"];
}

function check(target: string, before: Dataset | undefined, after: Dataset | undefined, turn: number): void {
  const isOld =
    after?.changedAt.getTime() === before?.changedAt.getTime() && after?.served === before?.served;
  const isNew = after?.served === sizeOf(turn) || (turn % 4 === 3 && after?.state === "removed");
  if (!isOld && !isNew) throw new Error(`${target}, turn ${turn}: ${JSON.stringify({ before, after })}`);
  if (after?.state === "serving" && after.records !== after.served + after.duplicates)
    throw new Error(`${target}, turn ${turn}: the sums do not agree: ${JSON.stringify(after)}`);
}

async function stateOf(folder: string, target: string): Promise<Dataset | undefined> {
  const database = await openFolder(folder);
  try {
    const all = await listDatasets(database, new PostingIndex(database));
    return all.find((set) => set.target === target && set.name === "killed");
  } finally {
    await database.close();
  }
}

/** Whether it was killed. A command that fails is an error. */
function command(folder: string, words: readonly string[], killAfterMs?: number): Promise<boolean> {
  const child = spawn(process.execPath, ["--conditions=source", main, ...words], {
    env: environmentOf(folder),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  return new Promise((resolve, reject) => {
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      if (signal === "SIGKILL") resolve(true);
      else if (code === 0) resolve(false);
      else reject(new Error(`${words.join(" ")} ended with ${code}: ${said}`));
    });
  });
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}
