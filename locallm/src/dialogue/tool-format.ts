import type { Reading } from "./answer-piece.ts";
import type { Calls } from "./calls.ts";
import type { Cursor } from "./cursor.ts";
import type { Rules } from "./grammar/gbnf.ts";

/** The text around the JSON of calls. The grammar uses it to make a model write calls. */
export interface CallShape {
  /** The text that begins the first call, or the list of all calls. */
  readonly open: string;
  /** The texts before and after the arguments of one call. */
  readonly before: (name: string) => string;
  readonly after: string;
  /** The text between calls. Null if an answer can have only one call. */
  readonly between: string | null;
  readonly close: string;
}

/** How a family of models writes tool calls. Each has a file in `formats/`. */
export interface ToolFormat {
  readonly name: string;
  /** Texts that begin a call anywhere in an answer. */
  readonly markers: readonly string[];
  /** Marks that mean nothing to clients. They are removed everywhere. */
  readonly silent?: readonly string[];
  /** The form of ids that the family's templates accept. Defaults to `call_` and 8 characters. */
  readonly id?: { readonly prefix: string; readonly length: number };
  /**
   * Returns the text around calls. It depends on the template, because some families changed it over time.
   */
  shape(template: string): CallShape;
  /** Writes the grammar rule for arguments that are not JSON. */
  argumentsRule?(rules: Rules): string;
  /** Reads the text after a marker. Returns the text if it is not a call, otherwise "". */
  read(cursor: Cursor, calls: Calls, marker: string): Reading<string>;
  /** Reads calls without a marker at the very start of the answer. Returns the same values as `read`. */
  readStart?(cursor: Cursor, calls: Calls): Reading<string>;
  /** Reads the whole answer, for families whose answers have their own format. */
  readAll?(cursor: Cursor, calls: Calls): Reading<void>;
}
