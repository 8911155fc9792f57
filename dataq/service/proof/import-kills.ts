import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { environmentOf, makeDataFolder, openFolder, removeDataFolder } from "../test/data-folder.ts";
import { DatasetKills, killActions, killTargets, type RunCommand } from "../test/dataset-kills.ts";
import { commandsOn } from "../test/mortal-database.ts";

export const title = "Changes of data sets that are killed at every step leave the old state or the new one";

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const preload = new URL("../test/kill-before.ts", import.meta.url).href;
/** Number of killed processes for each change. A process takes seconds to start. */
const processKills = 12;

/**
 * Imports, updates, removals, restores and refreshes of journals and laws: first with the connections broken before
 * every single statement, then as processes of the command line that are killed with SIGKILL.
 */
export async function run(print: (line: string) => void): Promise<void> {
  print("| data set | change | how | statements | kills | old state | new state | other |");
  print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |");
  for (const how of ["broken connections", "SIGKILL"] as const) {
    const folder = await makeDataFolder("tables");
    const database = await openFolder(folder);
    const run = how === "SIGKILL" ? processesIn(folder) : commandsOn(database, folder);
    const kills = new DatasetKills({ database, folder, run, size: how === "SIGKILL" ? 1_000 : 10 });
    // A command that removes the remains of a killed one sends a few more statements.
    const choose = (statements: number) =>
      how === "SIGKILL" ? spread(statements, processKills) : all(statements + 8);
    try {
      await kills.start();
      for (const target of killTargets)
        for (const action of killActions) {
          const report = await kills.killAt(target, action, choose);
          const { statements, kills: count, keptOld } = report;
          print(
            `| ${target} | ${action} | ${how} | ${statements} | ${count} | ${keptOld} | ${count - keptOld} | 0 |`,
          );
        }
    } finally {
      kills.close();
      await database.close();
      await removeDataFolder(folder);
    }
  }
}

function all(statements: number): number[] {
  return Array.from({ length: statements }, (_, n) => n + 1);
}

function spread(statements: number, count: number): number[] {
  return all(Math.min(count, statements)).map((n) =>
    Math.ceil((n * statements) / Math.min(count, statements)),
  );
}

/** Runs the command line in its own processes. */
function processesIn(folder: string): RunCommand {
  const file = join(folder, "statements");
  return async (words, killAt) => {
    const child = spawn(process.execPath, ["--conditions=source", "--import", preload, main, ...words], {
      env: {
        ...environmentOf(folder),
        STATEMENTS_FILE: file,
        ...(killAt !== undefined && { KILL_BEFORE: String(killAt) }),
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
      child.once("close", (...end) => resolve(end)),
    );
    if (signal === "SIGKILL") return { killed: true, statements: killAt as number };
    if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${said}`);
    return { killed: false, statements: Number(readFileSync(file, "utf8")) };
  };
}
