import { type ChildProcess, fork, type Serializable } from "node:child_process";
import { fileURLToPath } from "node:url";
import { runnerEnvironment } from "./start.ts";

/** A process that answers questions about the engine and ends. */
export type ShortChild =
  | "bench-child"
  | "devices-child"
  | "measure-child"
  | "quantize-child"
  | "decode-child"
  | "encode-child";

/** How the child ended instead of answering, as a part of a sentence: `SIGSEGV`, `exit code 1`. */
export class NoAnswer extends Error {}

/** What a child sends before its answer, such as how far it is. */
export interface ChildReport<Report> {
  readonly report: Report;
}

interface Asking<Report> {
  readonly env?: Readonly<Record<string, string>>;
  /** Missing means no limit. */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
  readonly onReport?: (report: Report) => void;
}

/**
 * Starts the child, sends it the question and ends it. Rejects with `NoAnswer` if it ends or takes too long, and with the
 * signal's reason.
 */
export async function askChild<Answer extends object, Report = never>(
  name: ShortChild,
  question: Serializable,
  { env, patienceMs, signal, onReport }: Asking<Report>,
): Promise<Answer> {
  signal?.throwIfAborted();
  const child = forkShort(name, env);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const leave = () => reject(signal?.reason);
  signal?.addEventListener("abort", leave, { once: true });
  const timer = patienceMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), patienceMs);
  child.on("message", (message: Answer | ChildReport<Report>) => {
    if ("report" in message) onReport?.(message.report);
    else resolve(message);
  });
  child.once("error", (error) => reject(new NoAnswer(error.message, { cause: error })));
  child.once("exit", (code, ended) => reject(new NoAnswer(ended ?? `exit code ${code}`)));
  child.send(question, () => {});
  try {
    return await promise;
  } finally {
    signal?.removeEventListener("abort", leave);
    clearTimeout(timer);
    child.kill("SIGKILL");
  }
}

/** Starts the child. It waits for its question. */
export function forkShort(name: ShortChild, env: Readonly<Record<string, string>> = {}): ChildProcess {
  const isSource = import.meta.url.endsWith(".ts");
  const file = `./${name}${isSource ? ".ts" : ".js"}`;
  return fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: runnerEnvironment(env),
    execArgv: isSource ? process.execArgv : [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
}
