import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/**
 * Runs test files with all cases (see test-size.ts) and prints a line for each. Throws if a test fails. Vitest writes its
 * report to `folder`.
 */
export function runFullSize(files: readonly string[], print: (line: string) => void, folder: string): void {
  const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
  const report = join(folder, "report.json");
  rmSync(report, { force: true });
  spawnSync(
    process.execPath,
    [vitest, "run", "--maxWorkers=1", "--reporter=json", `--outputFile=${report}`, ...files],
    { cwd: root, stdio: "ignore", env: { ...process.env, TEST_SIZE: "full" } },
  );
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
  if (testResults.length !== files.length)
    throw new Error(`Of ${files.length} files ${testResults.length} ran.`);
  print("| file | tests | passed | skipped | seconds |");
  print("|---|---:|---:|---:|---:|");
  const failures: string[] = [];
  for (const { name, startTime, endTime, message, assertionResults: tests } of testResults) {
    const count = (status: string) => tests.filter((one) => one.status === status).length;
    const seconds = ((endTime - startTime) / 1000).toFixed(0);
    print(
      `| ${relative(root, name)} | ${tests.length} | ${count("passed")} | ${count("skipped")} | ${seconds} |`,
    );
    if (message !== "") failures.push(message);
    for (const { status, fullName, failureMessages } of tests)
      if (status === "failed") failures.push(`${fullName}: ${failureMessages.join("\n")}`);
  }
  if (failures.length > 0) throw new Error(failures.join("\n"));
}
