import { z } from "zod";

const texts = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);

/** How the rows of a publisher's own file are read, where they are not in a form that its target knows. */
export const rowsFile = z.strictObject({
  /** The names of the columns of a file without a row of names. */
  header: z.array(z.string().min(1)).min(1).optional(),
  /** Only rows that have one of these values in each of these columns; others are passed over. */
  where: z.record(z.string(), z.array(z.string()).min(1)).default({}),
  /** Only rows whose value in the column has this form. */
  like: z.record(z.string(), z.string()).default({}),
  /** For each of our fields: its column, or several, of which the first that is filled counts. */
  columns: z.record(z.string(), texts).default({}),
  /** For each of our fields: their values and ours. */
  values: z.record(z.string(), z.record(z.string(), z.string())).default({}),
  /** For each of our fields that is a list: what separates its parts. */
  lists: z.record(z.string(), z.string().min(1)).default({}),
  constants: z.record(z.string(), z.unknown()).default({}),
});
export type RowsFile = z.infer<typeof rowsFile>;

type Fields = Readonly<Record<string, unknown>>;

/** The row as its target reads it; null if it is not wanted. Without columns, its own names stay. */
export function wantedRow({
  where,
  like,
  columns,
  values,
  lists,
  constants,
}: RowsFile): (row: Fields) => Fields | null {
  const forms = Object.entries(like).map(
    ([column, form]) => [column, new RegExp(`^(?:${form})$`, "u")] as const,
  );
  return (row) => {
    const valueIn = (column: string) => String(row[column] ?? "").trim();
    if (!Object.entries(where).every(([column, wanted]) => wanted.includes(valueIn(column)))) return null;
    if (!forms.every(([column, form]) => form.test(valueIn(column)))) return null;
    const read: Record<string, unknown> = Object.keys(columns).length === 0 ? { ...row } : {};
    for (const [field, of] of Object.entries(columns)) {
      const found = [of].flat().find((column) => valueIn(column) !== "");
      if (found !== undefined) read[field] = row[found];
    }
    for (const [field, table] of Object.entries(values)) {
      const ours = table[String(read[field] ?? "")];
      if (ours !== undefined) read[field] = ours;
    }
    for (const [field, separator] of Object.entries(lists))
      if (typeof read[field] === "string")
        read[field] = read[field]
          .split(separator)
          .map((part) => part.trim())
          .filter((part) => part !== "");
    return { ...read, ...constants };
  };
}
