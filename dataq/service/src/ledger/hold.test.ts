import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isEmbedded, makeDataFolder, openFolder, removeDataFolder } from "../../test/data-folder.ts";
import type { Database } from "../database/database.ts";
import { tryLockTransaction } from "../database/locks.ts";
import { inTransaction } from "../database/transaction.ts";
import { listEntries } from "./entry.ts";
import { gatherStatements, MOST_BATCHES, type RunStatement, runDirectly } from "./gather.ts";
import { charge, hold } from "./hold.ts";
import { claimKey, freeKey, sweepKeys } from "./idempotency.ts";
import { recover, startInstance } from "./instance.ts";
import {
  adjust,
  expireTrial,
  expireTrials,
  grantTrial,
  openWallet,
  reverse,
  setCreditLimit,
  topUp,
} from "./movement.ts";
import { sealEntries } from "./seal.ts";
import { mostSessions, readBudgetLeft, sweepSessions } from "./session-spend.ts";
import { settle } from "./settlement.ts";
import { readWallet, setFrozen } from "./wallet.ts";

let folder: string;
let database: Database;
const now = new Date("2026-03-01T00:00:00Z");
const why = { actor: "test", note: "test", now };
const trialEnd = new Date("2026-05-30T00:00:00Z");

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
}, 60_000);

afterAll(async () => {
  await database.close();
  await removeDataFolder(folder);
});

let serial = 0;
async function account(paid: number, trial = 0): Promise<string> {
  const id = `acc_${++serial}`;
  await openWallet(database, id, now);
  if (paid > 0) await topUp(database, id, paid, `test:${id}`, why);
  if (trial > 0) await grantTrial(database, id, { tokens: trial, expiresAt: trialEnd }, why);
  return id;
}

function call(accountId: string, tokens: number, over = {}) {
  return {
    requestId: `req_${++serial}`,
    accountId,
    keyId: "key_1",
    operation: "legal_laws",
    tokens,
    priceVersion: 1,
    cached: false,
    instanceId: 0,
    now,
    deadline: new Date(now.getTime() + 60_000),
    ...over,
  };
}

async function entriesOf(accountId: string) {
  const found = await database.pool.query(
    "select kind, tokens, balance_after, held, earnings from entry where account_id = $1 order by seq",
    [accountId],
  );
  return found.rows;
}

test("hold and capture move tokens from the balance to earnings", async () => {
  const id = await account(10_000);
  const request = call(id, 5_000);
  expect(await hold(database, request)).toEqual({ balance: 5_000, trialBalance: 0 });
  expect(await readWallet(database, id, now)).toMatchObject({ balance: 5_000, held: 5_000 });
  await settle(database, request.requestId, {
    kind: "capture",
    tokens: 5_000,
    note: "done",
    now,
    accountId: id,
  });
  expect(await readWallet(database, id, now)).toMatchObject({ balance: 5_000, held: 0 });
  expect(await entriesOf(id)).toEqual([
    { kind: "topup", tokens: 10_000, balance_after: 10_000, held: 0, earnings: 0 },
    { kind: "hold", tokens: -5_000, balance_after: 5_000, held: 5_000, earnings: 0 },
    { kind: "capture", tokens: 0, balance_after: 5_000, held: -5_000, earnings: 5_000 },
  ]);
});

test("a void returns everything to the parts it came from", async () => {
  const id = await account(3_000, 4_000);
  const request = call(id, 5_000);
  expect(await hold(database, request)).toEqual({ balance: 2_000, trialBalance: 0 });
  await settle(database, request.requestId, { kind: "void", tokens: 0, note: "failed", now, accountId: id });
  expect(await readWallet(database, id, now)).toMatchObject({
    trialBalance: 4_000,
    paidBalance: 3_000,
    held: 0,
  });
});

test("a capture of less returns the rest; trial tokens are spent first", async () => {
  const id = await account(3_000, 4_000);
  const request = call(id, 5_000);
  await hold(database, request);
  await settle(database, request.requestId, {
    kind: "capture",
    tokens: 2_500,
    note: "half",
    now,
    accountId: id,
  });
  expect(await readWallet(database, id, now)).toMatchObject({
    trialBalance: 1_500,
    paidBalance: 3_000,
    held: 0,
  });
});

test("a hold ends once: the second end moves nothing", async () => {
  const id = await account(10_000);
  const request = call(id, 5_000);
  await hold(database, request);
  const end = { kind: "capture", tokens: 5_000, note: "done", now, accountId: id } as const;
  const ends = await Promise.all([1, 2, 3, 4].map(() => settle(database, request.requestId, end)));
  expect(ends.filter(Boolean)).toHaveLength(1);
  expect(await entriesOf(id)).toHaveLength(3);
});

test("a capture above the hold fails, and the hold stays", async () => {
  const id = await account(10_000);
  const request = call(id, 5_000);
  await hold(database, request);
  const end = { kind: "capture", tokens: 5_001, note: "too much", now, accountId: id } as const;
  expect(await settle(database, request.requestId, end)).toBeUndefined();
  expect(await readWallet(database, id, now)).toMatchObject({ held: 5_000 });
});

test("with too low a balance nothing moves, and the error says how much is missing", async () => {
  const id = await account(4_999);
  await expect(hold(database, call(id, 5_000))).rejects.toMatchObject({
    code: "insufficient_balance",
    details: { required: 5_000, balance: 4_999, shortfall: 1 },
  });
  expect(await entriesOf(id)).toHaveLength(1);
});

test("of 32 parallel holds with money for 7, exactly 7 succeed", async () => {
  const id = await account(35_000);
  const results = await Promise.allSettled(Array.from({ length: 32 }, () => hold(database, call(id, 5_000))));
  expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(7);
  for (const result of results)
    if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "insufficient_balance" });
  expect(await readWallet(database, id, now)).toMatchObject({ balance: 0, held: 35_000 });
});

test("gathered: of 32 parallel holds on two accounts with money for 7 and 3, exactly 7 and 3 succeed", async () => {
  const run = gatherStatements(database);
  const ids = [await account(35_000), await account(15_000)];
  const requests = Array.from({ length: 32 }, (_, i) => call(ids[i % 2]!, 5_000));
  const results = await Promise.allSettled(requests.map((request) => hold(database, request, run)));
  const ok = requests.filter((_, i) => results[i]!.status === "fulfilled");
  expect(ids.map((id) => ok.filter(({ accountId }) => accountId === id).length)).toEqual([7, 3]);
  await Promise.all(
    ok.map(({ requestId, accountId }, i) => {
      const kind = i % 2 === 0 ? "capture" : "void";
      return settle(
        database,
        requestId,
        { kind, tokens: 5_000, note: "end", now, accountId },
        undefined,
        run,
      );
    }),
  );
  const left = await Promise.all(ids.map((id) => readWallet(database, id, now)));
  expect(left.map((wallet) => wallet!.held)).toEqual([0, 0]);
  expect(left.reduce((sum, wallet) => sum + wallet!.balance, 0)).toBe(50_000 - 5 * 5_000);
});

test("gathered: of a simultaneous capture and void of one hold, only the first moves tokens", async () => {
  const run = gatherStatements(database);
  const id = await account(20_000);
  const kinds = ["capture", "void", "capture", "void"] as const;
  const requests = kinds.map(() => call(id, 5_000));
  await Promise.all(requests.map((request) => hold(database, request, run)));
  const ends = await Promise.all(
    requests.flatMap(({ requestId }, i) =>
      [kinds[i]!, kinds[3 - i]!].map((kind) =>
        settle(database, requestId, { kind, tokens: 5_000, note: "end", now, accountId: id }, undefined, run),
      ),
    ),
  );
  expect(ends.map((end) => end !== undefined)).toEqual(kinds.flatMap(() => [true, false]));
  expect(await readWallet(database, id, now)).toMatchObject({ balance: 10_000, held: 0 });
});

test("gathered: calls of one turn are one transaction, also where they have no cap and no project", async () => {
  const run = gatherStatements(database);
  const id = await account(50_000);
  await Promise.all([1, 2, 3].map(() => hold(database, call(id, 5_000), run)));
  const { rows } = await database.pool.query("select distinct xmin::text from hold where account_id = $1", [
    id,
  ]);
  expect(rows).toHaveLength(1);
});

test("gathered: a statement that fails does not affect the others", async () => {
  const run = gatherStatements(database);
  const id = await account(50_000);
  const twice = call(id, 5_000);
  const results = await Promise.allSettled([
    hold(database, call(id, 5_000), run),
    hold(database, twice, run),
    hold(database, twice, run),
    hold(database, call(id, 5_000, { operation: "it's \\ quoted" }), run),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  expect(await readWallet(database, id, now)).toMatchObject({ balance: 35_000, held: 15_000 });
});

test("a statement whose connection is lost, before or after it took effect, takes effect once, and its result is known", async () => {
  const losing = (isDone: boolean): RunStatement => {
    const direct = runDirectly(database);
    let isFirst = true;
    return async (...sent) => {
      if (!isFirst) return direct(...sent);
      isFirst = false;
      if (isDone) await direct(...sent);
      throw Object.assign(new Error("cut off"), { code: "ECONNRESET" });
    };
  };
  // The last charge leaves a balance of nothing, so a repeat finds too little.
  const id = await account(20_000);
  let balance = 20_000;
  for (const isDone of [false, true]) {
    const run = () => losing(isDone);
    const ends = { capture: call(id, 5_000), void: call(id, 5_000) };
    for (const kind of ["void", "capture"] as const) {
      const { requestId } = ends[kind];
      expect(await hold(database, ends[kind], run())).toMatchObject({ balance: balance - 5_000 });
      if (kind === "capture") balance -= 5_000;
      const end = { kind, tokens: 5_000, note: "end", now, accountId: id };
      expect(await settle(database, requestId, end, undefined, run())).toMatchObject({ balance });
    }
    balance -= 5_000;
    expect(await charge(database, call(id, 5_000), undefined, run())).toMatchObject({ balance });
  }
  expect(await readWallet(database, id, now)).toMatchObject({ balance: 0, held: 0 });
  expect(await entriesOf(id)).toHaveLength(1 + 2 * 6);
});

test("a call whose end took effect with its outcome, and whose answer was lost, is known to have ended", async () => {
  const id = await account(10_000);
  const request = call(id, 5_000);
  const claim = { accountId: id, key: "lost", bodySha256: Buffer.from("same"), instanceId: 0, now };
  await claimKey(database, { ...claim, requestId: request.requestId });
  await hold(database, request);
  let answers = 0;
  const query = async (...given: Parameters<Database["pool"]["query"]>) => {
    const answer = await database.pool.query(...given);
    if (answers++ === 0) throw Object.assign(new Error("cut off"), { code: "ECONNRESET" });
    return answer;
  };
  const losing = { ...database, pool: { query } } as unknown as Database;
  const end = { kind: "capture", tokens: 5_000, note: "end", now, accountId: id } as const;
  const kept = { accountId: id, key: "lost", outcome: Buffer.from("the answer") };
  expect(await settle(losing, request.requestId, end, kept)).toMatchObject({ balance: 5_000 });
  expect(await readWallet(database, id, now)).toMatchObject({ balance: 5_000, held: 0 });
});

test("neither charges nor ends with an outcome a call whose Idempotency-Key now belongs to another call", async () => {
  const id = await account(10_000);
  const [first, second] = [call(id, 5_000), call(id, 5_000)];
  const claimOf = ({ requestId }: typeof first) => ({
    accountId: id,
    key: "order",
    bodySha256: Buffer.from("same"),
    requestId,
    instanceId: 0,
    now,
  });
  expect(await claimKey(database, claimOf(first))).toEqual({ state: "claimed" });
  // The answer to the first claim may have been lost.
  expect(await claimKey(database, claimOf(first))).toEqual({ state: "claimed" });
  expect(await claimKey(database, claimOf(second))).toEqual({ state: "running" });
  await hold(database, first);
  await freeKey(database, id, "order", first.requestId);
  expect(await claimKey(database, claimOf(second))).toEqual({ state: "claimed" });
  const kept = { accountId: id, key: "order", outcome: Buffer.from("first") };
  const end = { note: "end", now, accountId: id };
  expect(
    await settle(database, first.requestId, { ...end, kind: "capture", tokens: 5_000 }, kept),
  ).toBeUndefined();
  await expect(charge(database, call(id, 5_000), kept)).rejects.toMatchObject({
    code: "idempotency_conflict",
  });
  const free = { ...end, kind: "void", tokens: 0 } as const;
  expect(await settle(database, first.requestId, free, kept)).toBeUndefined();
  expect(await settle(database, first.requestId, free)).toMatchObject({ balance: 10_000 });
  const ours = { ...kept, outcome: Buffer.from("second") };
  expect(await charge(database, second, ours)).toMatchObject({ balance: 5_000 });
  expect(await claimKey(database, claimOf(first))).toEqual({ state: "finished", outcome: ours.outcome });
});

test("gathered: more statements than a batch takes, from one account and many, all end, and none is an unknown value", async () => {
  const run = gatherStatements(database);
  const ids = await Promise.all(Array.from({ length: 3 }, () => account(1_000_000)));
  const requests = Array.from({ length: 300 }, (_, i) => call(ids[i % 3]!, 1_000));
  await Promise.all(requests.map((request) => hold(database, request, run)));
  const wallets = await Promise.all(ids.map((id) => readWallet(database, id, now)));
  expect(wallets.map((wallet) => wallet!.held)).toEqual([100_000, 100_000, 100_000]);
  const { rows } = await database.pool.query(
    "select distinct spend_month from hold where account_id = any($1)",
    [ids],
  );
  expect(rows).toEqual([{ spend_month: null }]);
});

test("a hold that moved nothing although the balance suffices is tried again, but not for ever", async () => {
  const id = await account(5_000);
  let misses = 0;
  const missing =
    (times: number): RunStatement =>
    async (...given) =>
      misses++ < times ? undefined : runDirectly(database)(...given);
  expect(await hold(database, call(id, 5_000), missing(3))).toMatchObject({ balance: 0 });
  const other = await account(5_000);
  misses = 0;
  await expect(hold(database, call(other, 5_000), missing(9))).rejects.toMatchObject({
    code: "insufficient_balance",
    details: { required: 5_000, balance: 5_000, shortfall: 0 },
  });
  expect(misses).toBe(4);
});

test("a repeat that fails for another reason than the first attempt's success says so", async () => {
  const id = await account(5_000);
  const errors = [{ code: "ECONNRESET" }, { code: "XX000" }];
  const run: RunStatement = (...given) => {
    const error = errors.shift();
    return error
      ? Promise.reject(Object.assign(new Error("it fails"), error))
      : runDirectly(database)(...given);
  };
  await expect(hold(database, call(id, 5_000), run)).rejects.toMatchObject({ code: "XX000" });
  expect(await readWallet(database, id, now)).toMatchObject({ balance: 5_000 });
});

describe("gathered statements", () => {
  const nap = { name: "nap", text: "select pg_sleep($1)", types: ["float8"] };
  const one = { name: "one", text: "select $1::int as one", types: ["int"] };
  const cancel = { name: "cancel", text: "select pg_cancel_backend(pg_backend_pid() + $1)", types: ["int"] };
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  /** A database that tells how many connections are taken, at most at once and in all. */
  const counted = () => {
    const taken = { now: 0, most: 0, all: 0 };
    const connect = async () => {
      taken.most = Math.max(taken.most, ++taken.now);
      taken.all++;
      const client = await database.pool.connect();
      const release = client.release.bind(client);
      client.release = (error) => {
        taken.now--;
        client.release = release;
        release(error);
      };
      return client;
    };
    const pool = new Proxy(database.pool, {
      get: (target, name) => (name === "connect" ? connect : Reflect.get(target, name).bind(target)),
    });
    return { taken, run: gatherStatements({ ...database, pool }) };
  };

  test("take no more connections than they may, and none once all have ended", async () => {
    const { taken, run } = counted();
    const all: Promise<unknown>[] = [];
    for (let round = 0; round < 5; round++) {
      for (const account of ["a", "b"]) all.push(run(nap, [0.02], account));
      await turn();
      await turn();
    }
    await Promise.all(all);
    expect(taken).toMatchObject({ now: 0, most: MOST_BATCHES });
    const { all: before } = taken;
    await run(one, [1], "a");
    await turn();
    expect(taken.all).toBe(before);
  });

  test("that PostgreSQL broke off all fail, because nobody knows what they did, and their connection is not used again", async () => {
    const { run } = counted();
    const closed: unknown[] = [];
    const note = (client: unknown) => closed.push(client);
    database.pool.on("remove", note);
    try {
      const results = await Promise.allSettled([run(cancel, [0], "a"), run(nap, [0.1], "b")]);
      for (const result of results)
        expect(result).toMatchObject({ status: "rejected", reason: { code: "57014" } });
      await expect.poll(() => closed).toHaveLength(1);
    } finally {
      database.pool.off("remove", note);
    }
  });
});

test("keys without an outcome are released after the longest call, others after a day", async () => {
  const id = await account(0);
  const claim = (key: string, requestId: string) => ({
    ...{ accountId: id, key, requestId, bodySha256: Buffer.from(key), instanceId: 0, now },
  });
  for (const key of ["open", "kept"]) await claimKey(database, claim(key, `${key} of ${id}`));
  await database.pool.query("update idempotency set outcome = '' where account_id = $1 and key = 'kept'", [
    id,
  ]);
  const keys = async () =>
    (
      await database.pool.query<{ key: string }>(
        "select key from idempotency where account_id = $1 order by key",
        [id],
      )
    ).rows.map(({ key }) => key);
  const later = (ms: number) => new Date(now.getTime() + ms);
  await recover(database, later(300_000));
  await sweepKeys(database, later(86_400_000));
  expect(await keys()).toEqual(["kept", "open"]);
  await recover(database, later(300_001));
  expect(await keys()).toEqual(["kept"]);
  await sweepKeys(database, later(86_400_001));
  expect(await keys()).toEqual([]);
});

test("a key that was claimed while a clock was ahead is free with the next sweep, and one of another service's clock is not", async () => {
  const id = await account(5_000);
  const claim = (key: string, aheadMs: number) =>
    claimKey(database, {
      ...{ accountId: id, key, requestId: key, bodySha256: Buffer.from(key), instanceId: 0 },
      now: new Date(now.getTime() + aheadMs),
    });
  for (const [key, hours] of [
    ["far", 26],
    ["near", 1],
  ] as const)
    await claim(key, hours * 3_600_000);
  await recover(database, now);
  const left = await database.pool.query("select key from idempotency where account_id = $1", [id]);
  expect(left.rows).toEqual([{ key: "near" }]);
  expect(await claim("far", 0)).toEqual({ state: "claimed" });
});

test("only one process seals at a time", async () => {
  await account(1_000);
  await inTransaction(database, async (transaction) => {
    expect(await tryLockTransaction(transaction, "ledgerSeal")).toBe(true);
    expect(await sealEntries(database, now)).toBeUndefined();
  });
  expect(await sealEntries(database, now)).toBeGreaterThan(0);
});

test("the table itself rejects a balance below zero", async () => {
  const id = await account(1_000);
  for (const column of ["trial", "paid", "credit", "held"])
    await expect(
      database.pool.query(`update wallet set ${column} = -1 where account_id = $1`, [id]),
    ).rejects.toMatchObject({ code: "23514", constraint: `wallet_${column}_not_negative` });
  await expect(
    database.pool.query("update wallet set credit = 1 where account_id = $1", [id]),
  ).rejects.toMatchObject({ constraint: "wallet_credit_within_limit" });
});

test("a frozen account cannot hold, but ends its open holds", async () => {
  const id = await account(10_000);
  const open = call(id, 1_000);
  await hold(database, open);
  await setFrozen(database, id, true);
  await expect(hold(database, call(id, 1))).rejects.toMatchObject({ code: "account_frozen" });
  const end = { kind: "capture", tokens: 1_000, note: "answered", now, accountId: id } as const;
  expect(await settle(database, open.requestId, end)).toMatchObject({ balance: 9_000 });
});

test("the table rejects an unbalanced entry, a change and a deletion", async () => {
  const id = await account(1_000);
  await expect(
    database.pool.query(
      "insert into entry (account_id, seq, at, kind, paid, balance_after, actor, note) values ($1, 99, now(), 'adjust', 5, 5, 'x', 'x')",
      [id],
    ),
  ).rejects.toMatchObject({ constraint: "entry_is_balanced" });
  const owner = await database.connectAsOwner();
  try {
    for (const change of ["update entry set note = 'x'", "delete from entry", "truncate entry"]) {
      // The embedded server has a role for the service that owns nothing.
      await expect(database.query(change)).rejects.toThrow(
        isEmbedded ? "permission denied" : "never changed",
      );
      await expect(owner.query(change)).rejects.toThrow("never changed");
    }
  } finally {
    await owner.end();
  }
});

test("a charge writes hold and capture together", async () => {
  const id = await account(10_000);
  expect(await charge(database, call(id, 2_500, { cached: true }))).toEqual({
    balance: 7_500,
    trialBalance: 0,
  });
  expect(await readWallet(database, id, now)).toMatchObject({ balance: 7_500, held: 0 });
  expect((await entriesOf(id)).map((entry) => [entry.kind, entry.tokens])).toEqual([
    ["topup", 10_000],
    ["hold", -2_500],
    ["capture", 0],
  ]);
});

test("credits the same payment once, and the trial once per account", async () => {
  const id = await account(0);
  expect(await topUp(database, id, 1_000, `pay:${id}`, why)).toBe(true);
  expect(await topUp(database, id, 1_000, `pay:${id}`, why)).toBe(false);
  await expect(topUp(database, "nobody", 1_000, `pay:nobody ${id}`, why)).rejects.toMatchObject({
    code: "not_found",
  });
  const trial = { tokens: 2_000_000, expiresAt: trialEnd };
  const grants = await Promise.all([1, 2, 3].map(() => grantTrial(database, id, trial, why)));
  expect(grants.filter(Boolean)).toHaveLength(1);
  expect(await readWallet(database, id, now)).toMatchObject({ balance: 2_001_000, trialBalance: 2_000_000 });
});

/** What is begun while these wallets are locked: each has looked before the first one moves tokens. */
async function atOnce<Done>(ids: readonly string[], begin: () => Promise<Done>[]) {
  const begun = await inTransaction(database, async (transaction) => {
    await transaction.query("select from wallet where account_id = any($1) for update", [ids]);
    const all = begin();
    const ended = Promise.allSettled(all);
    await expect
      .poll(async () => {
        const waiting = await database.longReads.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return waiting.rowCount;
      })
      .toBe(all.length);
    return { ended };
  });
  return begun.ended;
}

test("a reference that two deliveries credit at the very same time is credited once", async () => {
  const ids = [await account(0), await account(0)];
  const both = await atOnce(ids, () => ids.map((id) => topUp(database, id, 1_000, `pay:${ids}`, why)));
  const told = both.map((one) => (one.status === "fulfilled" ? one.value : one.reason));
  expect(told.toSorted()).toEqual([false, true]);
  const wallets = await Promise.all(ids.map((id) => readWallet(database, id, now)));
  expect(wallets.map((wallet) => wallet!.balance).toSorted()).toEqual([0, 1_000]);
});

test("entries are listed from the newest on, or from those before one", async () => {
  const id = await account(10_000);
  await charge(database, call(id, 100));
  const listed = async (limit: number, before?: number) =>
    (await listEntries(database, id, limit, before)).map(({ seq }) => seq);
  expect([
    await listed(9),
    await listed(2),
    await listed(9, 3),
    await listed(1, 2),
    await listed(9, 1),
  ]).toEqual([[3, 2, 1], [3, 2], [2, 1], [1], []]);
});

test("a project's budget holds although the caller knows an old sum, and other faults stay what they are", async () => {
  const id = await account(100_000);
  const project = { id: `prj_1 of ${id}`, name: "reports", budget: 10_000, month: "2026-12", spent: 0 };
  const spend = (tokens: number, over = {}) => hold(database, call(id, tokens, { project, ...over }));
  const requestId = `req_project of ${id}`;
  await spend(8_000, { requestId });
  const details = { budget: 10_000, spent: 8_000, required: 2_001, resets_at: "2027-01-01T00:00:00+08:00" };
  const refused = { code: "project_budget_reached", details };
  await expect(spend(2_001)).rejects.toMatchObject(refused);
  await expect(spend(2_001, { project: { ...project, spent: 8_000 } })).rejects.toMatchObject(refused);
  await expect(spend(1_000, { requestId })).rejects.toMatchObject({ code: "23505" });
  await spend(2_000, { project: { ...project, spent: 8_000 } });
  await spend(50_000, { project: { ...project, id: `prj_2 of ${id}`, budget: null } });
  expect(await readWallet(database, id, now)).toMatchObject({ balance: 40_000, held: 60_000 });
});

test("an expired trial is not spent, and is removed from the balance", async () => {
  const id = await account(6_000, 4_000);
  const later = new Date(trialEnd.getTime() + 1);
  expect(await hold(database, call(id, 5_000, { now: later }))).toEqual({ balance: 1_000, trialBalance: 0 });
  expect((await entriesOf(id)).map((entry) => entry.kind)).toEqual(["topup", "grant", "expire", "hold"]);
  await expireTrial(database, id, later);
  expect(await entriesOf(id)).toHaveLength(4);
});

test("a trial is over at the very instant of its expiry, and not a millisecond before", async () => {
  const before = new Date(trialEnd.getTime() - 1);
  const last = await account(6_000, 4_000);
  expect(await readWallet(database, last, before)).toMatchObject({ balance: 10_000, trialBalance: 4_000 });
  await expireTrial(database, last, before);
  await expireTrials(database, before);
  expect(await hold(database, call(last, 10_000, { now: before }))).toEqual({ balance: 0, trialBalance: 0 });

  const [read, held, taken, swept] = [
    await account(6_000, 4_000),
    await account(6_000, 4_000),
    await account(6_000, 4_000),
    await account(6_000, 4_000),
  ];
  expect(await readWallet(database, read!, trialEnd)).toMatchObject({ balance: 6_000, trialBalance: 0 });
  expect(await hold(database, call(held!, 5_000, { now: trialEnd }))).toEqual({
    balance: 1_000,
    trialBalance: 0,
  });
  await expireTrial(database, taken!, trialEnd);
  await expireTrials(database, trialEnd);
  for (const id of [read, held, taken, swept])
    expect((await entriesOf(id!)).filter(({ kind }) => kind === "expire")).toHaveLength(1);
});

test("a trial is over for a call that came before its end and moves after a later movement", async () => {
  const id = await account(6_000, 4_000);
  // Another service, whose clock is ahead, or which had the wallet first.
  await adjust(database, id, 1_000, { ...why, now: trialEnd });
  expect(await hold(database, call(id, 5_000))).toEqual({ balance: 2_000, trialBalance: 0 });
  expect((await entriesOf(id)).map(({ kind }) => kind)).toEqual([
    "topup",
    "grant",
    "adjust",
    "expire",
    "hold",
  ]);
});

test("a credit line is spent last, repaid first, and cannot be reduced below what is used", async () => {
  const id = await account(1_000);
  await setCreditLimit(database, id, 10_000, why);
  await charge(database, call(id, 5_000));
  expect(await readWallet(database, id, now)).toMatchObject({
    balance: 6_000,
    paidBalance: 0,
    creditBalance: 6_000,
  });
  await setCreditLimit(database, id, 0, why);
  expect(await readWallet(database, id, now)).toMatchObject({ balance: 0, creditLimit: 4_000 });
  await topUp(database, id, 5_000, `pay:${id}`, why);
  expect(await readWallet(database, id, now)).toMatchObject({ paidBalance: 1_000, creditBalance: 4_000 });
});

test("a hold on credit that is voided after the line was repaid goes to paid", async () => {
  const id = await account(0);
  await setCreditLimit(database, id, 5_000, why);
  const request = call(id, 5_000);
  await hold(database, request);
  await topUp(database, id, 5_000, `pay:${id}`, why);
  await settle(database, request.requestId, { kind: "void", tokens: 0, note: "failed", now, accountId: id });
  expect(await readWallet(database, id, now)).toMatchObject({
    creditBalance: 5_000,
    paidBalance: 5_000,
    held: 0,
  });
});

test("an adjustment of an empty balance says in both languages that only a positive number can be sent", async () => {
  const id = await account(0);
  await expect(adjust(database, id, -1, why)).rejects.toMatchObject({
    details: { details: [{ fix: "send a positive number", fixZh: "余额为 0，请发送正数" }] },
  });
  await adjust(database, id, 7, why);
  await expect(adjust(database, id, -8, why)).rejects.toMatchObject({
    details: { details: [{ fix: "send at least -7", fixZh: "至少 -7" }] },
  });
});

test("an account that does not exist is not frozen, has no credit line, and cannot hold", async () => {
  await expect(setCreditLimit(database, "acc_none", 1, why)).rejects.toMatchObject({ code: "not_found" });
  expect(await setFrozen(database, await account(0), true)).toBe(true);
  expect(await setFrozen(database, "acc_none", true)).toBe(false);
  await expect(hold(database, call("nobody", 1))).rejects.toThrow("The account nobody has no wallet.");
});

test("an adjustment downwards stops at zero", async () => {
  const id = await account(1_000, 500);
  await adjust(database, id, -1_200, why);
  expect(await readWallet(database, id, now)).toMatchObject({ paidBalance: 0, trialBalance: 300 });
  await expect(adjust(database, id, -301, why)).rejects.toMatchObject({
    code: "invalid_params",
    details: { param: "tokens" },
  });
});

test("refunds a charge once, and at most in full", async () => {
  const id = await account(10_000);
  const request = call(id, 5_000);
  await charge(database, request);
  const refund = (tokens: number) => reverse(database, request.requestId, tokens, why);
  await expect(refund(5_001)).rejects.toMatchObject({ code: "not_found" });
  expect(await refund(5_000)).toMatchObject({ balance: 10_000 });
  await expect(refund(1)).rejects.toMatchObject({ code: "already_exists" });
});

test("of two refunds at the very same time one succeeds, and the other fails", async () => {
  const id = await account(10_000);
  const request = call(id, 5_000);
  await charge(database, request);
  const refund = () => reverse(database, request.requestId, 5_000, why);
  const [one, other] = (await atOnce([id], () => [refund(), refund()])).toSorted((a, b) =>
    a.status.localeCompare(b.status),
  );
  expect(one).toMatchObject({ status: "fulfilled", value: { balance: 10_000 } });
  expect(other).toMatchObject({ status: "rejected", reason: { code: "already_exists" } });
  expect(await readWallet(database, id, now)).toMatchObject({ balance: 10_000 });
});

test("a refund returns to each part of the wallet what was charged to it, the last spent first", async () => {
  const id = await account(2_000, 1_000);
  await setCreditLimit(database, id, 3_000, why);
  const spend = async () => {
    const request = call(id, 5_000);
    await charge(database, request);
    expect(await readWallet(database, id, now)).toMatchObject({ balance: 1_000, creditBalance: 1_000 });
    return request.requestId;
  };
  const parts = async () => {
    const { trialBalance, paidBalance, creditBalance } = (await readWallet(database, id, now))!;
    return { trialBalance, paidBalance, creditBalance };
  };
  // 1,000 of the trial, 2,000 paid and 2,000 credit were spent.
  await reverse(database, await spend(), 5_000, why);
  expect(await parts()).toEqual({ trialBalance: 1_000, paidBalance: 2_000, creditBalance: 3_000 });
  await reverse(database, await spend(), 4_500, why);
  expect(await parts()).toEqual({ trialBalance: 500, paidBalance: 2_000, creditBalance: 3_000 });
});

test("a refund of trial tokens never creates paid tokens, even if the capture was smaller than the hold", async () => {
  const id = await account(0, 9_000);
  const request = call(id, 5_000);
  await hold(database, request);
  await settle(database, request.requestId, {
    kind: "capture",
    tokens: 2_000,
    note: "part",
    now,
    accountId: id,
  });
  await expect(reverse(database, request.requestId, 2_001, why)).rejects.toMatchObject({ code: "not_found" });
  await reverse(database, request.requestId, 2_000, why);
  expect(await readWallet(database, id, now)).toMatchObject({ trialBalance: 9_000, paidBalance: 0 });
});

test("a refund of credit above a reduced credit line becomes paid tokens", async () => {
  const id = await account(0);
  await setCreditLimit(database, id, 3_000, why);
  const request = call(id, 3_000);
  await charge(database, request);
  await topUp(database, id, 3_000, `pay:${id}`, why);
  await setCreditLimit(database, id, 1_000, why);
  await reverse(database, request.requestId, 3_000, why);
  expect(await readWallet(database, id, now)).toMatchObject({
    creditBalance: 1_000,
    creditLimit: 1_000,
    paidBalance: 3_000,
  });
});

test("a key's monthly cap holds under parallel calls, and a void frees it again", async () => {
  const id = await account(1_000_000);
  const keyId = `key of ${id}`;
  const cap = { keyId, tokens: 15_000, month: "2026-03" };
  const requests = Array.from({ length: 8 }, () => call(id, 5_000, { keyId, cap }));
  const results = await Promise.allSettled(requests.map((request) => hold(database, request)));
  expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(3);
  expect(results.find((result) => result.status === "rejected")).toMatchObject({
    reason: { code: "spend_limit_reached" },
  });
  const first = requests[results.findIndex((result) => result.status === "fulfilled")]!;
  await settle(database, first.requestId, { kind: "void", tokens: 0, note: "failed", now, accountId: id });
  await hold(database, call(id, 5_000, { keyId, cap }));
  const { rows } = await database.pool.query("select tokens from key_spend where key_id = $1", [keyId]);
  expect(rows).toEqual([{ tokens: 15_000 }]);
});

test("a key that shares the cap of another one gives back to that cap what a call did not cost", async () => {
  const id = await account(1_000_000);
  const cap = { keyId: `parent of ${id}`, tokens: 10_000, month: "2026-03" };
  const [voided, lower] = [1, 2].map((n) => call(id, 5_000, { keyId: `child ${n} of ${id}`, cap }));
  for (const one of [voided!, lower!]) await hold(database, one);
  await expect(hold(database, call(id, 1, { cap }))).rejects.toMatchObject({ code: "spend_limit_reached" });
  const end = { note: "done", now, accountId: id };
  await settle(database, voided!.requestId, { ...end, kind: "void", tokens: 0 });
  await settle(database, lower!.requestId, { ...end, kind: "capture", tokens: 2_000 });
  const { rows } = await database.pool.query("select key_id, tokens from key_spend where key_id like $1", [
    `% of ${id}`,
  ]);
  expect(rows).toEqual([{ key_id: cap.keyId, tokens: 2_000 }]);
});

test("parallel holds and settlements of a capped key do not deadlock", async () => {
  const id = await account(10_000_000);
  const keyId = `key of ${id}`;
  const cap = { keyId, tokens: 10_000_000, month: "2026-03" };
  const pairs = Array.from({ length: 40 }, async () => {
    const request = call(id, 5_000, { keyId, cap });
    await hold(database, request);
    await settle(database, request.requestId, { kind: "void", tokens: 0, note: "x", now, accountId: id });
  });
  await Promise.all(pairs);
  const spent = await database.pool.query("select tokens from key_spend where key_id = $1", [keyId]);
  expect(spent.rows).toEqual([{ tokens: 0 }]);
});

test("recovery voids the holds of a dead instance, and not those of a live one", async () => {
  const id = await account(10_000);
  const living = await startInstance(database, now);
  const dead = await startInstance(database, now);
  await hold(database, call(id, 1_000, { instanceId: living.id }));
  const lost = call(id, 2_000, { instanceId: dead.id });
  await hold(database, lost);
  expect(await recover(database, now)).toBe(0);
  // Simulates a SIGKILL: the session ends and the row remains.
  await database.pool.query(
    "select pg_terminate_backend(pid, 30000) from pg_locks where locktype = 'advisory' and objid = $1",
    [dead.id],
  );
  await dead.close();
  await database.pool.query(
    "insert into instance (id, started_at) overriding system value values ($1, now()) on conflict do nothing",
    [dead.id],
  );
  // PostgreSQL may notice a moment later that a session has ended.
  await expect.poll(() => recover(database, now), { timeout: 10_000 }).toBe(1);
  expect(await readWallet(database, id, now)).toMatchObject({ balance: 9_000, held: 1_000 });
  const afterDeadline = new Date(now.getTime() + 61_000);
  expect(await recover(database, afterDeadline)).toBeGreaterThanOrEqual(1);
  expect(await readWallet(database, id, now)).toMatchObject({ balance: 10_000, held: 0 });
  await living.close();
});

test("a service that closes while it connects again leaves no session behind that proves it alive", async () => {
  let connect = () => {};
  const asked = new Promise<void>((resolve) => {
    connect = resolve;
  });
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  let isFirst = true;
  const instance = await startInstance(
    {
      ...database,
      connect: async () => {
        if (!isFirst) {
          connect();
          await gate;
        }
        isFirst = false;
        return database.connect();
      },
    },
    now,
  );
  await database.pool.query(
    "select pg_terminate_backend(pid, 30000) from pg_locks where locktype = 'advisory' and objid = $1",
    [instance.id],
  );
  await asked;
  await instance.close();
  go();
  // Its row is back, and whoever recovers finds nobody behind it.
  const rows = () => database.pool.query("select from instance where id = $1", [instance.id]);
  await expect.poll(async () => (await rows()).rowCount).toBe(1);
  await expect
    .poll(async () => {
      await recover(database, now);
      return (await rows()).rowCount;
    })
    .toBe(0);
});

describe("the budget of a session", () => {
  const budget = { session: "id a", tokens: 20_000 };
  const spent = async (accountId: string, at = now) => {
    const enough = { ...budget, tokens: 1_000_000 };
    return 1_000_000 - (await readBudgetLeft(database, accountId, enough, at));
  };
  const end = (requestId: string, accountId: string, tokens: number) =>
    settle(database, requestId, {
      kind: tokens > 0 ? "capture" : "void",
      tokens,
      note: "done",
      now,
      accountId,
    });

  test("is never exceeded by calls at the same time", async () => {
    const id = await account(1_000_000);
    const calls = Array.from({ length: 12 }, (_, place) =>
      place % 2 === 0
        ? hold(database, call(id, 3_000, { budget }))
        : charge(database, call(id, 3_000, { budget, cached: true })),
    );
    const outcomes = await Promise.allSettled(calls);
    const refused = outcomes.filter((one) => one.status === "rejected");
    expect(refused.map(({ reason }) => reason.code)).toEqual(Array(6).fill("budget_exceeded"));
    expect(refused[0]!.reason.details).toEqual({ required: 3_000, budget: 20_000, left: 2_000 });
    expect(await readWallet(database, id, now)).toMatchObject({ balance: 1_000_000 - 18_000 });
    expect(await spent(id)).toBe(18_000);
  });

  test("gets back what a call did not cost", async () => {
    const id = await account(1_000_000);
    const [whole, part, none] = [
      call(id, 5_000, { budget }),
      call(id, 5_000, { budget }),
      call(id, 10_000, { budget }),
    ];
    for (const one of [whole, part, none]) await hold(database, one);
    expect(await spent(id)).toBe(20_000);
    await end(whole.requestId, id, 5_000);
    await end(part.requestId, id, 2_000);
    await end(none.requestId, id, 0);
    expect(await spent(id)).toBe(7_000);
  });

  test("belongs to one session of one account, until a day after its last call", async () => {
    const [id, other] = [await account(1_000_000), await account(1_000_000)];
    await charge(database, call(id, 20_000, { budget }));
    await expect(charge(database, call(id, 1, { budget }))).rejects.toMatchObject({
      code: "budget_exceeded",
    });
    await charge(database, call(other, 20_000, { budget }));
    await charge(database, call(id, 20_000, { budget: { ...budget, session: "id b" } }));
    // A higher budget counts what was spent under the lower one.
    await charge(database, call(id, 1_000, { budget: { ...budget, tokens: 21_000 } }));
    const later = (ms: number) => new Date(now.getTime() + 86_400_000 + ms);
    await expect(charge(database, call(id, 1, { budget, now: later(0) }))).rejects.toMatchObject({
      code: "budget_exceeded",
    });
    await sweepSessions(database, later(0));
    expect(await spent(id)).toBe(21_000);
    await charge(database, call(id, 20_000, { budget, now: later(1) }));
    expect(await spent(id, later(1))).toBe(20_000);
    await sweepSessions(database, later(86_400_002));
    expect(
      (await database.pool.query("select from session_spend where account_id = $1", [id])).rowCount,
    ).toBe(0);
  });

  test("refuses more sessions than an account may have", async () => {
    const id = await account(1_000_000);
    await database.pool.query(
      "insert into session_spend select $1, 'id ' || n, 1, $2 from generate_series(1, $3) n",
      [id, now, mostSessions],
    );
    await expect(charge(database, call(id, 10, { budget }))).rejects.toMatchObject({
      code: "too_many_sessions",
    });
    expect(await readWallet(database, id, now)).toMatchObject({ balance: 1_000_000 });
    await charge(database, call(id, 10, { budget: { session: "id 7", tokens: 11 } }));
    // A budget that exactly suffices is not what is missing.
    await expect(
      charge(database, call(id, 10, { budget: { session: "id new", tokens: 10 } })),
    ).rejects.toMatchObject({ code: "too_many_sessions" });
    await expect(
      charge(database, call(id, 11, { budget: { session: "id new", tokens: 10 } })),
    ).rejects.toMatchObject({ code: "budget_exceeded" });
  });

  test("is kept when the key has a monthly limit too", async () => {
    const id = await account(1_000_000);
    const cap = { keyId: `key_of_${id}`, tokens: 6_000, month: "2026-03" };
    await hold(database, call(id, 5_000, { budget, cap }));
    await expect(hold(database, call(id, 5_000, { budget, cap }))).rejects.toMatchObject({
      code: "spend_limit_reached",
    });
    expect(await spent(id)).toBe(5_000);
    const low = { session: "id low", tokens: 500 };
    await expect(hold(database, call(id, 1_000, { budget: low, cap }))).rejects.toMatchObject({
      code: "budget_exceeded",
    });
    await hold(database, call(id, 1_000, { budget, cap }));
  });
});
