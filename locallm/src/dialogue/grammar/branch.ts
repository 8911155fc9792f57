import type { Conjunct, Shape } from "./shape.ts";

/** Adds something to a shape. Returns false if that is a contradiction. */
export type Action = (branch: Branch) => boolean;

export interface Branch {
  readonly shape: Shape;
  readonly open: Conjunct[];
  readonly choices: (readonly Action[])[];
  readonly seen: Set<string>;
}

export function pushing(...conjuncts: Conjunct[]): Action {
  return (branch) => {
    branch.open.push(...conjuncts);
    return true;
  };
}
