import type { Resident } from "./residency.ts";

/**
 * Who gives up a place for a model that waits: the idle one that was used least recently, a pinned one last;
 * where all are busy, one that has served out its tenure. Null: nobody yet.
 */
export function chooseVictim(residents: readonly Resident[]): { resident: Resident; why: string } | null {
  const idle = residents.filter((resident) => resident.isIdle).sort(byEvictionOrder)[0];
  if (idle !== undefined) return { resident: idle, why: `least recently used${ifPinned(idle)}` };
  // One that drains already will do.
  if (residents.some(({ draining }) => draining !== null)) return null;
  const spent = residents.filter(({ tenureSpent }) => tenureSpent !== null).sort(byEvictionOrder)[0];
  return spent === undefined
    ? null
    : { resident: spent, why: `served ${spent.tenureSpent}${ifPinned(spent)}` };
}

function byEvictionOrder(a: Resident, b: Resident): number {
  return Number(a.isPinned) - Number(b.isPinned) || a.lastUsedMs - b.lastUsedMs;
}

function ifPinned(resident: Resident): string {
  return resident.isPinned ? ", pinned, but nothing else could go" : "";
}
