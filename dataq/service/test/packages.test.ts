import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyBooks } from "../src/accounts/verify.ts";
import { sweepPackages } from "../src/ledger/package.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { PaymentProviders } from "./payment-providers.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Row = any;

const DAY = 86_400_000;
let folder: string;
let providers: PaymentProviders;
let service: InProcessService;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dataq-packages-"));
  providers = await PaymentProviders.start(() => service.nowMs);
  service = await startInProcess(providers.configure(folder));
}, 60_000);
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await providers?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

let serial = 0;
const admin = (path: string, body: object, method = "POST") => service.call(path, { body, method });
/** Of 20 CNY, with a tenth more than 1,000,000 tokens. */
const offer = async (days: number, price_fen = 2_000, tokens = 1_100_000): Promise<string> =>
  (await admin("/admin/v1/packages", { tokens, price_fen, days })).body.id;

async function customer(opening = 0) {
  const { id } = await service.account(opening, { keys: 0 });
  const scopes = ["data:query", "read:account", "manage:billing"];
  const key: string = (await service.call(`/admin/v1/accounts/${id}/keys`, { body: { scopes } })).body
    .keys[0];
  const call = async (path: string, body?: object): Promise<Row> =>
    (await service.call(path, { key, ...(body && { body }) })).body;
  const buy = async (offerId: string, provider = "stripe"): Promise<string> => {
    const payment = (await call("/v1/payments", { provider, package: offerId })).id;
    const { path, headers, body } = providers.pay(payment);
    for (let time = 0; time < 2; time++)
      expect((await service.call(path, { key: null, headers, body })).text).toContain("success");
    return payment;
  };
  /** A question that nobody has asked before; it costs 5,000 tokens. */
  const ask = async (word = "found"): Promise<Row> =>
    service.call("/v1/data/query", {
      key,
      body: { operation: "legal_laws", params: { query: `${word} ${++serial}` } },
    });
  const spend = async (calls: number) => {
    for (let n = 0; n < calls; n++) expect((await ask()).status).toBe(200);
  };
  const left = async (): Promise<number[]> => (await call("/v1/packages")).data.map((one: Row) => one.left);
  const balance = async (): Promise<number> => (await call("/v1/balance")).balance;
  return { id, key, call, buy, ask, spend, left, balance };
}
const refund = (payment: string, amount_fen: number) =>
  admin(`/admin/v1/payments/${payment}/refunds`, { amount_fen, reason: "asked" });
const pass = async (ms: number) => {
  service.nowMs += ms;
  await sweepPackages(service.database, new Date(service.nowMs));
};

test("packages are used before the balance, the one that ends first before the others, and expire by entries of their own", async () => {
  const { buy, spend, left, balance, call, ask } = await customer(20_000);
  await buy(await offer(30));
  // Two of the same moment have no order.
  service.nowMs += 1_000;
  await buy(await offer(10));
  expect(await balance()).toBe(2_220_000);
  await spend(3);
  // Newest first.
  expect(await left()).toEqual([1_085_000, 1_100_000]);
  await pass(10 * DAY);
  expect(await left()).toEqual([0, 1_100_000]);
  expect(await balance()).toBe(1_120_000);
  await spend(2);
  await ask("fail:upstream_error");
  expect(await left()).toEqual([0, 1_090_000]);
  service.nowMs += 20 * DAY;
  // Nobody has swept: the call itself finds that the package has ended.
  await spend(1);
  expect(await balance()).toBe(15_000);
  expect(await left()).toEqual([0, 0]);
  const entries = (await call("/v1/ledger?limit=200")).data as Row[];
  const noted = (note: string) =>
    entries.filter((one) => one.note === note).map(({ kind, tokens }) => [kind, tokens]);
  expect(noted("package expired")).toEqual([
    ["expire", -1_090_000],
    ["expire", -1_085_000],
  ]);
  expect(noted("package")).toEqual([
    ["topup", 1_100_000],
    ["topup", 1_100_000],
  ]);
});

test("calls at once do not spend a package twice, nor one that has ended", async () => {
  const { buy, ask, left, balance } = await customer();
  await buy(await offer(5, 2_000, 1_000_000));
  const answers = await Promise.all(Array.from({ length: 12 }, () => ask()));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect(await left()).toEqual([940_000]);
  service.nowMs += 5 * DAY;
  const late = await Promise.all(Array.from({ length: 6 }, () => ask()));
  expect(late.map(({ body }) => body.code)).toEqual(Array(6).fill("insufficient_balance"));
  expect(await balance()).toBe(0);
});

test("a refund gives back what is left of the price, whole, and ends the package with its bonus; if it fails, the package is there again", async () => {
  const { buy, spend, left, balance } = await customer(7_000);
  const payment = await buy(await offer(30));
  await spend(3);
  for (const amount of [1, 1_969, 1_971, 2_000]) {
    const refused = await refund(payment, amount);
    expect(refused.body.error.param).toBe("amount_fen");
    expect(JSON.stringify(refused.body)).toContain("1970");
  }
  expect((await refund(payment, 1_970)).status).toBe(201);
  expect(await balance()).toBe(7_000);
  expect(await left()).toEqual([0]);
  const { id: refundId } = providers.trades.get(payment)!.refunds[0]!;
  const failed = providers.endRefund(payment, refundId, "failed");
  expect(
    (await service.call(failed.path, { key: null, headers: failed.headers, body: failed.body })).text,
  ).toBe("success");
  expect(await balance()).toBe(1_092_000);
  expect(await left()).toEqual([1_085_000]);
  await pass(30 * DAY);
  expect(await balance()).toBe(7_000);
  expect((await refund(payment, 1_970)).body.error.param).toBe("amount_fen");
});

test("a payment without a package is refunded from other tokens only, and corrections spare packages", async () => {
  const { id, call, buy, spend, left, balance } = await customer();
  const plain = (await call("/v1/payments", { provider: "stripe", amount_fen: 1_000 })).id;
  const notice = providers.pay(plain);
  await service.call(notice.path, { key: null, headers: notice.headers, body: notice.body });
  await buy(await offer(30));
  await spend(1);
  await admin(`/admin/v1/accounts/${id}/adjust`, { tokens: -100_000, reason: "mistake" });
  expect(await left()).toEqual([1_095_000]);
  expect((await refund(plain, 1_000)).body.error.param).toBe("amount_fen");
  expect((await refund(plain, 800)).status).toBe(201);
  expect(await left()).toEqual([1_095_000]);
  expect(await balance()).toBe(1_095_000);
});

test("what is offered is on the price page, has a fair price, and can be ended", async () => {
  const { call, buy } = await customer();
  const id = await offer(30);
  const offered = async () =>
    ((await service.call("/v1/pricing", { key: null })).body.packages as Row[]).map((one) => one.id);
  expect(await offered()).toContain(id);
  for (const tokens of [999_999, 10_000_001]) {
    const refused = await admin("/admin/v1/packages", { tokens, price_fen: 2_000, days: 30 });
    expect(refused.body.error.param, String(tokens)).toBe("tokens");
  }
  const payment = await buy(id);
  expect(await call(`/v1/payments/${payment}`)).toMatchObject({
    amount_fen: 2_000,
    tokens: 1_100_000,
    package: id,
  });
  for (const body of [{ provider: "stripe" }, { provider: "stripe", amount_fen: 1_000, package: id }])
    expect((await call("/v1/payments", body)).error.param).toBe("amount_fen");
  const cheap = await offer(30, 399, 200_000);
  expect(await call("/v1/payments", { provider: "stripe", package: cheap })).toMatchObject({
    detail: expect.stringContaining("the package costs 3.99 CNY, and stripe takes 4.00 to"),
    error: { param: "package" },
  });
  expect(await call("/v1/payments", { provider: "alipay", package: cheap })).toMatchObject({
    amount_fen: 399,
  });
  expect((await service.call(`/admin/v1/packages/${id}`, { method: "DELETE" })).status).toBe(204);
  expect(await offered()).not.toContain(id);
  expect((await call("/v1/payments", { provider: "stripe", package: id })).code).toBe("not_found");
});

test("a chargeback takes the package first and then the balance; a won one gives it back; the board has what packages cost less", async () => {
  const { buy, spend, left, balance } = await customer(3_000);
  const payment = await buy(await offer(30));
  await spend(2);
  const notice = providers.dispute(payment);
  expect(
    (await service.call(notice.path, { key: null, headers: notice.headers, body: notice.body })).text,
  ).toBe("success");
  expect(await left()).toEqual([0]);
  expect(await balance()).toBe(0);
  const seen = (await service.call(`/admin/v1/payments?limit=200`)).body.data.find(
    (one: Row) => one.id === payment,
  );
  expect(seen.lost_tokens).toBe(7_000);
  const won = providers.winDispute(payment);
  await service.call(won.path, { key: null, headers: won.headers, body: won.body });
  expect(await left()).toEqual([1_090_000]);
  expect(await balance()).toBe(1_093_000);
  const { money } = (await service.call("/admin/v1/board?from=2026-03-01&to=2026-12-31")).body;
  expect(money.package_bonus).toBeGreaterThan(0);
  expect(money.package_expired).toBeGreaterThan(0);
});

test("the books balance after all of this", async () => {
  const { findings } = await verifyBooks(service.database);
  expect(findings.flatMap(({ breaches }) => [...breaches])).toEqual([]);
});
