import { readFile } from "node:fs/promises";
import { hostname } from "node:os";

/**
 * Names a process as the owner of a folder in `partial/`: `host.pid.start`. The start tells it from a later process with
 * the same number.
 */
export async function ownerName(): Promise<string> {
  return `${hostKey()}.${process.pid}.${await startTime(process.pid)}`;
}

/** Whether the owner's process runs. Null if it is on another machine that shares the folder. */
export async function isOwnerAlive(owner: string): Promise<boolean | null> {
  const [host, pid, started] = owner.split(".");
  if (host !== hostKey()) return null;
  const id = Number(pid);
  if (!Number.isSafeInteger(id) || id < 1) return false;
  try {
    process.kill(id, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  // The process ID may have been reused.
  return (await startTime(id)) === started;
}

async function startTime(pid: number): Promise<string> {
  if (process.platform !== "linux") return "0";
  try {
    const line = await readFile(`/proc/${pid}/stat`, "latin1");
    return line.slice(line.lastIndexOf(")") + 2).split(" ")[19] ?? "0";
  } catch {
    return "0";
  }
}

export function hostKey(): string {
  return hostname().replace(/[^A-Za-z0-9-]/g, "-");
}
