import { type ChildProcess, fork, type Serializable } from "node:child_process";
import { fileURLToPath } from "node:url";
import { runnerEnvironment } from "./start.ts";

/** A process that answers questions about the engine and ends. */
export type ShortChild =
  | "bench-child"
  | "devices-child"
  | "measure-child"
  | "quantize-child"
  | "picture-decode-child"
  | "picture-encode-child";

/** How the child ended instead of answering, as a part of a sentence: `SIGSEGV`, `exit code 1`. */
export class NoAnswer extends Error {}

/** Starts the child, sends it the question and ends it. Rejects with `NoAnswer` if it ends or takes too long. */
export async function askChild<Answer>(
  name: ShortChild,
  question: Serializable,
  { env = {}, patienceMs }: { env?: Readonly<Record<string, string>>; patienceMs: number },
): Promise<Answer> {
  const child = forkShort(name, env);
  const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  try {
    return await new Promise((resolve, reject) => {
      child.once("message", (answer) => resolve(answer as Answer));
      child.once("error", (error) => reject(new NoAnswer(error.message, { cause: error })));
      child.once("exit", (code, signal) => reject(new NoAnswer(signal ?? `exit code ${code}`)));
      child.send(question, () => {});
    });
  } finally {
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
