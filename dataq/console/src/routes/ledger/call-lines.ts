import type { Entry } from "@dataq/contract/wire";

/** A line of the ledger page: one entry, or the hold and the settlement of a call as one. */
export interface LedgerLine extends Entry {
  /** The outcome of a call. */
  readonly outcome?: "charged" | "free" | "running";
}

/**
 * One line for each call, newest first: its change is what the call cost. A refund stays a line of its own, because it
 * comes later. `isComplete` is false while older entries are not loaded yet: then calls whose hold is among those wait.
 */
export function callLines(entries: readonly Entry[], isComplete: boolean): readonly LedgerLine[] {
  const calls = new Map<string, Entry[]>();
  for (const entry of entries)
    if (isPartOfCall(entry)) calls.set(entry.request_id!, [...(calls.get(entry.request_id!) ?? []), entry]);
  return entries.flatMap((entry) => {
    if (!isPartOfCall(entry)) return [entry];
    const parts = calls.get(entry.request_id!)!;
    // The newest part stands for the call.
    if (parts[0] !== entry) return [];
    const hold = parts.find(({ kind }) => kind === "hold");
    if (!hold && !isComplete) return [];
    const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
    return [{ ...entry, at: (hold ?? entry).at, tokens, outcome: outcomeOf(entry, tokens) }];
  });
}

function isPartOfCall({ kind, request_id }: Entry): boolean {
  return request_id !== null && (kind === "hold" || kind === "capture" || kind === "void");
}

function outcomeOf({ kind }: Entry, tokens: number): NonNullable<LedgerLine["outcome"]> {
  if (kind === "hold") return "running";
  return tokens === 0 ? "free" : "charged";
}
