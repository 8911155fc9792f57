import { readFileSync } from "node:fs";

/** The resident memory of a process, in MiB. Linux only. Throws if the process has ended. */
export function residentMib(pid: number): number {
  const mib = residentMibIfAlive(pid);
  if (mib === undefined) throw new Error(`process ${pid} reports no memory`);
  return mib;
}

/** Undefined if the process has ended or the system does not report its memory. */
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
