import { readFileSync } from "node:fs";

/** Memory that a process holds now, in MiB. Linux only; fails where the process has ended. */
export function residentMib(pid: number): number {
  const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  if (kib === undefined) throw new Error(`process ${pid} tells no memory`);
  return Number(kib) / 1024;
}
