/** Tokens of one package of an account. */
export interface Slice {
  readonly id: string;
  readonly endsAt: Date;
  readonly isOpen: boolean;
  /** What calls have not used and nobody has taken. */
  left: number;
  /** What left it otherwise than by calls: it expired, its money went back, or the balance was corrected. */
  taken: number;
}

/** A change of an account's paid tokens, as the ledger has it. */
export interface PaidChange {
  /** Null if no call caused it. */
  readonly requestId: string | null;
  readonly paid: number;
  readonly at: Date;
}

/** From where a call took its paid tokens, less what came back. */
export interface Use {
  plain: number;
  readonly parts: Record<string, number>;
}

/** The paid tokens of an account, and which of them are of packages. */
export interface Spread {
  paid: number;
  readonly slices: readonly Slice[];
  /** Calls that used packages. */
  readonly uses: Map<string, Use>;
}

/**
 * Applies one entry of the ledger. A call uses packages before other paid tokens, the one that ends first before the
 * others; what comes back of it goes where it came from, in the opposite order. Everything else, such as a correction,
 * takes other paid tokens first, and of packages the one that ends last.
 */
export function spread(state: Spread, change: PaidChange): void {
  const { requestId, paid, at } = change;
  if (paid < 0) take(state, requestId, -paid, at);
  else if (requestId !== null) giveBack(state, requestId, paid);
  state.paid += paid;
}

/** Open slices, the one that ends first before the others. */
export function inOrder(slices: readonly Slice[]): Slice[] {
  return slices
    .filter(({ isOpen }) => isOpen)
    .sort((a, b) => a.endsAt.getTime() - b.endsAt.getTime() || (a.id < b.id ? -1 : 1));
}

/** Paid tokens that belong to no package. */
export function plainOf({ paid, slices }: Spread): number {
  return inOrder(slices).reduce((plain, { left }) => plain - left, paid);
}

function take(state: Spread, requestId: string | null, tokens: number, at: Date): void {
  const open = inOrder(state.slices);
  const plain = plainOf(state);
  if (requestId === null) {
    let rest = tokens - Math.min(tokens, plain);
    for (const slice of open.toReversed()) {
      const part = Math.min(rest, slice.left);
      slice.left -= part;
      slice.taken += part;
      rest -= part;
    }
    return;
  }
  const use: Use = { plain: 0, parts: {} };
  let rest = tokens;
  const takeOf = (slices: readonly Slice[]) => {
    for (const slice of slices) {
      const part = Math.min(rest, slice.left);
      if (part === 0) continue;
      slice.left -= part;
      use.parts[slice.id] = (use.parts[slice.id] ?? 0) + part;
      rest -= part;
    }
  };
  takeOf(open.filter(({ endsAt }) => endsAt > at));
  use.plain = Math.min(rest, plain);
  rest -= use.plain;
  // Only an older version of the service, which knows no packages, spends what has ended.
  takeOf(open);
  if (Object.keys(use.parts).length > 0) state.uses.set(requestId, use);
}

function giveBack({ slices, uses }: Spread, requestId: string, tokens: number): void {
  const use = uses.get(requestId);
  if (!use) return;
  const plain = Math.min(tokens, use.plain);
  use.plain -= plain;
  let rest = tokens - plain;
  const used = slices.filter(({ id }) => (use.parts[id] ?? 0) > 0);
  for (const slice of used.sort(
    (a, b) => b.endsAt.getTime() - a.endsAt.getTime() || (a.id < b.id ? 1 : -1),
  )) {
    const part = Math.min(rest, use.parts[slice.id]!);
    rest -= part;
    use.parts[slice.id] = use.parts[slice.id]! - part;
    // What comes back of a package that has ended stays with the account.
    if (slice.isOpen) slice.left += part;
    else slice.taken += part;
  }
}
