import { subscribe } from "node:diagnostics_channel";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { watchEventLoop } from "./event-loop-watch.ts";
import {
  holdings,
  leftOpen,
  leftOpenSuffix,
  openDescriptors,
  overBudget,
  overBudgetSuffix,
} from "./process-holdings.ts";

// Preloaded by servers that tests start as processes (`--import`). What runs before the server listens delays nobody.
const folder = process.env["EVENT_LOOP_REPORTS"];
function report(suffix: string, faults: readonly string[]): void {
  // The file of the test may have ended before its server.
  if (faults.length > 0 && existsSync(folder!))
    writeFileSync(join(folder!, `${process.pid}${suffix}`), faults.join("; "));
}

if (isMainThread && folder !== undefined) {
  const inherited = openDescriptors() ?? [];
  let isWatched = false;
  subscribe("tracing:net.server.listen:asyncEnd", () => {
    if (isWatched) return;
    isWatched = true;
    watchEventLoop(join(folder, `${process.pid}.jsonl`));
    const before = holdings();
    process.on("exit", (code) => {
      report(overBudgetSuffix, overBudget(before, holdings()));
      // One that fails, or that is told twice to stop, does not close.
      if (code === 0) report(leftOpenSuffix, leftOpen(before, inherited));
    });
  });
}
