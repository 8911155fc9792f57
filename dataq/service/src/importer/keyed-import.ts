import { keyedDocument } from "../search/keyed-document.ts";
import { ownForm } from "./own-form.ts";
import type { Draft, RowTarget } from "./target.ts";

/** Imports an operation whose records are only looked up by key. A record may have a day, null or undefined if not known. */
export function keyedImport(
  operation: string,
  idOf: (record: Record<string, unknown>) => unknown,
  keysOf: (record: Draft) => string[],
  dayOf: (record: Draft) => unknown = () => null,
): RowTarget {
  return {
    name: operation,
    corpus: operation,
    map: ownForm(operation, idOf),
    document: (record) => keyedDocument(record, keysOf(record), (dayOf(record) as string | null) ?? null),
  };
}
