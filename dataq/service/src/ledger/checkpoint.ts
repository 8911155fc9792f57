import type { Queries } from "../database/database.ts";
import { eachRow } from "../database/each-row.ts";
import type { Scope } from "./laws.ts";

/** The chain of an account after one of its entries, and the sums of the entries up to it. */
export interface Progress {
  readonly accountId: string;
  readonly seq: number;
  /** Time of the entry. */
  readonly at: Date;
  readonly sha256: Buffer;
  readonly trial: number;
  readonly paid: number;
  readonly credit: number;
  readonly held: number;
  readonly creditLine: number;
}

const MARK = `sha256(convert_to(concat_ws(' ', account_id, seq, encode(sha256, 'hex'), extract(epoch from at), trial, paid,
  credit, held, credit_line), 'UTF8'))`;

/** How many entries were verified, and when. */
export async function countVerified(
  queries: Queries,
): Promise<{ readonly entries: number; readonly verified_at: Date | null; readonly whole_at: Date | null }> {
  const found = await queries.query<{ entries: number; verified_at: Date | null; whole_at: Date | null }>(
    `select (select coalesce(sum(seq), 0)::bigint from verified) as entries, v.verified_at, v.whole_at
     from (select) one left join verification v on true`,
  );
  return found.rows[0]!;
}

/** Verified points that were changed, or whose seal or entry was changed or deleted. */
export async function unfitPoints(queries: Queries): Promise<string[]> {
  const found = await queries.query<{ breach: string }>(
    `select b.account_id || ' does not match its verified entry ' || b.seq
              || '; run "dataq ledger verify --whole"' as breach
     from (select *, mark = ${MARK} as is_own from verified) b
     left join seal s on s.account_id = b.account_id and s.seq = b.seq
     left join entry e on e.account_id = b.account_id and e.seq = b.seq
     where not b.is_own or s.sha256 is distinct from b.sha256 or date_trunc('milliseconds', e.at) is distinct from b.at limit 5`,
  );
  return found.rows.map(({ breach }) => breach);
}

/** Collects the entries since the verified points, in tables of this transaction. */
export async function openScope(queries: Queries): Promise<Scope> {
  // Looks up one account after the other, and then its new entries.
  await queries.query(`create temp table fresh on commit drop as
    with recursive known(account_id) as (
      (select account_id from entry order by account_id limit 1)
      union all
      select (select e.account_id from entry e where e.account_id > known.account_id order by e.account_id limit 1)
      from known where known.account_id is not null
    )
    select e.* from known left join verified b using (account_id)
    cross join lateral (select * from entry where account_id = known.account_id and seq > coalesce(b.seq, 0) ${eachRow}) e`);
  await queries.query(
    "create index on fresh (account_id, seq); create index on fresh (request_id); analyze fresh",
  );
  await queries.query(`create temp table fresh_call on commit drop as select e.* from entry e
    where e.request_id in (select request_id from fresh where request_id is not null)`);
  await queries.query("create index on fresh_call (request_id); analyze fresh_call");
  return { entries: "fresh", calls: "fresh_call", base: "verified" };
}

/** Makes these points the verified ones. After a whole verification, there are no others. */
export async function markVerified(
  queries: Queries,
  points: readonly Progress[],
  whole: boolean,
  now: Date,
): Promise<void> {
  await queries.query("begin");
  // One verification after the other.
  await queries.query("lock table verified in share row exclusive mode");
  if (whole) await queries.query("delete from verified");
  for (let start = 0; start < points.length; start += 1_000) {
    const piece = points.slice(start, start + 1_000);
    const column = <Name extends keyof Progress>(name: Name) => piece.map((point) => point[name]);
    await queries.query(
      `insert into verified as v (account_id, seq, at, sha256, trial, paid, credit, held, credit_line, mark)
       select *, ${MARK} from unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::bytea[], $5::bigint[], $6::bigint[],
         $7::bigint[], $8::bigint[], $9::bigint[]) as p(account_id, seq, at, sha256, trial, paid, credit, held, credit_line)
       on conflict (account_id) do update set seq = excluded.seq, at = excluded.at, sha256 = excluded.sha256,
         trial = excluded.trial, paid = excluded.paid, credit = excluded.credit, held = excluded.held,
         credit_line = excluded.credit_line, mark = excluded.mark
       where excluded.seq > v.seq`,
      [
        column("accountId"),
        column("seq"),
        column("at"),
        column("sha256"),
        column("trial"),
        column("paid"),
        column("credit"),
        column("held"),
        column("creditLine"),
      ],
    );
  }
  await queries.query(
    `insert into verification as v (verified_at, whole_at) values ($1, $1)
     on conflict (id) do update set verified_at = excluded.verified_at,
       whole_at = case when $2 then excluded.whole_at else v.whole_at end`,
    [now, whole],
  );
  await queries.query("commit");
}
