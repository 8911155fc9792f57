import { getHeapStatistics } from "node:v8";
import { type Bounds, type Target, usualBounds } from "./target.ts";

/** What is wrong with how a target read an input. */
export interface Fault {
  /** Two faults with the same key are one. */
  readonly key: string;
  readonly text: string;
}

/** Reads one input and judges it: what it threw, its processor time, its memory. */
export async function trial(target: Target, input: Buffer): Promise<Fault | undefined> {
  const bounds = { ...usualBounds, ...target.bounds };
  const first = await measure(target, input);
  if (first.fault !== undefined) return first.fault;
  if (isWithin(first, input, bounds)) return undefined;
  // Other work of the machine, a compilation or a collection of garbage may have cost this. What the input itself costs
  // is the least of several readings.
  const again = [first];
  for (let count = 0; count < 4; count += 1) {
    globalThis.gc?.();
    again.push(await measure(target, input));
  }
  const ms = Math.min(...again.map((each) => each.ms));
  const mib = Math.min(...again.map((each) => each.mib));
  if (isWithin({ ms, mib }, input, bounds)) return undefined;
  const isSlow = ms > mostOf(input, bounds.ms, bounds.msPerKib);
  return {
    key: isSlow ? "time" : "memory",
    text: `${input.length} bytes took ${ms.toFixed(0)} ms of processor time and ${mib.toFixed(0)} MiB`,
  };
}

interface Measured {
  readonly ms: number;
  readonly mib: number;
}

async function measure(target: Target, input: Buffer): Promise<Measured & { fault?: Fault }> {
  // A target may write into its input, or keep it.
  const copy = Buffer.from(input);
  const memory = usedBytes();
  const before = process.threadCpuUsage();
  let fault: Fault | undefined;
  try {
    const reading = target.read(copy);
    if (reading instanceof Promise) await reading;
  } catch (error) {
    if (target.refuses?.(error) !== true) fault = faultOf(error);
  }
  const { user, system } = process.threadCpuUsage(before);
  const measured = { ms: (user + system) / 1_000, mib: Math.max(0, usedBytes() - memory) / 2 ** 20 };
  return fault === undefined ? measured : { ...measured, fault };
}

function isWithin({ ms, mib }: Measured, input: Buffer, bounds: Bounds): boolean {
  return (
    ms <= mostOf(input, bounds.ms, bounds.msPerKib) && mib <= mostOf(input, bounds.mib, bounds.mibPerKib)
  );
}

function mostOf(input: Buffer, fixed: number, perKib: number): number {
  return fixed + (input.length / 1024) * perKib;
}

function usedBytes(): number {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
}

function faultOf(error: unknown): Fault {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const frames = (stack ?? "").split("\n").filter((line) => /^\s+at /.test(line) && !line.includes("node:"));
  // Vitest adds a query to the name of a test file.
  const [, file = "", line = ""] = /([\w.-]+\.[mc]?[jt]s)(?:\?[^:]*)?(:\d+)/.exec(frames[0] ?? "") ?? [];
  const place = file + line;
  const code = (error as { code?: unknown }).code;
  return {
    key: `${name} ${String(code ?? "")} ${place}`,
    text: `${name}: ${message.slice(0, 300)} (${place})`,
  };
}
