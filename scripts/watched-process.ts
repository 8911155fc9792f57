import { subscribe } from "node:diagnostics_channel";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { watchEventLoop } from "./event-loop-watch.ts";

// Preloaded by servers that tests start as processes (`--import`). What runs before the server listens delays nobody.
const folder = process.env["EVENT_LOOP_REPORTS"];
if (isMainThread && folder !== undefined) {
  let isWatched = false;
  subscribe("tracing:net.server.listen:asyncEnd", () => {
    if (!isWatched) watchEventLoop(join(folder, `${process.pid}.jsonl`));
    isWatched = true;
  });
}
