import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import writeFileAtomic from "write-file-atomic";
import type { Database } from "../database/database.ts";
import { lock } from "../database/locks.ts";
import { inTransaction } from "../database/transaction.ts";
import { createAccount } from "./account.ts";
import { Keys } from "./key.ts";
import { scopes } from "./scope.ts";

const LOCAL_NAME = "local";

/** The secret of the service, its keys, and the account of the person who runs it. */
export interface Identity {
  readonly keys: Keys;
  /** The text of the local account's key. */
  readonly localKey: string;
  /** The secret behind the HMACs of keys and behind sessions. */
  readonly secret: string;
}

/**
 * Opens what the first start creates: the secret (`givenSecret`, or `<data folder>/secret`), the local account, and
 * its key in `<data folder>/local-key`, which only its owner can read and which is the only key stored in clear text.
 * Simultaneous starts take turns.
 */
export async function openIdentity(
  database: Database,
  folder: string,
  givenSecret: string | undefined,
  now: Date,
): Promise<Identity> {
  const turn = await database.connect();
  try {
    await lock(turn, "localAccount");
    const secret = await openPepper(database, folder, givenSecret);
    const keys = new Keys(database, secret);
    return { keys, localKey: await openLocalKey(database, keys, folder, now), secret };
  } finally {
    await turn.end();
  }
}

async function openLocalKey(database: Database, keys: Keys, folder: string, now: Date): Promise<string> {
  const path = join(folder, "local-key");
  const kept = await readText(path);
  if (kept && (await isInForce(keys, kept, now))) return kept;
  const author = { actor: "system", now };
  const found = await database.pool.query<{ id: string }>(
    "select id from account where role = 'admin' and name = $1 order by id limit 1",
    [LOCAL_NAME],
  );
  const text = await inTransaction(database, async (transaction) => {
    const local = { name: LOCAL_NAME, role: "admin", tier: "operator" } as const;
    const id = found.rows[0]?.id ?? (await createAccount(transaction, local, author)).id;
    return (await keys.create(transaction, id, { name: "local key", scopes }, author)).text;
  });
  await writeFileAtomic(path, `${text}\n`, { mode: 0o600 });
  return text;
}

/** Services with different secrets would reject each other's keys, so a second secret on one database is an error. */
async function openPepper(database: Database, folder: string, given: string | undefined): Promise<string> {
  const pepper = given ?? (await keepSecret(join(folder, "secret")));
  const sha256 = pepperFingerprint(pepper);
  await database.pool.query("insert into pepper (sha256) select $1 where not exists (select from pepper)", [
    sha256,
  ]);
  const known = await database.pool.query("select 1 from pepper where sha256 = $1", [sha256]);
  if (known.rowCount === 0)
    throw new Error(
      `The keys in this database were created with another secret. Set DATAQ_SECRET to the secret of the first service (the file "secret" in its data folder).`,
    );
  return pepper;
}

/** Tells whether two services have the same secret, without telling the secret. */
export function pepperFingerprint(secret: string): Buffer {
  return createHash("sha256").update(`dataq pepper ${secret}`).digest();
}

/** The secret that a service on this data folder would use; undefined if its first start would create one. */
export async function findSecret(folder: string, given: string | undefined): Promise<string | undefined> {
  return given ?? (await readText(join(folder, "secret")));
}

async function keepSecret(path: string): Promise<string> {
  const kept = await readText(path);
  if (kept) return kept;
  const secret = randomBytes(32).toString("base64url");
  await writeFileAtomic(path, `${secret}\n`, { mode: 0o600 });
  return secret;
}

async function isInForce(keys: Keys, text: string, now: Date): Promise<boolean> {
  return keys.authenticate(text, "127.0.0.1", now).then(
    () => true,
    () => false,
  );
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, "utf8")).trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
