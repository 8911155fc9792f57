import type { Database } from "../../src/database/database.ts";
import { lawsOf } from "../../src/ledger/laws.ts";

const laws = lawsOf({ entries: "fresh", calls: "fresh_call", base: "verified" });

/**
 * Every law but that of the hash chain, on what is newer than the verified points, as `verifyLedger` does it: in one
 * statement that PostgreSQL plans once for each connection, because a simulation asks after each of its steps.
 */
const statement = {
  name: "books-laws",
  text: `with fresh as (
      select e.* from wallet w left join verified b using (account_id)
      cross join lateral (select * from entry where account_id = w.account_id and seq > coalesce(b.seq, 0)) e
    ), fresh_call as (
      select e.* from entry e where e.request_id in (select request_id from fresh where request_id is not null)
    )
    ${laws.map(({ sql }, index) => `select ${index} as law, breach::text from (${sql}) as broken${index}(breach)`).join("\nunion all\n")}`,
};

export async function brokenLaws(database: Database): Promise<string[]> {
  const found = await database.query<{ law: number; breach: string }>(statement);
  return found.rows.map(({ law, breach }) => `${laws[law]!.law} ${laws[law]!.text}: ${breach}`);
}
