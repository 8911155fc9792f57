import { execFileSync, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "./server-process.ts";

/** Whether pseudo-terminals can be had here, by util-linux's script. */
export const hasTerminal = (() => {
  try {
    execFileSync("script", ["--version"], { stdio: "ignore" });
    return process.platform === "linux";
  } catch {
    return false;
  }
})();

/** A command line on a terminal of 80 columns, to type into. */
export interface Terminal {
  /** What has been shown since the last `type`. */
  shown(): string;
  /** Keys as they are, then waits until the answer is there. */
  keys(text: string, answer: RegExp): Promise<void>;
  /** A line, then waits until the answer and a new prompt are there. */
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
      NODE_COMPILE_CACHE: join(tmpdir(), "locallm-compile-cache"),
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
