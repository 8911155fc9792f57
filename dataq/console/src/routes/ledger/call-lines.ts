import type { Entry } from "@dataq/contract/wire";

/** A line of the ledger page: a single entry, or the combined hold and settlement of a call. */
export interface LedgerLine extends Entry {
  /** The outcome of a call. */
  readonly outcome?: "charged" | "free" | "running";
}

/**
 * Makes one line for each call, newest first. Its change is what the call cost. A refund has a line of its
 * own, because it happens later. If `isComplete` is false, older entries are not loaded yet, and calls whose
 * hold may be among them are omitted.
 */
export function callLines(entries: readonly Entry[], isComplete: boolean): readonly LedgerLine[] {
  const calls = new Map<string, Entry[]>();
  for (const entry of entries)
    if (isPartOfCall(entry)) calls.set(entry.request_id!, [...(calls.get(entry.request_id!) ?? []), entry]);
  return entries.flatMap((entry) => {
    if (!isPartOfCall(entry)) return [entry];
    const parts = calls.get(entry.request_id!)!;
    // The newest entry of a call represents it.
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
