import { createHash } from "node:crypto";
import type { Database, Queries } from "../database/database.ts";
import { lockTransaction } from "../database/locks.ts";
import { inTransaction } from "../database/transaction.ts";
import type { Finding } from "../ledger/verify.ts";
import { type AuditLine, auditColumns } from "./audit.ts";

const PIECE = 1_000;

/** A line with the hash of the chain after it. */
export interface SealedLine extends AuditLine {
  readonly sha256: string;
}

/**
 * The end of the chain. A seal that is stored outside the database proves later that no line up to it was removed or
 * rewritten. The chain alone cannot show that its newest lines were removed together with their hashes.
 */
export interface Seal {
  /** The number of lines in the chain. */
  readonly lines: number;
  /** The hash after the last line. */
  readonly sha256: string;
}

/**
 * Appends a batch of the lines that were committed since the last time to the chain: of all lines, or of those from
 * `since` on; see `RecentEntries`. Returns false if there was nothing to seal.
 */
export async function sealAudit(database: Database, now: Date, since?: Date): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    await lockTransaction(transaction, "auditSeal");
    const last = await transaction.query<{ seq: number; sha256: Buffer }>(
      "select seq, sha256 from audit_seal order by seq desc limit 1",
    );
    const { seq, sha256 } = last.rows[0] ?? { seq: 0, sha256: chainStart() };
    const open = await transaction.query<AuditLine>(
      `select ${columns} from audit a where not exists (select from audit_seal s where s.audit_id = a.id)
       ${since ? "and a.at >= $1" : ""} order by id limit ${PIECE}`,
      since && [since],
    );
    const hashes: Buffer[] = [];
    for (const line of open.rows) hashes.push(chainNext(hashes.at(-1) ?? sha256, line));
    await transaction.query(
      `insert into audit_seal (seq, audit_id, sha256, sealed_at)
       select $1 + n, id, hash, $4 from unnest($2::bigint[], $3::bytea[]) with ordinality as line(id, hash, n)`,
      [seq, open.rows.map(({ id }) => id), hashes, now],
    );
    return open.rows.length > 0;
  });
}

/** The sealed lines after line `after` in the order of the chain, read in batches. For a lost line only the ID is known. */
export async function* readSealed(
  queries: Queries,
  after = 0,
): AsyncGenerator<SealedLine & { readonly seq: number; readonly isLost: boolean }> {
  for (let last = after; ; ) {
    const found = await queries.query<SealedLine & { seq: number; isLost: boolean }>(
      `select s.seq, encode(s.sha256, 'hex') as sha256, a.id is null as "isLost", s.audit_id as id, ${columnsButId}
       from audit_seal s left join audit a on a.id = s.audit_id where s.seq > $1 order by s.seq limit ${PIECE}`,
      [last],
    );
    yield* found.rows;
    if (found.rows.length < PIECE) return;
    last = found.rows.at(-1)!.seq;
  }
}

/** The newest seal; undefined before the first one. */
export async function lastSeal(database: Database): Promise<Seal | undefined> {
  const found = await database.pool.query<Seal>(
    "select seq as lines, encode(sha256, 'hex') as sha256 from audit_seal order by seq desc limit 1",
  );
  return found.rows[0];
}

/** The form of `Seal.sha256`: 64 hexadecimal digits. */
export const sealPattern = /^[0-9a-f]{64}$/;

/** Checks that the chain still contains these seals, which were stored elsewhere. */
export async function verifyKept(database: Database, kept: readonly string[]): Promise<Finding> {
  const lost = await database.longReads.query<{ sha256: string }>(
    `select sha256 from unnest($1::text[]) as kept(sha256)
     where not exists (select from audit_seal s where s.sha256 = decode(kept.sha256, 'hex')) limit 5`,
    [kept],
  );
  return {
    law: "A2",
    text: "the audit log has the seals that were stored elsewhere",
    text_zh: "审计日志包含另行保存的封印",
    breaches: lost.rows.map(({ sha256 }) => `the lines that ${sha256} sealed were removed or rewritten`),
  };
}

/**
 * Checks that no sealed line was changed or lost. With the scope `new` it reads only the lines after the last verified
 * one, if there is one and the chain still contains it. If nothing is wrong, the last line becomes the verified one.
 */
export async function verifyAudit(database: Database, scope: "whole" | "new" = "whole"): Promise<Finding> {
  const point = scope === "new" ? await readPoint(database.longReads) : undefined;
  if (point?.isFit === false)
    return {
      ...wholeLaw,
      breaches: [`line ${point.seq} is not what was verified; run "dataq ledger verify --whole"`],
    };
  const breaches: string[] = [];
  let hash = point?.sha256 ?? chainStart();
  let place = point?.seq ?? 0;
  for await (const { seq, isLost, sha256, ...line } of readSealed(database.longReads, place)) {
    place += 1;
    const isNext = seq === place;
    if (!isNext) breaches.push(`a line before line ${line.id} is lost`);
    if (isLost) breaches.push(`line ${line.id} is lost`);
    else if (isNext && chainNext(hash, line).toString("hex") !== sha256)
      breaches.push(`line ${line.id} was changed`);
    // Continue from the stored hash, so that each line is checked on its own.
    hash = Buffer.from(sha256, "hex");
    place = seq;
    if (breaches.length >= 5) break;
  }
  if (breaches.length === 0 && place > 0) await markVerified(database, place, hash, scope);
  return { ...(point ? newLaw : wholeLaw), breaches };
}

const wholeLaw = {
  law: "A1",
  text: "the audit log is as it was written",
  text_zh: "审计日志未被改动",
} as const;

const newLaw = {
  law: "A1",
  text: "the audit log since its last verified line is as it was written",
  text_zh: "审计日志自上次核对的位置起未被改动",
} as const;

/** As in `ledger/checkpoint.ts`: somebody who moves the point must also know this. */
const MARK = (seq: string, sha256: string) =>
  `sha256(convert_to(concat_ws(' ', ${seq}, encode(${sha256}, 'hex')), 'UTF8'))`;

async function readPoint(
  queries: Queries,
): Promise<{ readonly seq: number; readonly sha256: Buffer; readonly isFit: boolean } | undefined> {
  const found = await queries.query<{ seq: number; sha256: Buffer; isFit: boolean }>(
    `select v.seq, v.sha256, v.mark = ${MARK("v.seq", "v.sha256")} and s.sha256 is not distinct from v.sha256 and a.id is not null as "isFit"
     from audit_verified v left join audit_seal s using (seq) left join audit a on a.id = s.audit_id`,
  );
  return found.rows[0];
}

async function markVerified(
  database: Database,
  seq: number,
  sha256: Buffer,
  scope: "whole" | "new",
): Promise<void> {
  await database.longReads.query(
    `insert into audit_verified as v (seq, sha256, mark) values ($1, $2, ${MARK("$1::bigint", "$2::bytea")})
     on conflict (id) do update set seq = excluded.seq, sha256 = excluded.sha256, mark = excluded.mark
     where excluded.seq > v.seq or $3`,
    [seq, sha256, scope === "whole"],
  );
}

function chainStart(): Buffer {
  return createHash("sha256").update("dataq audit log").digest();
}

/**
 * SHA-256 of the previous hash and the line's columns, as a JSON array in the order of `auditColumns` with
 * times in ISO 8601. It can be recomputed from an export.
 */
function chainNext(before: Buffer, line: AuditLine): Buffer {
  const text = JSON.stringify(auditColumns.map((column) => line[column]));
  return createHash("sha256").update(before).update(text).digest();
}

const columns = auditColumns.map((column) => `a.${column}`).join(", ");
const columnsButId = columns.replace("a.id, ", "");
