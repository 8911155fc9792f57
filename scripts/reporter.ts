import type { Reporter, TestModule } from "vitest/node";

/** Prints the plain closing line that CI reads: `N passed, N failed`, with `N skipped` where any were. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state]++;
      // A file that cannot be read, or a hook that fails, has no failed test of its own.
      count.failed += module.errors().length;
      for (const suite of module.children.allSuites()) count.failed += suite.errors().length;
    }
    const skipped = count.skipped + count.pending;
    // After every other reporter, so that it is the last line.
    process.on("exit", () => {
      const tail = skipped > 0 ? `, ${skipped} skipped` : "";
      process.stdout.write(`${count.passed} passed, ${count.failed} failed${tail}\n`);
    });
  }
}
