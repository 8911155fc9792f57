import type { Queries } from "../database/database.ts";
import { holdings } from "./holdings.ts";

const PIECE = 500;

/** Members by name, refunds of payments, corrections of invoices, and lines of the audit log about the account, its keys and its people. */
const others: Readonly<Record<string, string>> = {
  "people.member": `
    select to_jsonb(m) || jsonb_build_object('name', u."name", 'email', u."email") as row from people.member m
    join people."user" u on u."id" = m.user_id where m.account_id = $1 order by m.created_at`,
  payment_return: `
    select to_jsonb(r) as row from payment_return r join payment p on p.id = r.payment_id
    where p.account_id = $1 order by r.created_at, r.id`,
  invoice_correction: `
    select to_jsonb(c) as row from invoice_correction c join invoice i on i.id = c.invoice_id
    where i.account_id = $1 order by c.issued_at, c.number`,
  // Each part finds its lines by an index; with `or`, PostgreSQL would read the whole log.
  audit: `
    select to_jsonb(a) as row from audit a where id in (
      select id from audit where target = $1
      union select l.id from audit l join api_key k on l.target = k.id where k.account_id = $1
      union select l.id from audit l join api_key k on l.actor = k.id where k.account_id = $1
      union select l.id from audit l join people.member m on l.actor = 'user_' || m.user_id where m.account_id = $1)
    order by id`,
};

/** Everything that is stored for an account and is not secret, a line of JSON each: the table, then its columns. */
export async function* exportAccount(queries: Queries, accountId: string): AsyncGenerator<string> {
  for (const [table, { by, order, secret = [] }] of Object.entries(holdings)) {
    if (order === undefined) continue;
    let after: unknown = null;
    for (;;) {
      const found = await queries.query<{ row: object; at: unknown }>(
        `select to_jsonb(t) - $3::text[] as row, ${order} as at from ${table} t
         where ${by} = $1 and ($2::text is null or ${order} > $2::${order === "seq" ? "bigint" : "text"})
         order by ${order} limit ${PIECE}`,
        [accountId, after === null ? null : String(after), secret],
      );
      for (const { row } of found.rows) yield lineOf(table, row);
      if (found.rows.length < PIECE) break;
      after = found.rows.at(-1)!.at;
    }
  }
  for (const [table, text] of Object.entries(others))
    for (const { row } of (await queries.query<{ row: object }>(text, [accountId])).rows)
      yield lineOf(table, row);
}

function lineOf(table: string, row: object): string {
  return `${JSON.stringify({ table, ...row })}\n`;
}
