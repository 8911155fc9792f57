import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Database } from "../database/database.ts";
import { inTransaction } from "../database/transaction.ts";

/** The operator's terms of use. Another version is accepted anew. */
export interface Terms {
  readonly version: string;
  readonly url: string;
}

export async function hasAccepted(database: Database, personId: string, version: string): Promise<boolean> {
  const found = await database.query(
    "select from people.terms_accepted where user_id = $1 and version = $2",
    [personId, version],
  );
  return found.rowCount === 1;
}

/** Records that a person accepts a version, with the time and the address. The first time counts. */
export async function acceptTerms(
  database: Database,
  personId: string,
  version: string,
  author: Author,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const accepted = await transaction.query(
      "insert into people.terms_accepted values ($1, $2, $3, $4) on conflict do nothing",
      [personId, version, author.now, author.ip ?? null],
    );
    if (accepted.rowCount === 1)
      await writeAudit(transaction, author, "terms.accept", personId, null, { version });
  });
}
