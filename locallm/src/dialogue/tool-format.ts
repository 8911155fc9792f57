import type { Reading } from "./answer-piece.ts";
import type { Calls } from "./calls.ts";
import type { Cursor } from "./cursor.ts";
import type { Rules } from "./grammar/gbnf.ts";

/** What stands around the JSON of calls, for the grammar that makes a model write them. */
export interface CallShape {
  /** Begins the first call, or the list of all. */
  readonly open: string;
  /** Before and after the arguments of one call. */
  readonly before: (name: string) => string;
  readonly after: string;
  /** Between calls; null where there can be only one. */
  readonly between: string | null;
  readonly close: string;
}

/** How a family of models writes tool calls. One file each in `formats/`. */
export interface ToolFormat {
  readonly name: string;
  /** What begins a call anywhere in an answer. */
  readonly markers: readonly string[];
  /** Marks without a meaning for clients: left out wherever they stand. */
  readonly silent?: readonly string[];
  /** What its templates take as the id of a call; without it `call_` and 8 characters. */
  readonly id?: { readonly prefix: string; readonly length: number };
  /** For this template: some families changed their form over time. */
  shape(template: string): CallShape;
  /** For arguments that are no JSON. */
  argumentsRule?(rules: Rules): string;
  /** Reads on after a marker. Returns text that turned out to be no call, "" otherwise. */
  read(cursor: Cursor, calls: Calls, marker: string): Reading<string>;
  /** For families that write calls without a marker: looks at the very start of the answer, as `read`. */
  readStart?(cursor: Cursor, calls: Calls): Reading<string>;
  /** For families whose whole answer has a form of its own: reads all of it. */
  readAll?(cursor: Cursor, calls: Calls): Reading<void>;
}
