import { afterAll, beforeAll, expect, test } from "vitest";
import { makeDataFolder, openFolder, removeDataFolder } from "../../test/data-folder.ts";
import type { Database } from "../database/database.ts";
import { inTransaction } from "../database/transaction.ts";
import { createAccount } from "./account.ts";
import { readAudit } from "./audit.ts";
import type { ApiKey, NewKey } from "./grant.ts";
import { type EndedKeys, endPersonsKeys, Keys, permitAll } from "./key.ts";
import { makeKeyText } from "./key-text.ts";
import { createProject } from "./project.ts";
import type { Role } from "./scope.ts";

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

/** A person of the account, or of none. */
let people = 0;
async function person(role?: Role): Promise<string> {
  const id = `person ${++people}`;
  await database.query(
    `insert into people."user" ("id", "name", "email", "emailVerified") values ($1, $1, $1 || '@example.com', true)`,
    [id],
  );
  if (role !== undefined)
    await database.query("insert into people.member values ($1, $2, $3, $4)", [id, accountId, role, now]);
  return id;
}

const project = () =>
  inTransaction(database, (transaction) =>
    createProject(transaction, accountId, { name: "p", monthlyBudget: 700, alertPercent: 80 }, author),
  );
const seen = async (id: string) => (await keys.list(accountId)).find((key) => key.id === id) as ApiKey;
const auditOf = async (id: string) =>
  (await readAudit(database, 1_000)).filter(({ target }) => target === id).reverse();
const works = (text: string, ms: number) =>
  keys.authenticate(text, "192.0.2.1", at(ms)).then(
    () => true,
    () => false,
  );

test("a rotated key passes on its rights and its cap, and ends when it was told to", async () => {
  const { id: projectId } = await project();
  const personId = await person("developer");
  const rights: NewKey = {
    mode: "test",
    scopes: ["data:query"],
    monthlyCap: 50,
    projectId,
    sessionBudget: 9,
    perSecond: 3,
    ipList: ["192.0.2.1"],
    expiresAt: at(90_000),
    personId,
  };
  const old = await create(rights);
  expect(old.key).toMatchObject(rights);
  const next = await keys.rotate(accountId, old.key.id, 60, author, permitAll);
  expect(next.key).toMatchObject({ ...rights, spendAs: old.key.id });
  expect([await works(old.text, 59_999), await works(old.text, 60_000)]).toEqual([true, false]);
  expect([await works(next.text, 89_999), await works(next.text, 90_000)]).toEqual([true, false]);
  // A key that ends before that is not prolonged.
  await keys.rotate(accountId, next.key.id, 100, author, permitAll);
  expect((await seen(next.key.id)).expiresAt).toEqual(at(90_000));
  const last = await keys.rotate(accountId, next.key.id, 0, author, permitAll);
  expect(await seen(next.key.id)).toMatchObject({ revokedAt: now, revokedReason: "rotated" });
  expect([await works(next.text, 0), await works(last.text, 0)]).toEqual([false, true]);
  for (const id of [next.key.id, "key_none"])
    await expect(keys.rotate(accountId, id, 0, author, permitAll)).rejects.toMatchObject({
      code: "not_found",
    });
  const after = { to: last.key.id, grace_s: 0 };
  expect(await auditOf(next.key.id)).toContainEqual(expect.objectContaining({ action: "key.rotate", after }));
});

test("a caller is told the project of the key with what it has left, and none without one", async () => {
  const { id } = await project();
  const of = async (wanted: NewKey) =>
    keys.authenticate((await create(wanted)).text, "192.0.2.1", at(-8 * 3_600_000 - 1));
  expect(await of({ projectId: id })).toMatchObject({
    project: { id, name: "p", budget: 700, spent: 0, month: "2026-02" },
  });
  expect(await of({})).not.toHaveProperty("project");
  await expect(create({ projectId: "prj_none" })).rejects.toMatchObject({ code: "not_found" });
});

test("a change leaves what it does not name, and null takes a bound away", async () => {
  const personId = await person("owner");
  const bounds = { monthlyCap: 50, sessionBudget: 9, perSecond: 3, expiresAt: at(90_000), personId };
  const { key } = await create({ ...bounds, name: "first", ipList: ["192.0.2.1"], scopes: ["manage:keys"] });
  const change = (wanted: NewKey) => keys.change(accountId, key.id, wanted, author, permitAll);
  expect(await change({ name: "second" })).toEqual({ ...key, name: "second" });
  const none = { monthlyCap: null, sessionBudget: null, perSecond: null, expiresAt: null, personId: null };
  expect(await change(none)).toMatchObject({ ...none, name: "second", scopes: ["manage:keys"] });
  expect(await change({ ...bounds, ipList: [] })).toMatchObject({ ...bounds, ipList: [] });
  const [, , changed] = await auditOf(key.id);
  expect(changed).toMatchObject({ before: { person: personId }, after: { monthly_cap: null } });
  expect(changed!.after).not.toHaveProperty("person");
  // Whose person may do less than the key is not theirs, also if only the person changes.
  const reader = await person("read-only");
  await expect(change({ personId: reader })).rejects.toMatchObject({ details: { param: "scopes" } });
  expect(await change({ personId: reader, scopes: ["read:account"] })).toMatchObject({ personId: reader });
});

test("a key of a person belongs to a member, and does no more than they may", async () => {
  const [developer, stranger] = [await person("developer"), await person()];
  expect((await create({ personId: developer })).key).toMatchObject({ personId: developer });
  await expect(create({ personId: stranger })).rejects.toMatchObject({ details: { param: "person_id" } });
  await expect(create({ personId: developer, scopes: ["manage:keys"] })).rejects.toMatchObject({
    details: { param: "scopes" },
  });
});

test("keys end with the person who leaves, those that do too much with their role, and the owners are told of these", async () => {
  const end = async (personId: string, role?: Role) => {
    const told: EndedKeys[] = [];
    await inTransaction(database, (transaction) =>
      endPersonsKeys(
        transaction,
        { accountId, personId, ...(role && { role }) },
        author,
        async (ended) => void told.push(ended),
      ),
    );
    return told.map(({ keys: ended }) => ended.map(({ name }) => name));
  };
  const personId = await person("owner");
  const reads = (await create({ personId, name: "reads", scopes: ["read:account"] })).key;
  const asks = (await create({ personId, name: "asks", scopes: ["read:account", "data:query"] })).key;
  await create({ personId: await person("owner"), name: "another's" });
  expect(await end(personId, "developer")).toEqual([]);
  expect(await end(personId, "read-only")).toEqual([["asks"]]);
  expect(await seen(asks.id)).toMatchObject({ revokedAt: now, revokedReason: "role_changed" });
  expect(await seen(reads.id)).toMatchObject({ revokedAt: null });
  expect(await end(personId)).toEqual([["reads"]]);
  expect(await seen(reads.id)).toMatchObject({ revokedReason: "person_left" });
  expect(await end(personId)).toEqual([]);
});

test("a key that was found in public ends once, and what is no key costs no query", async () => {
  const { key, text } = await create({});
  const told: string[] = [];
  const report = (found: string, by = keys) =>
    by.reportLeak(found, author, async ({ id }) => void told.push(id));
  const refusing = new Keys({ pool: { connect: () => Promise.reject(new Error("asked")) } } as never, "");
  expect(await report("dq_live_nothing", refusing)).toBeUndefined();
  expect(await report(makeKeyText("live"))).toBeUndefined();
  expect(await report(text)).toMatchObject({ id: key.id });
  expect(await report(text)).toBeUndefined();
  expect(told).toEqual([key.id]);
  expect(await seen(key.id)).toMatchObject({ revokedReason: "leaked" });
  const reasons: string[] = [];
  for (const given of [text, makeKeyText("live")])
    await keys.authenticate(given, "", now, (reason) => reasons.push(reason)).catch(() => {});
  expect(reasons).toEqual(["revoked", "unknown"]);
});

test("that a key was refused is noted at most once an hour", async () => {
  const { key } = await create({});
  const hour = 3_600_000;
  const noted = async () =>
    (await auditOf(key.id)).filter(({ action }) => action === "key.refused").map(({ at: when }) => when);
  keys.noteRefusal(key, "expired", "192.0.2.1", now);
  await expect.poll(noted).toEqual([now]);
  let asked = 0;
  const connect = () => {
    asked++;
    return Promise.reject(new Error("asked"));
  };
  const counting = new Keys({ pool: { connect } } as never, "");
  const read = await seen(key.id);
  counting.noteRefusal(read, "expired", "192.0.2.1", at(hour - 1));
  expect(asked).toBe(0);
  counting.noteRefusal(read, "expired", "192.0.2.1", at(hour));
  expect(asked).toBe(1);
  // Another instance has read the key before the first refusal.
  keys.noteRefusal(key, "expired", "192.0.2.1", at(hour - 1));
  keys.noteRefusal(read, "expired", "192.0.2.1", at(hour));
  await expect.poll(noted).toEqual([now, at(hour)]);
});
