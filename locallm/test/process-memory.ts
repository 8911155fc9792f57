import { readFileSync } from "node:fs";

/** Memory that a process holds now, in MiB. Linux only; fails where the process has ended. */
export function residentMib(pid: number): number {
  const mib = residentMibIfAlive(pid);
  if (mib === undefined) throw new Error(`process ${pid} tells no memory`);
  return mib;
}

/** Undefined where the process has ended, or the system does not tell. */
export function residentMibIfAlive(pid: number): number | undefined {
  const [, kib] = /VmRSS:\s+(\d+) kB/.exec(statusOf(pid)) ?? [];
  return kib === undefined ? undefined : Number(kib) / 1024;
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}
