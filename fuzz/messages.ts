import type { TargetFile } from "./target.ts";

/** What a runner is told to do. */
export interface Order {
  readonly file: TargetFile;
  readonly seed: number;
  readonly minutes: number;
  /** Inputs of earlier searches, as lines of a corpus. */
  readonly corpus: readonly string[];
  /** The file that always holds the input being read. */
  readonly current: string;
}

/** A fault with the smallest input that was found for it. */
export interface Finding {
  readonly key: string;
  readonly text: string;
  readonly line: string;
}

export interface Progress {
  readonly runs: number;
  readonly inputs: number;
  /** Branches of the target's own sources that ran, of how many. */
  readonly covered: number;
  readonly branches: number;
}

export type Report =
  | { readonly kind: "finding"; readonly finding: Finding }
  | { readonly kind: "progress"; readonly progress: Progress }
  /** The smallest inputs that together reach everything that was reached. */
  | { readonly kind: "end"; readonly progress: Progress; readonly corpus: readonly string[] };
