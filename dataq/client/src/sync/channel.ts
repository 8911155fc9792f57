import { ConfigurationError } from "../errors.ts";
import type { HttpRequest, Limits, Outcome } from "../exchange.ts";
import { workerSource } from "./worker-source.ts";

/**
 * Sends requests in a second thread while the caller sleeps until the answer has arrived. The thread starts
 * with the first request and never keeps the process alive.
 */
export class Channel {
  #open: Open | undefined;
  #closed = false;

  exchange(request: HttpRequest, limits: Limits): Outcome {
    if (this.#closed) throw new ConfigurationError("The client is closed.", { code: "client_closed" });
    this.#open ??= open();
    const { port, flag, receive } = this.#open;
    Atomics.store(flag, 0, 0);
    port.postMessage({ request, limits } satisfies Job);
    // The thread enforces the timeout. The extra time covers its start and a crash.
    Atomics.wait(flag, 0, 0, limits.timeoutMs + reserveMs);
    const received = receive(port);
    if (received !== undefined) return received.message as Outcome;
    this.#stop();
    return {
      kind: "failed",
      reason: "timeout",
      message: "The client's thread did not answer",
      code: undefined,
    };
  }

  close(): void {
    this.#closed = true;
    this.#stop();
  }

  #stop(): void {
    this.#open?.stop();
    this.#open = undefined;
  }
}

const reserveMs = 10_000;

/** The data that the thread starts with. */
export interface WorkerData {
  readonly port: import("node:worker_threads").MessagePort;
  readonly flag: Int32Array<SharedArrayBuffer>;
}

export interface Job {
  readonly request: HttpRequest;
  readonly limits: Limits;
}

interface Open {
  readonly port: import("node:worker_threads").MessagePort;
  readonly flag: Int32Array<SharedArrayBuffer>;
  readonly receive: typeof import("node:worker_threads").receiveMessageOnPort;
  stop(): void;
}

function open(): Open {
  const { Worker, MessageChannel, receiveMessageOnPort } = threads();
  const { port1: port, port2 } = new MessageChannel();
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(workerSource)}`), {
    workerData: { port: port2, flag } satisfies WorkerData,
    transferList: [port2],
    // Without this, the process's loaders would also run in the thread, and some of them need the sleeping
    // main thread.
    execArgv: [],
    name: "dataq-client",
  });
  worker.unref();
  port.unref();
  const stop = (): void => {
    port.close();
    void worker.terminate();
  };
  return { port, flag, receive: receiveMessageOnPort, stop };
}

/** Loaded at run time, because a browser bundle must not import Node modules. */
export function threads(): typeof import("node:worker_threads") {
  const found = globalThis.process?.getBuiltinModule?.("node:worker_threads");
  if (found !== undefined) return found;
  throw new ConfigurationError(
    "DataQuerySync needs threads that may sleep, which only Node, Deno and Bun have; use DataQuery here.",
    { code: "sync_unsupported" },
  );
}

/** Blocks this thread. */
export function sleep(delayMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, delayMs);
}
