import { workerData } from "node:worker_threads";
import { exchange, type HttpRequest, type Limits } from "../exchange.ts";

/**
 * The synchronous client's other thread: it fetches while the caller's thread sleeps. A flag says that the
 * answer lies in the port, and wakes the caller.
 */
const { port, flag } = workerData as WorkerData;

port.on("message", async ({ request, limits }: Job) => {
  const { error: _error, ...outcome } = { error: undefined, ...(await exchange(fetch, request, limits)) };
  port.postMessage(outcome);
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
});

export interface WorkerData {
  readonly port: import("node:worker_threads").MessagePort;
  readonly flag: Int32Array<SharedArrayBuffer>;
}

export interface Job {
  readonly request: HttpRequest;
  readonly limits: Limits;
}
