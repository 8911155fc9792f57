import { workerData } from "node:worker_threads";
import { exchange } from "../exchange.ts";
import type { Job, WorkerData } from "./channel.ts";

/**
 * The second thread of the synchronous client: it sends requests while the caller's thread sleeps. A flag says that
 * the answer is in the port and wakes the caller.
 */
const { port, flag } = workerData as WorkerData;

port.on("message", async ({ request, limits }: Job) => {
  const outcome = await exchange(fetch, request, limits);
  // Some errors cannot be cloned, so their message and code are sent separately.
  port.postMessage(outcome.kind === "failed" ? { ...outcome, error: undefined } : outcome);
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
});
