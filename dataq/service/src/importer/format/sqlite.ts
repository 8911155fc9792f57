import { DatabaseSync } from "node:sqlite";
import { ImportError } from "../import-error.ts";
import type { Row } from "./row.ts";

/** Rows of the named table, or of the only table. `line` is the row number. */
export function* readSqlite(path: string, table?: string): Generator<Row> {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const names = (
      database
        .prepare(
          "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name",
        )
        .all() as { name: string }[]
    ).map(({ name }) => name);
    const chosen = table ?? (names.length === 1 ? names[0] : undefined);
    if (chosen === undefined || !names.includes(chosen)) {
      throw new ImportError("which_table", { tables: names });
    }
    let line = 0;
    for (const fields of database.prepare(`select * from "${chosen.replaceAll('"', '""')}"`).iterate()) {
      yield { line: ++line, fields: fields as Record<string, unknown> };
    }
  } finally {
    database.close();
  }
}
