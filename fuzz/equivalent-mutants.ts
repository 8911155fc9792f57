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
export const equivalents: readonly Equivalent[] = [];
