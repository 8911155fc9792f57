interface Equivalent {
  /** The end of its path. */
  readonly file: string;
  /** The line, without the spaces around it. */
  readonly code: string;
  readonly was: string;
  readonly becomes: string;
  readonly why: string;
}

/** Mutants that change nothing that a caller can see. They are not tried. */
export const equivalents: readonly Equivalent[] = [
  {
    file: "limits/contract-gate.ts",
    code: "row.stated === null || row.stated_at === null",
    was: "||",
    becomes: "&&",
    why: "`noteBalance` writes both columns or none.",
  },
  {
    file: "ledger/movement.ts",
    code: "tokens >= 0",
    was: ">=",
    becomes: ">",
    why: "An adjustment by 0 moves nothing in either direction.",
  },
  {
    file: "ledger/movement.ts",
    code: 'if (code === "23505" && constraint?.startsWith("entry_once_a_")) throw refundedBefore(requestId);',
    was: "&&",
    becomes: "||",
    why: "The statement inserts entries only, and their other constraints are no unique ones.",
  },
  {
    file: "ledger/wallet.ts",
    code: "const isOver = wallet?.trialExpiresAt && wallet.trialBalance > 0 && wallet.trialExpiresAt <= now;",
    was: ">",
    becomes: ">=",
    why: "The statement that ends a trial changes no wallet without trial tokens.",
  },
];
