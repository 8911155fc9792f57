import type { Reporter, TestModule } from "vitest/node";

/**
 * Prints the last line that CI parses: `N passed, N failed`, and `N skipped` if tests were skipped. Before it, the
 * tasks that kept an event loop busy for long (watched-test.ts).
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state]++;
      // An unreadable file or a failed hook has no failed test, so it is counted here.
      count.failed += module.errors().length;
      for (const suite of module.children.allSuites()) count.failed += suite.errors().length;
    }
    for (const module of modules) {
      const { longTasks = [], overBudget = [] } = module.meta();
      for (const task of longTasks)
        console.warn(`Warning: a long task of an event loop in ${module.relativeModuleId}:\n${task}`);
      for (const what of overBudget)
        console.warn(`Warning: at its end a server of ${module.relativeModuleId} held ${what}`);
    }
    const skipped = count.skipped + count.pending;
    // Runs after all other reporters, so that this line is the last one.
    process.on("exit", () => {
      const tail = skipped > 0 ? `, ${skipped} skipped` : "";
      process.stdout.write(`${count.passed} passed, ${count.failed} failed${tail}\n`);
    });
  }
}
