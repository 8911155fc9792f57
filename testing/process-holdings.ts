import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

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
