import { spawnSync } from "node:child_process";
import { relative } from "node:path";
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

/** Runs test files with all cases (see test-size.ts) and prints a line for each. Throws if a test fails. */
export function runFullSize(files: readonly string[], print: (line: string) => void): void {
  const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [vitest, "run", "--maxWorkers=1", "--reporter=json", "--testTimeout=1200000", ...files],
    { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28, env: { ...process.env, TEST_SIZE: "full" } },
  );
  const line = stdout.split("\n").find((one) => one.startsWith('{"numTotalTestSuites"'));
  if (line === undefined) throw new Error(`Vitest printed no report:\n${stdout}\n${stderr}`);
  const { testResults } = JSON.parse(line) as Report;
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
