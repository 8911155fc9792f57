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
  {
    file: "ledger/volume.ts",
    code: "if (found) return found.tokens;",
    was: "found",
    becomes: "false",
    why: "The sum is written once, so that summing again changes nothing; this is only sooner.",
  },
  {
    file: "ledger/terms.ts",
    code: "if (kept !== undefined) return kept;",
    was: "kept !== undefined",
    becomes: "false",
    why: "The table says the same; this is only sooner.",
  },
  {
    file: "ledger/package.ts",
    code: "if (uses.size > 0)",
    was: ">",
    becomes: ">=",
    why: "Inserting nothing changes nothing; this is only sooner.",
  },
  {
    file: "ledger/package-spread.ts",
    code: ".sort((a, b) => a.endsAt.getTime() - b.endsAt.getTime() || (a.id < b.id ? -1 : 1));",
    was: "<",
    becomes: "<=",
    why: "No two packages have the same id.",
  },
  {
    file: "ledger/package-spread.ts",
    code: "(a, b) => b.endsAt.getTime() - a.endsAt.getTime() || (a.id < b.id ? 1 : -1),",
    was: "<",
    becomes: "<=",
    why: "No two packages have the same id.",
  },
  {
    file: "ledger/package-spread.ts",
    code: "if (paid < 0) take(state, requestId, -paid, at);",
    was: "<",
    becomes: "<=",
    why: "Taking nothing changes nothing.",
  },
  {
    file: "ledger/package-spread.ts",
    code: "const used = slices.filter(({ id }) => (use.parts[id] ?? 0) > 0);",
    was: ">",
    becomes: ">=",
    why: "Giving back nothing changes nothing.",
  },
  {
    file: "ledger/package.ts",
    code: "if (change.paid === 0) continue;",
    was: "change.paid === 0",
    becomes: "false",
    why: "Spreading nothing changes nothing; this is only sooner.",
  },
  {
    file: "engine/slot.ts",
    code: "for (let index = held; index < cells; index++) this.cached.push(from.cached[index]!);",
    was: "<",
    becomes: "<=",
    why: "The line after it sets the length.",
  },
  {
    file: "engine/slot.ts",
    code: "return picture < 0 ? Number.POSITIVE_INFINITY : picture;",
    was: "<",
    becomes: "<=",
    why: "The first cell is a token here, so no picture begins at 0.",
  },
  {
    file: "engine/slot.ts",
    code: "const isPicture = this.#pending[0]! < 0;",
    was: "<",
    becomes: "<=",
    why: "Measuring again after a token gives the same.",
  },
  {
    file: "engine/slot.ts",
    code: "if (this.#uncomputed.some((token, index) => prompt[from + index] !== token)) return null;",
    was: "+",
    becomes: "-",
    why: "There is one such token at most.",
  },
  {
    file: "engine/slot.ts",
    code: "if (!this.answer.hasPictures) return Number.POSITIVE_INFINITY;",
    was: "!this.answer.hasPictures",
    becomes: "false",
    why: "Without pictures, none is found; this is only sooner.",
  },
  {
    file: "engine/prefix.ts",
    code: "if (prompt.length <= room) return [...prompt];",
    was: "<=",
    becomes: "<",
    why: "A prompt that just fits is cut by nothing.",
  },
  {
    file: "engine/prefix.ts",
    code: "const tokens = common > most ? neighbour.cuttable(common) : 0;",
    was: ">",
    becomes: ">=",
    why: "What is cuttable is not more than what is common.",
  },
  {
    file: "ranking/top.ts",
    code: "if (score === least && date < oldest) continue;",
    was: "score === least && date < oldest",
    becomes: "false",
    why: "`offer` refuses it, too; this is only sooner.",
  },
  {
    file: "ranking/scratch.ts",
    code: "if (scores === undefined || length > scores.length) {",
    was: ">",
    becomes: ">=",
    why: "It only makes more room than is needed.",
  },
  {
    file: "grammar/number-range.ts",
    code: "if (low === high) return low;",
    was: "low === high",
    becomes: "false",
    why: "A class of one digit is that digit.",
  },
  {
    file: "grammar/schema-shapes.ts",
    code: "if (prefix.length > 0 || rest !== undefined)",
    was: ">",
    becomes: ">=",
    why: "A list that says nothing of its items changes nothing.",
  },
  {
    file: "grammar/number-range.ts",
    code: "state(dots < 0 ? [] : [{ ...point, target: dots }], true);",
    was: "<",
    becomes: "<=",
    why: "It is -1 or the number of a later state.",
  },
  {
    file: "grammar/number-range.ts",
    code: "state([...next, ...(dots < 0 ? [] : [{ ...point, target: dots + rest }])], rest === 0);",
    was: "<",
    becomes: "<=",
    why: "It is -1 or the number of a later state.",
  },
  {
    file: "grammar/number-range.ts",
    code: "if (most === null || most > 0 || (most === 0 && !bounds.mostExcluded)) {",
    was: ">",
    becomes: ">=",
    why: "From 0 on there is nothing below 0.",
  },
];
