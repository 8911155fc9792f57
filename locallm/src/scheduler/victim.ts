import type { Resident } from "./residency.ts";

/**
 * Chooses which model to unload for a waiting one: the least recently used idle model, pinned models last. If
 * all are busy, chooses one whose tenure has ended. Returns null if there is none yet.
 */
export function chooseVictim(residents: readonly Resident[]): { resident: Resident; why: string } | null {
  const idle = residents.filter((resident) => resident.isIdle).sort(byEvictionOrder)[0];
  if (idle !== undefined) return { resident: idle, why: `least recently used${ifPinned(idle)}` };
  // If a model is already draining, wait for it.
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
  return resident.isPinned ? ", pinned, but no other model could be unloaded" : "";
}
