import type { PoolClient } from "pg";
import type { Database, Queries } from "../database/database.ts";
import { countVerified, markVerified, openScope, type Progress, unfitPoints } from "./checkpoint.ts";
import { chainNext, chainStart, type Entry, entryColumns } from "./entry.ts";
import { everything, type Law, lawsOf, type Scope } from "./laws.ts";

/** A law of the ledger, and the breaches of it. */
export interface Finding extends Law {
  /** The first few breaches; empty if the law holds. */
  readonly breaches: readonly string[];
}

/** What a verification checked, and what it took as verified before. */
export interface Coverage {
  /** True if every entry was checked. */
  readonly whole: boolean;
  /** The entries that were checked. */
  readonly entries: number;
  /** The entries that an earlier verification checked. A later change of them is found only by a whole one. */
  readonly verified_before: number;
  /** When the last verification ended, and the last whole one. */
  readonly verified_at: Date | null;
  readonly whole_at: Date | null;
}

export interface LedgerVerdict {
  readonly findings: readonly Finding[];
  readonly covers: Coverage;
}

/** So many entries are read at once. */
const entriesAtOnce = 5_000;
const MOST_BREACHES = 5;

const chainLaw: Law = { law: "L13", text: "the hash chain is intact", text_zh: "哈希链完整" };

/**
 * Checks every law in one snapshot with SQL, then the hash chain of each account against its seals. Can run while
 * instances serve.
 *
 * With the scope `new` it checks the entries since the last verified point of each account, together with all entries
 * of their calls; without such a point, all of them. A point is a seal, with the sums of the entries before it. If a
 * point does not match the chain, nothing else is checked. If nothing is wrong, the newest seals become the verified
 * points.
 */
export async function verifyLedger(
  database: Database,
  wanted: "whole" | "new" = "whole",
  now = new Date(),
  atOnce = entriesAtOnce,
): Promise<LedgerVerdict> {
  const client = await database.longReads.connect();
  let broken: Error | undefined;
  try {
    return await verifyOn(client, wanted, now, atOnce);
  } catch (error) {
    // The connection may be in a transaction.
    broken = error as Error;
    throw error;
  } finally {
    client.release(broken);
  }
}

async function verifyOn(
  client: PoolClient,
  wanted: "whole" | "new",
  now: Date,
  atOnce: number,
): Promise<LedgerVerdict> {
  await client.query("begin isolation level repeatable read");
  const { entries: before, ...last } = await countVerified(client);
  const whole = wanted === "whole" || last.verified_at === null;
  const coverage = { whole, entries: 0, verified_before: whole ? 0 : before, ...last };
  const unfit = whole ? [] : await unfitPoints(client);
  if (unfit.length > 0) {
    await client.query("rollback");
    return { findings: [{ ...pointLaw, breaches: unfit }], covers: { ...coverage, verified_before: 0 } };
  }
  const scope = whole ? everything : await openScope(client);
  const findings = await checkLaws(client, scope);
  const lost = await findLostEntries(client, scope);
  const sealed = await newestSeals(client);
  // The tables of a scope belong to the transaction. All entries take long, and are read without it.
  if (whole) await client.query("commit");
  const { breaches, entries, points } = await checkChains(client, scope, sealed, atOnce);
  const chain = { ...chainLaw, breaches: [...breaches, ...lost].slice(0, MOST_BREACHES) };
  findings.push(...(whole ? [] : [{ ...pointLaw, breaches: [] }]), chain);
  if (!whole) await client.query("commit");
  if (findings.every((finding) => finding.breaches.length === 0))
    await markVerified(client, points, whole, now);
  return { findings, covers: { ...coverage, entries } };
}

const pointLaw: Law = {
  law: "L16",
  text: "the points that were verified before match the chain",
  text_zh: "此前核对到的位置与哈希链一致",
};

async function checkLaws(queries: Queries, scope: Scope): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { sql, ...law } of lawsOf(scope)) {
    const broken = await queries.query<{ breach: string }>(
      `select breach::text from (${sql}) as broken(breach) limit ${MOST_BREACHES}`,
    );
    findings.push({ ...law, breaches: broken.rows.map((row) => row.breach) });
  }
  return findings;
}

/** Seals whose entry is gone. */
async function findLostEntries(queries: Queries, { base }: Scope): Promise<string[]> {
  const found = await queries.query<{ breach: string }>(
    `select w.account_id || ' has lost its entry ' || s.seq as breach
     from wallet w left join ${base} b using (account_id)
     cross join lateral (select seq from seal where account_id = w.account_id and seq > coalesce(b.seq, 0)) s
     where not exists (select from entry e where e.account_id = w.account_id and e.seq = s.seq) limit ${MOST_BREACHES}`,
  );
  return found.rows.map(({ breach }) => breach);
}

/** The newest seal of each account. */
async function newestSeals(queries: Queries): Promise<Map<string, number>> {
  const found = await queries.query<{ account_id: string; seq: number }>(
    `select w.account_id, s.seq from wallet w
     cross join lateral (select seq from seal where account_id = w.account_id order by seq desc limit 1) s`,
  );
  return new Map(found.rows.map(({ account_id, seq }) => [account_id, seq]));
}

/** Computes the chain of each account, from its verified point on, and compares it with its seals. */
async function checkChains(
  queries: Queries,
  scope: Scope,
  sealed: ReadonlyMap<string, number>,
  atOnce: number,
): Promise<{ breaches: string[]; entries: number; points: Progress[] }> {
  const breaches: string[] = [];
  const points: Progress[] = [];
  let entries = 0;
  let at: Progress | undefined;
  for await (const { seal, base, ...entry } of readChained(queries, scope, atOnce)) {
    if (at?.accountId !== entry.account_id) at = base ?? startOf(entry.account_id);
    at = advance(at, entry);
    entries += 1;
    if (seal && !seal.equals(at.sha256)) {
      breaches.push(`${entry.account_id} has changed at or before entry ${entry.seq}`);
      if (breaches.length >= MOST_BREACHES) break;
    }
    if (sealed.get(entry.account_id) === entry.seq) points.push(at);
  }
  return { breaches, entries, points };
}

function startOf(accountId: string): Progress {
  const sums = { trial: 0, paid: 0, credit: 0, held: 0, creditLine: 0 };
  return { accountId, seq: 0, at: new Date(0), sha256: chainStart(accountId), ...sums };
}

function advance(before: Progress, entry: Entry): Progress {
  return {
    accountId: entry.account_id,
    seq: entry.seq,
    at: entry.at,
    sha256: chainNext(before.sha256, entry),
    trial: before.trial + entry.trial,
    paid: before.paid + entry.paid,
    credit: before.credit + entry.credit,
    held: before.held + entry.held,
    creditLine: before.creditLine + entry.credit_line,
  };
}

/**
 * The entries of a scope, those of an account one after the other, each with its seal if it has one. The first one after
 * a verified point comes with that point.
 */
async function* readChained(
  queries: Queries,
  { entries, base }: Scope,
  atOnce: number,
): AsyncGenerator<Entry & { readonly seal: Buffer | null; readonly base: Progress | undefined }> {
  const columns = entryColumns.map((column) => `e.${column}`).join(", ");
  for (let after: [string, number] = ["", 0]; ; ) {
    const found = await queries.query<Entry & { seal: Buffer | null } & { [column: string]: unknown }>({
      name: `ledger-chain-${entries}-${atOnce}`,
      text: `select ${columns}, s.sha256 as seal, b.seq as b_seq, b.at as b_at, ${base === "verified" ? "b.sha256" : "null"} as b_sha256,
             b.trial as b_trial, b.paid as b_paid, b.credit as b_credit, b.held as b_held, b.credit_line as b_line
             from (select * from ${entries} where (account_id, seq) > ($1, $2) order by account_id, seq limit ${atOnce}) e
             left join seal s on s.account_id = e.account_id and s.seq = e.seq
             left join ${base} b on b.account_id = e.account_id and e.seq = b.seq + 1
             order by e.account_id, e.seq`,
      values: after,
    });
    for (const row of found.rows) {
      const { b_seq, b_at, b_sha256, b_trial, b_paid, b_credit, b_held, b_line, ...entry } = row;
      const point = b_seq !== null && {
        accountId: entry.account_id,
        seq: b_seq as number,
        at: b_at as Date,
        sha256: b_sha256 as Buffer,
        trial: b_trial as number,
        paid: b_paid as number,
        credit: b_credit as number,
        held: b_held as number,
        creditLine: b_line as number,
      };
      yield { ...entry, base: point || undefined };
    }
    if (found.rows.length < atOnce) return;
    const end = found.rows.at(-1)!;
    after = [end.account_id, end.seq];
  }
}
