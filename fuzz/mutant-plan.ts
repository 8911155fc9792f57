import { appendFileSync, readFileSync } from "node:fs";

/** What the modules of a process are. */
export interface Loaded {
  /** The number of mutants, which begin at 1. */
  readonly count: number;
  /** The changed text of each source, by its address. */
  readonly texts: Readonly<Record<string, string>>;
}

/** Names the file with `Loaded`. */
export const loadedVariable = "MUTANTS_LOADED";

/** What the tests of a file are asked to do. */
export interface Plan {
  /** The mutants that are still to be tried. */
  readonly wanted: readonly number[];
  /** A test that takes longer is left for later. */
  readonly mostMs: number;
  /** Tests, by their ids, whose mutants are all tried. */
  readonly done: readonly string[];
  /** What was tried in the others. */
  readonly begun: Readonly<Record<string, readonly number[]>>;
  /** The mutant that is tried before the others, in the first test that reaches it. */
  readonly first: number | null;
  /** A mutant that is on from the beginning. Each test runs once. */
  readonly alone: number | null;
}

/** What they tell, a line each, so that nothing is lost if their process ends. */
export type Note =
  | { readonly kind: "reached"; readonly test: string | null; readonly mutants: readonly number[] }
  | {
      readonly kind: "cannot be repeated";
      readonly test: string;
      readonly why: string;
      readonly mutants: readonly number[];
    }
  | { readonly kind: "later"; readonly test: string }
  | { readonly kind: "done"; readonly test: string }
  | { readonly kind: "begins"; readonly mutant: number; readonly test: string }
  | { readonly kind: "killed"; readonly mutant: number; readonly by: string }
  /** What it changes was not reached again, such as a value that is computed once. */
  | { readonly kind: "hidden"; readonly mutant: number }
  /** The process must be renewed, and this mutant tried first, if there is one. */
  | { readonly kind: "renew"; readonly first: number | null }
  | { readonly kind: "end" };

/** Names the folder of the plan and the notes. */
export const folderVariable = "MUTANTS_FOLDER";

export function readPlan(): Plan {
  return JSON.parse(readFileSync(`${process.env[folderVariable]}/plan.json`, "utf8")) as Plan;
}

export function writeNote(note: Note): void {
  appendFileSync(`${process.env[folderVariable]}/notes.jsonl`, `${JSON.stringify(note)}\n`);
}
