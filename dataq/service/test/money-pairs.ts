import { createVouchers, redeemVoucher } from "../src/accounts/voucher.ts";
import type { Database } from "../src/database/database.ts";
import { inTransaction } from "../src/database/transaction.ts";
import { charge, hold } from "../src/ledger/hold.ts";
import {
  adjust,
  expireTrial,
  grantTrial,
  openWallet,
  reverse,
  setCreditLimit,
  topUp,
} from "../src/ledger/movement.ts";
import { settle } from "../src/ledger/settlement.ts";
import { setFrozen } from "../src/ledger/wallet.ts";
import { type Act, everyOrder, type Interleaver } from "./interleavings.ts";

const now = new Date("2026-05-01T00:00:00Z");
/** After the trial and after the deadline of the hold. */
const later = new Date("2026-05-02T00:00:00Z");
const why = { actor: "pairs", note: "pair", now };
let serial = 0;

const prices = [35, 40, 70, 80, 90];

/** Publishes the prices of the operations. */
export async function preparePairs(database: Database): Promise<void> {
  for (const tokens of prices)
    await database.pool.query("insert into price values ('legal_laws', $1, $2, $2, 'epoch', 'test')", [
      tokens,
      tokens,
    ]);
}

/** An account with 45 trial, 105 paid and 30 credit tokens left, a hold of 40 and a capture of 35. */
interface Scene {
  readonly id: string;
  readonly voucher: string;
}

type Operation = (scene: Scene, place: number) => Act;

const took = ({ id }: Scene, name: string, tokens: number) => ({
  requestId: `${id}:${name}`,
  accountId: id,
  keyId: `${id}:key`,
  operation: "legal_laws",
  tokens,
  // Each number of tokens is a version of the price.
  priceVersion: tokens,
  cached: false,
  instanceId: 0,
  now,
  deadline: new Date(now.getTime() + 60_000),
});
const capped = (scene: Scene) => ({
  cap: { keyId: `${scene.id}:key`, tokens: 150, month: "2026-05" },
});
const ended = async (database: Database, { id }: Scene, kind: "capture" | "void") =>
  (await settle(database, `${id}:held`, { kind, tokens: 40, note: kind, now, accountId: id })) !== undefined;

/** Everything that moves money of one account, or decides whether it may move. */
export const operations: Readonly<Record<string, Operation>> = {
  hold: (scene, place) => (database) => hold(database, took(scene, `new${place}`, 90)).then(() => "held"),
  "hold under a cap": (scene, place) => (database) =>
    hold(database, { ...took(scene, `new${place}`, 80), ...capped(scene) }).then(() => "held"),
  charge: (scene, place) => (database) =>
    charge(database, took(scene, `new${place}`, 70)).then(() => "charged"),
  capture: (scene) => (database) => ended(database, scene, "capture"),
  void: (scene) => (database) => ended(database, scene, "void"),
  refund:
    ({ id }) =>
    (database) =>
      reverse(database, `${id}:captured`, 35, why).then(() => "refunded"),
  "adjust up":
    ({ id }) =>
    (database) =>
      adjust(database, id, 25, why).then(() => "adjusted"),
  "adjust down":
    ({ id }) =>
    (database) =>
      adjust(database, id, -70, why).then(() => "adjusted"),
  "top up":
    ({ id }) =>
    (database) =>
      topUp(database, id, 60, `${id}:payment`, why),
  voucher:
    ({ id, voucher }) =>
    (database) =>
      inTransaction(database, (transaction) =>
        redeemVoucher(transaction, id, voucher, { actor: "pairs", now }),
      ),
  "credit limit":
    ({ id }) =>
    (database) =>
      setCreditLimit(database, id, 5, why).then(() => "set"),
  freeze:
    ({ id }) =>
    (database) =>
      setFrozen(database, id, true),
  expiry:
    ({ id }) =>
    (database) =>
      expireTrial(database, id, later).then(() => "expired"),
};

async function makeScene(database: Database): Promise<Scene> {
  const id = `pair_${process.pid}_${++serial}`;
  await database.pool.query(
    "insert into account (id, name, role, tier, created_at) values ($1, 'pair', 'customer', 'standard', $2)",
    [id, now],
  );
  await openWallet(database, id, now);
  await grantTrial(database, id, { tokens: 120, expiresAt: new Date(now.getTime() + 3_600_000) }, why);
  await adjust(database, id, 105, why);
  await setCreditLimit(database, id, 30, why);
  const scene = { id, voucher: "" };
  await hold(database, { ...took(scene, "captured", 35), ...capped(scene) });
  await settle(database, `${id}:captured`, {
    kind: "capture",
    tokens: 35,
    note: "answered",
    now,
    accountId: id,
  });
  await hold(database, { ...took(scene, "held", 40), ...capped(scene) });
  const [voucher = ""] = await inTransaction(database, (transaction) =>
    createVouchers(transaction, { tokens: 45, count: 1, batch: id }, { actor: "pairs", now }),
  );
  return { id, voucher };
}

/** What anybody can see of an account, without its name. */
async function lookAt(database: Database, { id }: Scene): Promise<unknown> {
  const one = async (text: string) =>
    (await database.pool.query(text, [id])).rows.map((row) =>
      Object.values(row).join(" ").replaceAll(id, ""),
    );
  return {
    wallet: await one(
      "select trial, paid, credit, credit_limit, held, frozen, trial_expires_at from wallet where account_id = $1",
    ),
    holds: await one(
      "select request_id, tokens, trial, paid, credit from hold where account_id = $1 order by 1",
    ),
    entries: await one(
      "select kind, coalesce(request_id, ''), trial, paid, credit, held from entry where account_id = $1 order by 1, 2, 3, 4, 5, 6",
    ),
    spent: await one("select tokens from key_spend where key_id = $1 || ':key'"),
  };
}

export interface Pair {
  readonly names: readonly [string, string];
  readonly orders: number;
  /** Orders that end in what neither operation after the other ends in. */
  readonly wrong: readonly string[];
}

/**
 * Every order of the statements of two operations on one account. Each must end as one operation after the other
 * ends, in one of both orders.
 */
export async function playPair(
  database: Database,
  interleaver: Interleaver,
  first: string,
  second: string,
): Promise<Pair> {
  const prepare = async () => {
    const scene = await makeScene(database);
    const acts = [operations[first]!(scene, 1), operations[second]!(scene, 2)] as const;
    return { acts, seen: () => lookAt(database, scene) };
  };
  const ends = await everyOrder(interleaver, prepare);
  const alone = await Promise.all([inTurn(database, prepare, [0, 1]), inTurn(database, prepare, [1, 0])]);
  const wrong = [...ends].flatMap(([order, end]) => (alone.includes(end) ? [] : [`${order}: ${end}`]));
  return { names: [first, second], orders: ends.size, wrong };
}

/** One operation after the other, without any interleaving. */
async function inTurn(
  database: Database,
  prepare: () => Promise<{ acts: readonly [Act, Act]; seen(): Promise<unknown> }>,
  turns: readonly [number, number],
): Promise<string> {
  const { acts, seen } = await prepare();
  const answers: unknown[] = [];
  for (const place of turns)
    answers[place] = await acts[place]!(database).catch((error: { code?: string; message: string }) => ({
      failed: error.code ?? error.message,
    }));
  return JSON.stringify({ answers, seen: await seen() });
}
