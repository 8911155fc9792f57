import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Queries } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import type { Transaction } from "../database/transaction.ts";

/** What an operator wrote about an account. Its customer never sees it. */
export interface AccountNote {
  readonly id: string;
  readonly at: Date;
  readonly actor: string;
  readonly text: string;
}

/** Newest first. */
export async function listNotes(queries: Queries, accountId: string): Promise<AccountNote[]> {
  const found = await queries.query<AccountNote>(
    "select id, at, actor, text from account_note where account_id = $1 order by id desc limit 200",
    [accountId],
  );
  return found.rows;
}

export async function addNote(
  transaction: Transaction,
  accountId: string,
  text: string,
  author: Author,
): Promise<AccountNote> {
  const note = { id: makeIdentifier("note", author.now), at: author.now, actor: author.actor, text };
  await transaction.query(
    "insert into account_note (id, account_id, at, actor, text) values ($1, $2, $3, $4, $5)",
    [note.id, accountId, note.at, note.actor, text],
  );
  await writeAudit(transaction, author, "account.note", accountId, null, { id: note.id });
  return note;
}
