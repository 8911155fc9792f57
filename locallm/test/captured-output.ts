import { Console } from "node:console";
import { Readable, Writable } from "node:stream";
import { besideServer } from "../../testing/event-loop-watch.ts";

/** What a command printed, and its exit code. */
interface Printed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Commands run one at a time, because they share this process's environment and output. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command line in this process, with an environment, output and input of its own. A process of its own takes
 * longer to start than most commands run. Use one where the process matters: signals, terminals, `serve`, children
 * that inherit the output.
 */
export function captureOutput(
  environment: Readonly<Record<string, string>>,
  run: () => Promise<void>,
  input = "",
): Promise<Printed> {
  const printed = last.then(() => capture(environment, run, input));
  last = printed.catch(() => {});
  return printed;
}

async function capture(
  environment: Readonly<Record<string, string>>,
  run: () => Promise<void>,
  input: string,
): Promise<Printed> {
  const out = new Sink();
  const err = new Sink();
  const before = { env: process.env, console: globalThis.console, exit: process.exit };
  const restore = [
    replace(process.stdout, "write", out.write.bind(out)),
    replace(process.stderr, "write", err.write.bind(err)),
    replace(process, "stdin", Readable.from([input])),
  ];
  process.env = { ...environment };
  process.exit = (code) => {
    throw new Ended(Number(code ?? process.exitCode ?? 0));
  };
  globalThis.console = new Console(out, err);
  process.exitCode = undefined;
  try {
    await besideServer(run);
    return { code: Number(process.exitCode ?? 0), out: out.text, err: err.text };
  } catch (error) {
    if (error instanceof Ended) return { code: error.code, out: out.text, err: err.text };
    throw error;
  } finally {
    process.exitCode = undefined;
    for (const undo of restore) undo();
    process.env = before.env;
    process.exit = before.exit;
    globalThis.console = before.console;
  }
}

class Ended extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`the command ended with ${code}`);
    this.code = code;
  }
}

class Sink extends Writable {
  text = "";
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** Replaces a property until the returned function is called. */
function replace(owner: object, name: string, value: unknown): () => void {
  const own = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { value, configurable: true, writable: true });
  return () => {
    if (own) Object.defineProperty(owner, name, own);
    else Reflect.deleteProperty(owner, name);
  };
}
