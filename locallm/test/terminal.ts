import { execFileSync, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { compileCache } from "../../testing/compile-cache.ts";
import { until } from "./server-process.ts";

/** Whether this machine can create pseudo-terminals with util-linux's `script`. */
export const hasTerminal = (() => {
  try {
    execFileSync("script", ["--version"], { stdio: "ignore" });
    return process.platform === "linux";
  } catch {
    return false;
  }
})();

/** A program on a terminal of 80 columns. */
export interface Terminal {
  /** The output since the last `type`. */
  shown(): string;
  /** Types keys and waits for the answer. */
  keys(text: string, answer: RegExp): Promise<void>;
  /** Types a line and waits for the answer and a new prompt. */
  type(line: string, answer: RegExp): Promise<void>;
  readonly exited: Promise<number | null>;
}

export function terminal(
  args: readonly string[],
  env: Record<string, string>,
  main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url)),
): Terminal {
  const quoted = [process.execPath, "-C", "source", main, ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qec", `stty cols 80 rows 24; exec ${quoted}`, "/dev/null"], {
    env: {
      ...process.env,
      TERM: "xterm",
      NODE_COMPILE_CACHE: compileCache,
      ...env,
    },
  });
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const keys = async (text: string, answer: RegExp) => {
    shown = "";
    child.stdin.write(text);
    await until(`an answer to ${JSON.stringify(text)} like ${answer}, in ${JSON.stringify(shown)}`, () =>
      answer.test(shown),
    );
  };
  return {
    shown: () => shown,
    keys,
    type: (line, answer) => keys(`${line}\r`, new RegExp(`${answer.source}[\\s\\S]*>>> `, answer.flags)),
    exited,
  };
}
