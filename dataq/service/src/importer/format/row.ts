import type { Message } from "../message.ts";

/** A row of an input file with its line number, or the problem of that line. */
export type Row =
  | { readonly line: number; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly line: number; readonly problem: Message };
