import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { programsOf } from "../../client/test/packed-project.ts";
import { folder, missingModules, run } from "./python.ts";

const missing = missingModules("mypy", "pyright", "httpx", "pandas");

const guides = ["docs/dataq/client-python.md", "docs/dataq/client-python.zh.md"];
const programs = mkdtempSync(join(tmpdir(), "dataq-client-guide-"));
for (const [index, program] of guides.flatMap((page) => programsOf(page, "python")).entries()) {
  writeFileSync(join(programs, `program_${index}.py`), program);
}
afterAll(() => rmSync(programs, { recursive: true, force: true }));

/**
 * Each line of typed_program.py that must not type-check has a `type: ignore`, and the checkers report unused
 * ones.
 */
describe.skipIf(missing.length > 0)("types (needs mypy, pyright, httpx and pandas from pip)", () => {
  test.concurrent("mypy --strict accepts the package and a program, and rejects what is wrong", async () => {
    const env = { ...process.env, MYPYPATH: "src" };
    const cache = join(tmpdir(), "dataq-client-mypy");
    const checked = await report("mypy", ["--strict", "--cache-dir", cache, "src", "test", programs], env);
    expect(checked).toMatch(/^Success: no issues found in \d+ source files$/);
  });

  test.concurrent("pyright accepts the package and a program, and rejects what is wrong", async () => {
    expect(await report("pyright", [], process.env)).toMatch(/^0 errors, 0 warnings/m);
  });
});

async function report(module: string, words: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const call = run("python3", ["-m", module, ...words], { cwd: folder, env });
  return (await call.catch((error: { stdout: string }) => error)).stdout.trim();
}
