import { keyedDocument, nameKey } from "../search/keyed-document.ts";
import { text } from "./field.ts";
import { say } from "./message.ts";
import type { Mapped, RowTarget } from "./target.ts";

/** Tables that operations look up, but do not return. */
export const referenceTargets: readonly RowTarget[] = [
  reference("divisions", "code", /^\d{6}$/),
  reference("holidays", "date", /^\d{4}-\d{2}-\d{2}$/),
  reference("company_names", "lei", /^[0-9A-Z]{20}$/, "name"),
];

function reference(name: string, keyField: string, form: RegExp, secondKey?: string): RowTarget {
  return {
    name,
    corpus: `reference:${name}`,
    map(fields): Mapped {
      const key = text(fields, keyField);
      if (key === null || !form.test(key)) return { problem: say("row_key", { field: keyField }) };
      return { record: { ...fields, id: key } };
    },
    document: (record) => {
      const second = secondKey === undefined ? null : text(record, secondKey);
      return keyedDocument(record, [record.id, ...(second === null ? [] : [nameKey(second)])]);
    },
  };
}
