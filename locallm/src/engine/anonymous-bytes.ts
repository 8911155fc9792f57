import { readFileSync } from "node:fs";

/** The memory of a process that belongs to no file and that the system has provided. Null if it is not known. */
export function anonymousBytes(pid: number | "self"): number | null {
  try {
    const kib = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
    return kib === undefined ? null : Number(kib) * 1024;
  } catch {
    return null;
  }
}
