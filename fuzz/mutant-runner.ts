import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { createVitest, type TestCase, type TestSpecification } from "vitest/node";

/** The file that the parent has changed or put back since the last run. Null asks for the tests as they are. */
export type Asked = { readonly changed: string } | null;
interface Question {
  readonly asked: Asked;
}
/** The first test file that failed, with its failed tests, or null. */
export type Answered = { readonly failed: string | null };

/**
 * Runs the tests that are named in the arguments once for each message of the parent, in one process: a start of Vitest
 * takes longer than most tests. First is the file that has the name of the changed file, then those that notice much in
 * little time.
 */
const root = fileURLToPath(new URL("../", import.meta.url));
const vitest = await createVitest("test", {
  root,
  watch: false,
  maxWorkers: 1,
  bail: 1,
  reporters: [{}],
  silent: true,
});
const specifications = await vitest.globTestSpecifications(process.argv.slice(2));
const took = new Map<TestSpecification, number>();
/** How many mutants each file noticed. */
const noticed = new Map<TestSpecification, number>();

process.on("message", ({ asked }: Question) => {
  void answer(asked).then((answered) => process.send?.(answered));
});
process.on("disconnect", () => {
  void vitest.close().finally(() => process.exit());
});
process.send?.({ failed: null } satisfies Answered);

async function answer(asked: Asked): Promise<Answered> {
  if (asked === null) return { failed: await firstToFail(specifications) };
  vitest.invalidateFile(asked.changed);
  const name = `${basename(asked.changed, ".ts")}.test.ts`;
  const rank = (one: TestSpecification) =>
    basename(one.moduleId) === name ? -1 : (took.get(one) ?? 0) / (1 + (noticed.get(one) ?? 0));
  const failed = await firstToFail(specifications.toSorted((one, other) => rank(one) - rank(other)));
  // The parent puts it back before it asks again.
  vitest.invalidateFile(asked.changed);
  return { failed };
}

async function firstToFail(inOrder: readonly TestSpecification[]): Promise<string | null> {
  for (const one of inOrder) {
    const began = performance.now();
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications([one]);
    took.set(one, performance.now() - began);
    // It also has the modules of earlier runs.
    const failed = testModules.filter(({ moduleId }) => moduleId === one.moduleId).filter((one) => !one.ok());
    const reasons = [...unhandledErrors, ...failed.flatMap((module) => module.errors())];
    const cases = failed.flatMap((module) => [...module.children.allTests("failed")]);
    if (failed.length > 0 || reasons.length > 0) {
      noticed.set(one, 1 + (noticed.get(one) ?? 0));
      return [one.moduleId, ...cases.map(told), ...reasons.map((error) => (error as Error).message)].join(
        ": ",
      );
    }
  }
  return null;
}

function told(test: TestCase): string {
  const { errors = [] } = test.result();
  return `${test.fullName} (${errors[0]?.message.split("\n")[0]})`;
}
