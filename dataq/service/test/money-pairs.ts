import { createCoupon, redeemCoupon } from "../src/accounts/coupon.ts";
import { createVouchers, redeemVoucher } from "../src/accounts/voucher.ts";
import { forgetSum, passByTwo } from "../src/business/approvals.ts";
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
import { expirePackagesOf, listPackages } from "../src/ledger/package.ts";
import { settle } from "../src/ledger/settlement.ts";
import { setFrozen } from "../src/ledger/wallet.ts";
import { beginCharge } from "../src/payments/auto-top-up.ts";
import { bookNews } from "../src/payments/news.ts";
import type { News } from "../src/payments/provider.ts";
import { type Act, everyOrder, type Interleaver } from "./interleavings.ts";

const now = new Date("2026-05-01T00:00:00Z");
/** After the trial and the package, and after the deadline of the hold. */
const later = new Date("2026-05-02T00:00:00Z");
const why = { actor: "pairs", note: "pair", now };
let serial = 0;

const prices = [35, 40, 70, 80, 90, 440, 455];
/** What a fen buys. */
const FEN = 500;

/** Publishes the prices of the operations. */
export async function preparePairs(database: Database): Promise<void> {
  for (const tokens of prices)
    await database.pool.query("insert into price values ('legal_laws', $1, $2, $2, 'epoch', 'test')", [
      tokens,
      tokens,
    ]);
}

/**
 * An account with 45 trial, 105 paid (45 of a package) and 30 credit tokens left, a hold of 40 and a capture of 35. Its
 * payments, of a fen each: one that was credited and mostly spent, that of the package, and three that are open, for
 * tokens, for a package, and by a saved card.
 */
interface Scene {
  readonly id: string;
  readonly voucher: string;
  readonly coupon: string;
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

const paymentOf = ({ id }: Pick<Scene, "id">, name: string) => `pay_${id}_${name}`;
const author = { actor: "pairs", now };
/** Books what a provider says of a payment. */
const hear = (
  database: Database,
  paymentId: string,
  news: { readonly kind: "paid" } | { readonly kind: "chargeback"; readonly state: "done" | "failed" },
) => {
  const said: News =
    news.kind === "paid"
      ? { paymentId, ...news, transaction: paymentId, amountFen: 1, currency: "CNY" }
      : { paymentId, ...news, providerId: `dispute of ${paymentId}`, amountFen: 1 };
  const rules = { freezeOnChargeback: true, heardBy: "notification", capsExcess: true } as const;
  return inTransaction(database, (transaction) => bookNews(transaction, said, author, rules));
};
const wanted = ({ id }: Scene) => ({
  method: "POST" as const,
  path: `/admin/v1/accounts/${id}/adjust`,
  body: { tokens: 25, reason: "pair" },
  target: id,
  fen: 25 / FEN,
  limitFen: 0,
  isPerson: true,
});

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
  "hold in a project": (scene, place) => (database) =>
    hold(database, { ...took(scene, `new${place}`, 80), project: projectOf(scene) }).then(() => "held"),
  payment: (scene) => (database) => hear(database, paymentOf(scene, "open"), { kind: "paid" }),
  package: (scene) => (database) => hear(database, paymentOf(scene, "wanted"), { kind: "paid" }),
  "package expiry":
    ({ id }) =>
    (database) =>
      expirePackagesOf(database, id, later).then(() => "expired"),
  coupon:
    ({ id, coupon }) =>
    (database) =>
      inTransaction(database, (transaction) => redeemCoupon(transaction, id, coupon, author)),
  chargeback: (scene) => (database) =>
    hear(database, paymentOf(scene, "paid"), { kind: "chargeback", state: "done" }),
  "chargeback of a package": (scene) => (database) =>
    hear(database, paymentOf(scene, "package"), { kind: "chargeback", state: "done" }),
  "charge of a card": (scene) => (database) => hear(database, paymentOf(scene, "card"), { kind: "paid" }),
  "begin a charge":
    ({ id }) =>
    (database) =>
      inTransaction(database, async (transaction) =>
        (await beginCharge(transaction, id, FEN, now)) === undefined ? "not now" : "begun",
      ),
  "second person": (scene) => async (database) => {
    const sum = await passByTwo(database, wanted(scene), { ...author, actor: "user_second" });
    const isDone = await adjust(database, scene.id, 25, why).then(
      () => true,
      () => false,
    );
    if (!isDone) await forgetSum(database, sum);
    return isDone;
  },
};

const projectOf = ({ id }: Scene) => ({
  id: `${id}:project`,
  name: "pair",
  budget: 120,
  month: "2026-05",
  spent: 0,
});

async function makeScene(database: Database): Promise<Scene> {
  const id = `pair_${process.pid}_${++serial}`;
  await database.pool.query(
    "insert into account (id, name, role, tier, created_at) values ($1, 'pair', 'customer', 'standard', $2)",
    [id, now],
  );
  await openWallet(database, id, now);
  const coupon = id.replaceAll("_", "X").toUpperCase();
  const scene = { id, voucher: "", coupon };
  for (const [name, days, card] of [
    ["paid", null, null],
    ["package", 1, null],
    ["open", null, null],
    ["wanted", 30, null],
    ["card", null, "{}"],
  ] as const)
    await database.pool.query(
      `insert into payment (id, account_id, provider, amount_fen, tokens, actor, created_at, expires_at, package_days, card)
       values ($1, $2, 'stripe', 1, $3, 'pairs', $4, $5, $6, $7)`,
      [paymentOf(scene, name), id, name === "wanted" ? 600 : FEN, now, later, days, card],
    );
  await database.pool.query(
    `insert into auto_top_up (account_id, state, low_tokens, amount_fen, most_fen, consented_at, consented_by, attempt, customer, method)
     values ($1, 'on', 1000, 1, 5, $2, 'pairs', $3, 'cus', 'pm')`,
    [id, now, paymentOf(scene, "card")],
  );
  await hear(database, paymentOf(scene, "paid"), { kind: "paid" });
  await charge(database, took(scene, "spent", 440));
  await hear(database, paymentOf(scene, "package"), { kind: "paid" });
  await charge(database, took(scene, "used", 455));
  await grantTrial(database, id, { tokens: 120, expiresAt: new Date(now.getTime() + 3_600_000) }, why);
  await setCreditLimit(database, id, 30, why);
  await hold(database, { ...took(scene, "captured", 35), ...capped(scene) });
  await settle(database, `${id}:captured`, {
    kind: "capture",
    tokens: 35,
    note: "answered",
    now,
    accountId: id,
  });
  await hold(database, { ...took(scene, "held", 40), ...capped(scene) });
  const [voucher = ""] = await inTransaction(database, async (transaction) => {
    await createCoupon(
      transaction,
      { code: coupon, kind: "tokens", value: 55, days: 30, most: 1, expiresAt: null },
      author,
    );
    return createVouchers(transaction, { tokens: 45, count: 1, batch: id }, author);
  });
  // Somebody has asked for a sum that a second person approves.
  await passByTwo(database, wanted(scene), { ...author, actor: "user_first" }).catch(() => {});
  return { ...scene, voucher };
}

/** What anybody can see of an account, without its name. */
async function lookAt(database: Database, { id, coupon }: Scene): Promise<unknown> {
  const one = async (text: string, value: string = id) =>
    (await database.pool.query(text, [value])).rows.map((row) =>
      Object.values(row).join(" ").replaceAll(id, "").replaceAll(coupon, ""),
    );
  // What is left of packages follows from the entries.
  const packages = await listPackages(database, id, now);
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
    project: await one("select tokens from project_spend where project_id = $1 || ':project'"),
    packages: packages.map(({ tokens, left, endedAt }) => [tokens, left, endedAt]),
    payments: await one(
      "select state, tokens, trouble_told::text, card is not null from payment where account_id = $1 order by 1, 2, 3, 4",
    ),
    returns: await one(
      `select r.kind, r.state, r.paid, r.credit, r.lost from payment_return r join payment p on p.id = r.payment_id
       where p.account_id = $1 order by 1, 2, 3, 4, 5`,
    ),
    card: await one("select state, attempt is not null, not_before from auto_top_up where account_id = $1"),
    approvals: await one(
      "select state, asked_by, decided_by from approval where account_id = $1 order by 1, 2, 3",
    ),
    sums: await one("select fen, person from sum_in_flight where account_id = $1"),
    coupon: await one("select redeemed from coupon where code = $1", coupon),
  };
}

export interface Pair {
  readonly names: readonly [string, string];
  readonly orders: number;
  /** The different ends of the orders: what both answered, and what can be seen of the account. */
  readonly ends: ReadonlySet<string>;
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
  plays: "different" | "all" = "different",
): Promise<Pair> {
  const prepare = async () => {
    const scene = await makeScene(database);
    const acts = [operations[first]!(scene, 1), operations[second]!(scene, 2)] as const;
    return { acts, seen: () => lookAt(database, scene) };
  };
  const ends = await everyOrder(interleaver, prepare, plays);
  const alone = await Promise.all([inTurn(database, prepare, [0, 1]), inTurn(database, prepare, [1, 0])]);
  const wrong = [...ends].flatMap(([order, end]) => (alone.includes(end) ? [] : [`${order}: ${end}`]));
  return { names: [first, second], orders: ends.size, ends: new Set(ends.values()), wrong };
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
