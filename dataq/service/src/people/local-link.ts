import { createHash, randomBytes } from "node:crypto";
import type { Database } from "../database/database.ts";

/** `dataq link` creates another link at any time. */
const LIFE_MS = 12 * 3_600_000;

/** The secret of a link that signs in as the owner of `accountId`, once. Only its digest is stored. */
export async function makeLocalLink(database: Database, accountId: string, now: Date): Promise<string> {
  const token = randomBytes(24).toString("base64url");
  await database.pool.query("delete from people.local_link where expires_at < $1", [now]);
  await database.pool.query(
    "insert into people.local_link (token_sha256, account_id, expires_at) values ($1, $2, $3)",
    [digestOf(token), accountId, new Date(now.getTime() + LIFE_MS)],
  );
  return token;
}

/** Marks a link as used. Returns its account, or undefined if the link is unknown, used or expired. */
export async function takeLocalLink(
  database: Database,
  token: string,
  now: Date,
): Promise<string | undefined> {
  const taken = await database.pool.query<{ account_id: string }>(
    `update people.local_link set used_at = $2
     where token_sha256 = $1 and used_at is null and expires_at > $2 returning account_id`,
    [digestOf(token), now],
  );
  return taken.rows[0]?.account_id;
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
