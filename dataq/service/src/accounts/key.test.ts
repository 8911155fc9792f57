import { afterAll, beforeAll, expect, test } from "vitest";
import { makeDataFolder, openFolder, removeDataFolder } from "../../test/data-folder.ts";
import type { Database } from "../database/database.ts";
import { inTransaction } from "../database/transaction.ts";
import { createAccount } from "./account.ts";
import type { NewKey } from "./grant.ts";
import { Keys } from "./key.ts";

let folder: string;
let database: Database;
let keys: Keys;
let accountId: string;
const now = new Date("2026-03-01T00:00:00Z");
const at = (ms: number) => new Date(now.getTime() + ms);
const author = { actor: "test", now };

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  keys = new Keys(database, "pepper");
  accountId = await inTransaction(database, async (transaction) => {
    const { id } = await createAccount(transaction, { name: "keys" }, author);
    return id;
  });
});
afterAll(async () => {
  await database?.close();
  await removeDataFolder(folder);
});

const create = (wanted: NewKey) =>
  inTransaction(database, (transaction) => keys.create(transaction, accountId, wanted, author));

test("a key ends at the very millisecond of its expiry, and only the service learns why", async () => {
  const { key, text } = await create({ expiresAt: at(1_000) });
  expect(await keys.authenticate(text, "192.0.2.1", at(999))).toMatchObject({ id: key.id });
  const reasons: string[] = [];
  for (const [given, late] of [
    [text, at(1_000)],
    [`${text.slice(0, -1)}${text.endsWith("a") ? "b" : "a"}`, now],
  ] as const)
    await expect(
      keys.authenticate(given, "192.0.2.1", late, (reason) => reasons.push(reason)),
    ).rejects.toMatchObject({ code: "invalid_api_key", details: {} });
  // A key ends with a checksum, so that a mistyped one costs no query.
  expect(reasons).toEqual(["expired", "malformed"]);
  await expect(create({ expiresAt: now })).rejects.toMatchObject({ details: { param: "expires_at" } });
});

test("a key with a list works from its addresses only", async () => {
  const { text } = await create({ ipList: ["192.0.2.0/25"] });
  await keys.authenticate(text, "192.0.2.127", now);
  await expect(keys.authenticate(text, "192.0.2.128", now)).rejects.toMatchObject({ code: "ip_denied" });
});

test("the last use of a key is noted at most once a minute", async () => {
  const { key } = await create({});
  const noted = async () => (await keys.list(accountId)).find(({ id }) => id === key.id)!.lastUsedAt;
  await keys.noteUse(key, now);
  expect(await noted()).toEqual(now);
  // What another instance read before does not set it back or write it again.
  await keys.noteUse(key, at(59_000));
  expect(await noted()).toEqual(now);
  const read = (await keys.list(accountId)).find(({ id }) => id === key.id)!;
  const refusing = new Keys({ pool: { query: () => Promise.reject(new Error("written")) } } as never, "");
  await refusing.noteUse(read, at(59_999));
  await expect(refusing.noteUse(read, at(60_000))).rejects.toThrow("written");
  await keys.noteUse(read, at(60_001));
  expect(await noted()).toEqual(at(60_001));
});
