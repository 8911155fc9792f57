import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { compileCache } from "./compile-cache.ts";

/** What a server process holds. Null where the system does not tell. */
export interface Holdings {
  /** Open files, sockets and pipes. */
  readonly descriptors: readonly string[] | null;
  readonly heapMib: number;
}

/**
 * What a server may hold at its end more than when it began to listen. It is far above what any server of the tests
 * needs, and far below what one has that loses a descriptor or keeps an object for each request of a test.
 */
export const holdingsBudget = { descriptors: 64, heapMib: 256 };

/** The end of the name of a report of a process that is over its budget. */
export const overBudgetSuffix = ".holds";

/** The end of the name of a report of a server that closed, and left something open. */
export const leftOpenSuffix = ".left";

/** Garbage is collected only if the heap is over its budget, because that takes longer than the end of most servers. */
export function holdings(): Holdings {
  if (heapMib() > holdingsBudget.heapMib) {
    setFlagsFromString("--expose-gc");
    (runInNewContext("gc") as () => void)();
  }
  return { descriptors: openDescriptors(), heapMib: heapMib() };
}

/** What is over the budget, in words. */
export function overBudget(before: Holdings, after: Holdings): string[] {
  const faults: string[] = [];
  if (before.descriptors !== null && after.descriptors !== null) {
    const more = after.descriptors.length - before.descriptors.length;
    const newest = after.descriptors.slice(-5).join(", ");
    if (more > holdingsBudget.descriptors)
      faults.push(`${more} descriptors more than when it began to listen, the last ones ${newest}`);
  }
  if (after.heapMib - before.heapMib > holdingsBudget.heapMib)
    faults.push(
      `a heap of ${Math.round(after.heapMib)} MiB; ${Math.round(before.heapMib)} MiB when it began to listen`,
    );
  return faults;
}

function heapMib(): number {
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** In the order in which they have numbers. */
export function openDescriptors(): string[] | null {
  if (!existsSync("/proc/self/fd")) return null;
  return readdirSync("/proc/self/fd")
    .sort((a, b) => Number(a) - Number(b))
    .flatMap((descriptor) => {
      try {
        return [readlinkSync(`/proc/self/fd/${descriptor}`)];
      } catch {
        // The one that listed them.
        return [];
      }
    });
}

/**
 * What a server that has closed must not have any more, in words: files that it opened, sockets that listen, and
 * processes that it started. `before` is what was open when it began to listen, `inherited` what its parent left it.
 */
export function leftOpen(before: Holdings, inherited: readonly string[]): string[] {
  const now = openDescriptors();
  if (now === null || before.descriptors === null) return [];
  const listening = listeningSockets();
  const files = more(now.filter(isFile), before.descriptors).map((path) => `the file ${path}`);
  const sockets = more(now, inherited)
    .filter((socket) => listening.has(socket))
    .map((socket) => `${socket}, which listens`);
  return [...files, ...sockets, ...runningChildren().map((words) => `the process ${words}`)];
}

/** Those of `now` that `earlier` does not have as often. */
export function more(now: readonly string[], earlier: readonly string[]): string[] {
  const left = [...earlier];
  return now.filter((one) => {
    const place = left.indexOf(one);
    if (place !== -1) left.splice(place, 1);
    return place === -1;
  });
}

/** A file by its path, no device and none that Node itself is writing. */
export function isFile(path: string): boolean {
  const others = ["/dev/", "/proc/", compileCache];
  return path.startsWith("/") && !others.some((other) => path.startsWith(other));
}

/** As `openDescriptors` names them. */
function listeningSockets(): Set<string> {
  const inodes = ["tcp", "tcp6"].flatMap((kind) => {
    const rows = read(`/proc/self/net/${kind}`).split("\n").slice(1);
    const fields = rows.map((row) => row.trim().split(/\s+/));
    return fields.filter(([, , , state]) => state === "0A").map((row) => row[9]);
  });
  // Those with this flag accept connections.
  const local = read("/proc/self/net/unix").split("\n").slice(1);
  const accepting = local.map((row) => row.split(/\s+/)).filter(([, , , flags]) => flags === "00010000");
  return new Set([...inodes, ...accepting.map((row) => row[6])].map((inode) => `socket:[${inode}]`));
}

/** The command lines of the processes that this one started and that run. */
function runningChildren(): string[] {
  const threads = readdirSync("/proc/self/task");
  const children = threads.flatMap((thread) => read(`/proc/self/task/${thread}/children`).trim().split(" "));
  return children.flatMap((child) => {
    if (child === "" || / Z /.test(read(`/proc/${child}/stat`).replace(/^.*\)/s, ""))) return [];
    const words = read(`/proc/${child}/cmdline`).replaceAll("\0", " ").trim();
    // The embedded database serves all services of its folder, and ends with the last one.
    return words === "" || /\/postgres -D /.test(words) ? [] : [words.slice(0, 200)];
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
