import type { Reading } from "./answer-piece.ts";
import type { Calls } from "./calls.ts";
import type { Cursor } from "./cursor.ts";
import type { Rules } from "./grammar/gbnf.ts";

/** The text around the JSON of calls, for the grammar that makes a model write them. */
export interface CallShape {
  /** Begins the first call, or the list of all. */
  readonly open: string;
  /** Before and after the arguments of one call. */
  readonly before: (name: string) => string;
  readonly after: string;
  /** Between calls; null if there can be only one. */
  readonly between: string | null;
  readonly close: string;
}

/** How a family of models writes tool calls. Each has a file in `formats/`. */
export interface ToolFormat {
  readonly name: string;
  /** Texts that begin a call anywhere in an answer. */
  readonly markers: readonly string[];
  /** Marks without a meaning for clients, which are removed everywhere. */
  readonly silent?: readonly string[];
  /** The form of ids that its templates accept; by default `call_` and 8 characters. */
  readonly id?: { readonly prefix: string; readonly length: number };
  /** The form depends on the template: some families changed it over time. */
  shape(template: string): CallShape;
  /** For arguments that are not JSON. */
  argumentsRule?(rules: Rules): string;
  /** Reads the text after a marker. Returns text that is not a call, "" otherwise. */
  read(cursor: Cursor, calls: Calls, marker: string): Reading<string>;
  /** For families that write calls without a marker: looks at the very start of the answer, as `read`. */
  readStart?(cursor: Cursor, calls: Calls): Reading<string>;
  /** For families whose whole answer has its own format: reads all of it. */
  readAll?(cursor: Cursor, calls: Calls): Reading<void>;
}
