import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeDataFolder, openFolder, removeDataFolder } from "../../test/data-folder.ts";
import type { Database } from "../database/database.ts";
import { inTransaction } from "../database/transaction.ts";
import { hold } from "./hold.ts";
import { openWallet, reverse, topUp } from "./movement.ts";
import {
  buyPackage,
  createOffer,
  endOffer,
  expirePackagesOf,
  listOffers,
  listPackages,
  packageOfPayment,
  plainTokens,
  reopenPackage,
  returnPackage,
  sweepPackages,
} from "./package.ts";
import { plainOf, type Slice, type Spread, spread } from "./package-spread.ts";
import { settle } from "./settlement.ts";
import { readWallet } from "./wallet.ts";

const DAY = 86_400_000;

/**
 * Another way to say it: a call's tokens are single coins, each of a package or of none, and each keeps where it came
 * from.
 */
test("in every order of entries, each token of a package is used, taken or left, and what comes back goes where it was", () => {
  const step = fc.record({
    what: fc.constantFrom("call", "call", "back", "adjust", "topup", "end"),
    tokens: fc.integer({ min: 1, max: 30 }),
    pick: fc.nat({ max: 50 }),
    day: fc.integer({ min: 0, max: 6 }),
  });
  const sizes = fc.array(
    fc.record({ tokens: fc.integer({ min: 1, max: 40 }), days: fc.integer({ min: 1, max: 5 }) }),
    { minLength: 1, maxLength: 4 },
  );
  const plainRank = 99;
  fc.assert(
    fc.property(sizes, fc.nat({ max: 40 }), fc.array(step, { maxLength: 60 }), (bought, plain, steps) => {
      const slices = bought.map(({ tokens, days }, n) => ({
        id: `pkg_${n}`,
        endsAt: new Date(days * DAY),
        isOpen: true,
        left: tokens,
        taken: 0,
      }));
      const state: Spread = {
        paid: plain + bought.reduce((sum, { tokens }) => sum + tokens, 0),
        slices: slices satisfies Slice[],
        uses: new Map(),
      };
      const coin = (id: string, rank: number, endsAt: number) => ({ id, rank, endsAt });
      const plainCoin = () => coin("", plainRank, Number.POSITIVE_INFINITY);
      const purse = [
        ...[...slices]
          .sort((a, b) => a.endsAt.getTime() - b.endsAt.getTime() || (a.id < b.id ? -1 : 1))
          .flatMap(({ id, left, endsAt }, rank) =>
            Array.from({ length: left }, () => coin(id, rank, endsAt.getTime())),
          ),
        ...Array.from({ length: plain }, plainCoin),
      ];
      const taken = new Map(slices.map(({ id }) => [id, 0]));
      const take = (id: string) => id !== "" && taken.set(id, taken.get(id)! + 1);
      const calls: { id: string; coins: typeof purse }[] = [];
      for (const [n, { what, tokens, pick, day }] of steps.entries()) {
        const at = new Date(day * DAY);
        // A call of an older version of the service may use what has ended, after everything else.
        const late = (one: (typeof purse)[number]) =>
          what === "call" && one.endsAt <= at.getTime() ? 200 : 0;
        purse.sort((a, b) => a.rank + late(a) - b.rank - late(b));
        const paid = Math.min(tokens, purse.length);
        if (what === "topup") {
          purse.push(...Array.from({ length: tokens }, plainCoin));
          spread(state, { requestId: null, paid: tokens, at });
        } else if (what === "adjust" && paid > 0) {
          for (const { id } of purse.splice(purse.length - paid, paid)) take(id);
          spread(state, { requestId: null, paid: -paid, at });
        } else if (what === "call" && paid > 0) {
          const call = { id: `req_${n}`, coins: purse.splice(0, paid) };
          spread(state, { requestId: call.id, paid: -paid, at });
          expect(state.uses.has(call.id)).toBe(call.coins.some(({ id }) => id !== ""));
          calls.push(call);
        } else if (what === "back" && calls.length > 0) {
          const call = calls[pick % calls.length]!;
          const back = Math.min(tokens, call.coins.length);
          if (back === 0) continue;
          call.coins.sort((a, b) => a.rank - b.rank);
          for (const one of call.coins.splice(call.coins.length - back, back)) {
            const isOpen = slices.find(({ id }) => id === one.id)?.isOpen ?? true;
            if (!isOpen) take(one.id);
            purse.push(isOpen ? one : plainCoin());
          }
          spread(state, { requestId: call.id, paid: back, at });
        } else if (what === "end") {
          const slice = slices[pick % slices.length]!;
          if (!slice.isOpen) continue;
          const ended = purse.filter(({ id }) => id === slice.id);
          for (const one of ended) {
            take(one.id);
            purse.splice(purse.indexOf(one), 1);
          }
          Object.assign(slice, { isOpen: false, left: 0, taken: slice.taken + slice.left });
          state.paid -= ended.length;
        }
        for (const { id, left, taken: said } of slices)
          expect([left, said]).toEqual([purse.filter((one) => one.id === id).length, taken.get(id)]);
        expect(plainOf(state)).toBe(purse.filter(({ id }) => id === "").length);
      }
    }),
    { numRuns: 400, seed: 2_026 },
  );
});

describe("packages of an account", () => {
  let folder: string;
  let database: Database;
  const now = new Date("2026-03-01T00:00:00Z");
  const why = { actor: "test", note: "test", now };
  const after = (ms: number) => new Date(now.getTime() + ms);

  beforeAll(async () => {
    folder = await makeDataFolder("tables");
    database = await openFolder(folder);
  }, 60_000);
  afterAll(async () => {
    await database?.close();
    await removeDataFolder(folder);
  });

  let serial = 0;
  async function customer(plain = 0) {
    const id = `acc_${++serial}`;
    await openWallet(database, id, now);
    if (plain > 0) await topUp(database, id, plain, `test:${id}`, why);
    const buy = (tokens: number, priceTokens = tokens, days = 30, paymentId = `pay_${++serial}`) =>
      inTransaction(database, async (transaction) => ({
        paymentId,
        isNew: await buyPackage(
          transaction,
          id,
          { paymentId, tokens, priceTokens, days, reference: `payment:${paymentId}` },
          why,
        ),
      }));
    const held = async (tokens: number, at = now): Promise<string> => {
      const requestId = `req_${++serial}`;
      const call = { accountId: id, keyId: "key_1", operation: "legal_laws", priceVersion: 1, cached: false };
      await hold(database, { ...call, requestId, tokens, instanceId: 0, now: at, deadline: after(1e12) });
      return requestId;
    };
    const end = (requestId: string, tokens: number) =>
      settle(database, requestId, { kind: "capture", tokens, note: "done", now, accountId: id });
    const left = async (at = now) => (await listPackages(database, id, at)).map((one) => one.left);
    const plainLeft = () => inTransaction(database, (transaction) => plainTokens(transaction, id));
    const of = (paymentId: string) =>
      inTransaction(database, (transaction) => packageOfPayment(transaction, id, paymentId));
    const balance = async () => (await readWallet(database, id, now))!.balance;
    const entries = async (kind: string) =>
      (
        await database.pool.query(
          `select paid::int, payments::int, promotions::int, breakage::int, adjustments::int from entry
           where account_id = $1 and kind = $2 order by seq`,
          [id, kind],
        )
      ).rows;
    return { id, buy, held, end, left, plainLeft, of, balance, entries };
  }

  test("a payment buys one package, which lasts its days to the millisecond", async () => {
    const { id, buy, left, balance, entries } = await customer();
    const { paymentId } = await buy(1_100, 1_000);
    expect(await buy(1_100, 1_000, 30, paymentId)).toEqual({ paymentId, isNew: false });
    expect([await balance(), await left()]).toEqual([1_100, [1_100]]);
    const [bought] = await listPackages(database, id, now);
    expect(bought).toMatchObject({ paymentId, tokens: 1_100, priceTokens: 1_000, endsAt: after(30 * DAY) });
    expect([await left(after(30 * DAY - 1)), await left(after(30 * DAY))]).toEqual([[1_100], [0]]);
    expect(await balance()).toBe(0);
    const nothing = { payments: 0, promotions: 0, breakage: 0, adjustments: 0 };
    expect(await entries("expire")).toEqual([{ ...nothing, paid: -1_100, breakage: 1_100 }]);
  });

  test("a package that was used up ends without an entry, and the next call knows its end", async () => {
    const { id, buy, held, end, left, entries } = await customer(50);
    await buy(100, 100, 1);
    await buy(70, 70, 2);
    await end(await held(100), 100);
    await sweepPackages(database, after(DAY));
    expect([await left(after(DAY)), await entries("expire")]).toEqual([[70, 0], []]);
    // Nobody sweeps: the hold itself finds what has ended.
    await expect(held(51, after(2 * DAY))).rejects.toMatchObject({ details: { balance: 50 } });
    expect((await listPackages(database, id, now)).map(({ endedAt }) => endedAt)).toEqual([
      after(2 * DAY),
      after(DAY),
    ]);
  });

  test("an account that never had a package has none to expire, and no tokens that are no package's", async () => {
    const { id, plainLeft, of, left, balance } = await customer(40);
    await expirePackagesOf(database, id, now);
    expect([await plainLeft(), await of("pay_none"), await left()]).toEqual([undefined, undefined, []]);
    expect(await balance()).toBe(40);
  });

  test("the package of a payment is told with what is left of it and beside it", async () => {
    const { buy, held, end, of, plainLeft } = await customer(40);
    const first = await buy(100, 100, 1);
    const second = await buy(70, 70, 2);
    await end(await held(120), 120);
    expect(await of(first.paymentId)).toMatchObject({ package: { tokens: 100, left: 0 }, plain: 40 });
    expect(await of(second.paymentId)).toMatchObject({ package: { tokens: 70, left: 50 }, plain: 40 });
    expect([await of("pay_none"), await plainLeft()]).toEqual([undefined, 40]);
  });

  test("what a call gives back in several entries, long after it took it, goes where it was", async () => {
    const { id, buy, held, end, left, plainLeft } = await customer(60);
    await buy(40);
    const request = await held(100);
    expect([await left(), await plainLeft()]).toEqual([[0], 0]);
    await end(request, 50);
    await reverse(database, request, 30, why);
    // Both were read at once: of 60 plain tokens 60 are back, and 20 of the package.
    expect([await left(), await plainLeft()]).toEqual([[20], 60]);
    const other = await held(30);
    expect(await plainLeft()).toBe(50);
    await settle(database, other, { kind: "void", tokens: 0, note: "failed", now, accountId: id });
    expect([await left(), await plainLeft()]).toEqual([[20], 60]);
  });

  test("a return takes from the package and beside it; what is too much is breakage, what is missing is written off", async () => {
    const back = { kind: "refund", bonus: 5, ends: false } as const;
    const { id, buy, of, left, balance, entries } = await customer(10);
    const { paymentId } = await buy(100, 90);
    const packageId = (await of(paymentId))!.package.id;
    const give = (over: { tokens: number; fromPackage: number; fromPlain: number; ends?: boolean }) =>
      inTransaction(database, (transaction) =>
        returnPackage(
          transaction,
          id,
          packageId,
          { ...back, reference: `back:${++serial}`, ...over },
          { ...why, now: after(1) },
        ),
      );
    await give({ tokens: 30, fromPackage: 36, fromPlain: 1 });
    expect([await left(), await balance()]).toEqual([[64], 73]);
    await give({ tokens: 80, fromPackage: 64, fromPlain: 9, ends: true });
    expect([await left(), await balance()]).toEqual([[0], 0]);
    expect(await entries("refund")).toEqual([
      { paid: -37, payments: 30, promotions: 5, breakage: 2, adjustments: 0 },
      { paid: -73, payments: 80, promotions: 5, breakage: 0, adjustments: -12 },
    ]);
    expect((await of(paymentId))!.package.endedAt).toEqual(after(1));
    await topUp(database, id, 64, "money is back", why);
    await inTransaction(database, (transaction) => reopenPackage(transaction, id, packageId, 64));
    expect((await of(paymentId))!.package).toMatchObject({ left: 64, endedAt: null });
  });

  test("an offer ends once", async () => {
    const offer = { tokens: 1_100, priceFen: 100, days: 30, createdAt: now };
    const nth = ++serial;
    const [a, b, c] = [`pko_${nth}_a`, `pko_${nth}_b`, `pko_${nth}_c`];
    const listed = async () =>
      (await listOffers(database)).map(({ id }) => id).filter((id) => [a, b, c].includes(id));
    for (const id of [b, a]) await createOffer(database, { ...offer, id });
    await createOffer(database, { ...offer, id: c, priceFen: 99 });
    expect(await listed()).toEqual([c, a, b]);
    await endOffer(database, a, now);
    await expect(endOffer(database, a, now)).rejects.toMatchObject({ code: "not_found" });
    expect(await listed()).toEqual([c, b]);
  });
});
