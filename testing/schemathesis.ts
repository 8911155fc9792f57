import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Whether python3 can import schemathesis. CI installs it from .ci/pip.txt. */
export function hasSchemathesis(): Promise<boolean> {
  return run("python3", [
    "-c",
    "import importlib.util, sys; sys.exit(importlib.util.find_spec('schemathesis') is None)",
  ]).then(
    () => true,
    () => false,
  );
}

export interface Effort {
  /** Whether every edge of every schema is tried, which takes most of the time. */
  readonly coversEdges: boolean;
  /** Random requests for each operation of the document. */
  readonly examples: number;
}

interface Asked extends Effort {
  readonly document: object;
  readonly url: string;
  /** Has `schemathesis.toml` and `openapi-hooks.py`: what no schema can say, and the statuses that answer a valid request. */
  readonly folder: URL;
  /** Further words of its command line. */
  readonly words?: readonly string[];
}

/**
 * Sends every example, random requests for each operation, and perhaps every edge of a schema. The report is
 * "<count> generated" if every answer is as the document says, and otherwise the end of what schemathesis printed.
 */
export async function schemathesis({
  document,
  url,
  folder,
  coversEdges,
  examples,
  words = [],
}: Asked): Promise<string> {
  const work = mkdtempSync(join(tmpdir(), "openapi-"));
  const file = join(work, "openapi.json");
  writeFileSync(file, JSON.stringify(document));
  for (const name of ["schemathesis.toml", "openapi-hooks.py"])
    copyFileSync(new URL(name, folder), join(work, name));
  const kinds = coversEdges ? "examples,coverage,fuzzing" : "examples,fuzzing";
  const phases = ["--phases", kinds, "--max-examples", String(examples)];
  const report = await run(
    "python3",
    [
      ...["-m", "schemathesis.cli", "run", file, "--url", url, ...phases],
      ...["--seed", "1", "--no-shrink", ...words],
    ],
    { cwd: work, maxBuffer: 64 << 20 },
  ).then(
    ({ stdout }) => /[1-9]\d* generated/.exec(stdout)?.[0] ?? stdout,
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );
  rmSync(work, { recursive: true, force: true });
  return report;
}
