import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** Where the system tells about its processors. */
export interface CoreSources {
  readonly platform: NodeJS.Platform;
  /** Linux: the folder of the devices. */
  readonly devices: string;
  /** macOS: the program that prints a value of the kernel. */
  readonly sysctl: string;
  /** The number of processors that this process may use. */
  readonly usable: number;
}

/**
 * Returns the number of cores that should compute one step together. Two threads on one core delay each other, and a
 * step is as slow as its slowest core: efficiency cores are left out where the system tells them apart (Apple, Intel),
 * as llama.cpp does. Returns the number of all processors if the system does not report its cores.
 */
export function computingCores({
  platform = process.platform,
  devices = "/sys/devices",
  sysctl = "/usr/sbin/sysctl",
  usable = availableParallelism(),
}: Partial<CoreSources> = {}): number {
  const cores = platform === "darwin" ? coresOfApple(sysctl) : coresOfLinux(devices);
  return Math.max(1, Math.min(cores || usable, usable));
}

/** 0 if nothing is told. */
function coresOfLinux(devices: string): number {
  const fast = processorList(textOf(`${devices}/cpu_core/cpus`));
  const cores = new Set<string>();
  try {
    for (const name of readdirSync(`${devices}/system/cpu`)) {
      const [, number] = /^cpu(\d+)$/.exec(name) ?? [];
      if (number === undefined || (fast !== null && !fast.has(Number(number)))) continue;
      const together = textOf(`${devices}/system/cpu/${name}/topology/core_cpus_list`);
      // A processor that is switched off tells nothing.
      if (together !== "") cores.add(together);
    }
  } catch {
    return 0;
  }
  return cores.size;
}

/** `perflevel0` are the performance cores of Apple's processors; Intel's in a Mac have only the second name. */
function coresOfApple(sysctl: string): number {
  for (const name of ["hw.perflevel0.physicalcpu", "hw.physicalcpu"]) {
    try {
      const text = execFileSync(sysctl, ["-n", name], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
        timeout: 2_000,
      });
      const cores = Number(text);
      if (Number.isSafeInteger(cores) && cores > 0) return cores;
    } catch {
      // A name that this kernel does not know.
    }
  }
  return 0;
}

/** The processors of a list such as `0-7,16`; null if there is none. */
function processorList(text: string): ReadonlySet<number> | null {
  const numbers = new Set<number>();
  for (const part of text.split(",")) {
    const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? [];
    if (first === undefined) continue;
    for (let number = Number(first); number <= Number(last); number++) numbers.add(number);
  }
  return numbers.size === 0 ? null : numbers;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}
