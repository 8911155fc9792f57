import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type InProcessService, startInProcess } from "./in-process.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Row = any;

let service: InProcessService;
let folder: string;
/** 100 CNY */
const LIMIT = 100;
const TOKENS = 50_000;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dataq-four-eyes-"));
  const payments = join(folder, "payments.json");
  writeFileSync(payments, JSON.stringify({ bank: { payee: "运营公司", account: "6222", bank: "ICBC" } }), {
    mode: 0o600,
  });
  service = await startInProcess({ DATAQ_FOUR_EYES: String(LIMIT), DATAQ_PAYMENTS: payments });
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

type Operator = (path: string, body?: object, method?: string) => Promise<Row>;
const operators = new Map<string, Promise<Operator>>();

/** Somebody who is signed in with a role in the operator's account. One address signs up few. */
function operator(name: string, role: string): Promise<Operator> {
  const known = operators.get(name) ?? signUp(name, role);
  operators.set(name, known);
  return known;
}

async function signUp(name: string, role: string): Promise<Operator> {
  const email = `${name}@x.example`;
  const password = "correct horse battery";
  const headers = { "content-type": "application/json", "x-console": "1" };
  const send = (path: string, body: object) =>
    fetch(`${service.url}/console/auth/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  await send("sign-up/email", { email, password, name });
  const answer = await send("sign-in/email", { email, password });
  const { id } = (await service.call("/v1/account")).body;
  await service.database.query(
    `with who as (update people."user" set "accountId" = $2 where "email" = $1 returning "id")
     update people.member set account_id = $2, role = $3 where user_id = (select "id" from who)`,
    [email, id, role],
  );
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0])
    .join("; ");
  return async (path, body, method = body ? "POST" : "GET") => {
    const got = await fetch(service.url + path, {
      method,
      headers: { ...headers, cookie },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: got.status, body: await got.json() };
  };
}

test("a large sum needs a second person, who sends the same request, once", async () => {
  const [anna, bo, reader] = [
    await operator("anna", "finance"),
    await operator("bo", "finance"),
    await operator("rita", "read-only"),
  ];
  const { id, keys } = await service.account(0);
  const balance = async () => (await service.call("/v1/balance", { key: keys[0]! })).body.balance;
  const path = `/admin/v1/accounts/${id}/adjust`;
  const large = { tokens: (LIMIT + 1) * TOKENS, reason: "因故障补偿" };

  // Keys cannot, because one person may have a key and a session.
  expect((await service.call(path, { body: large })).body.code).toBe("person_required");
  const asked = await anna(path, large);
  expect(asked).toMatchObject({ status: 409, body: { code: "approval_needed" } });
  // Asking again changes nothing, not even in another order of the fields.
  const again = await anna(path, { reason: large.reason, tokens: large.tokens });
  expect(again.body.detail).toBe(asked.body.detail);
  expect(await balance()).toBe(0);
  // Another sum is another question, and whoever may not move money cannot approve.
  expect((await bo(path, { ...large, tokens: large.tokens + 1 })).body.code).toBe("approval_needed");
  expect((await reader(path, large)).body.code).toBe("scope_denied");
  expect(await balance()).toBe(0);
  const both = await Promise.all([bo(path, large), bo(path, large)]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(await balance()).toBe(large.tokens);

  const list = (await reader("/admin/v1/approvals")).body.data;
  expect(list.map(({ state }: { state: string }) => state).sort()).toEqual([
    "approved",
    "waiting",
    "waiting",
  ]);
  const done = list.find(({ state }: { state: string }) => state === "approved");
  expect(done).toMatchObject({ account_id: id, fen: (LIMIT + 1) * 100, body: large });
  expect(done.decided_by).not.toBe(done.asked_by);
  const actions = (await service.call("/admin/v1/audit")).body.data.map(({ action }: Row) => action);
  expect(actions).toEqual(expect.arrayContaining(["approval.ask", "approval.give", "ledger.adjust"]));
});

test("small sums that are large together count as one, also by a key and in other ways; a rejected one is gone", async () => {
  const [carl, dora] = [await operator("carl", "owner"), await operator("dora", "owner")];
  const { id, keys } = await service.account(30 * TOKENS);
  const top = (n: number) => ({
    path: `/admin/v1/accounts/${id}/topups`,
    body: { tokens: 40 * TOKENS, reference: `small ${n}` },
  });
  const first = top(1);
  expect((await service.call(first.path, { body: first.body })).status).toBe(201);
  const adjust = `/admin/v1/accounts/${id}/adjust`;
  expect((await service.call(adjust, { body: { tokens: -20 * TOKENS, reason: "x" } })).status).toBe(200);
  const third = top(3);
  expect((await service.call(third.path, { body: third.body })).status).toBe(201);
  const fourth = top(4);
  expect((await service.call(fourth.path, { body: fourth.body })).body.code).toBe("person_required");
  // What the key asked for is not stored, so one person cannot approve it.
  expect((await carl(fourth.path, fourth.body)).body.code).toBe("approval_needed");
  const waiting = (await carl("/admin/v1/approvals")).body.data.find(
    ({ state, account_id }: Row) => state === "waiting" && account_id === id,
  );
  expect((await dora(`/admin/v1/approvals/${waiting.id}/reject`, {})).body.state).toBe("rejected");
  expect((await dora(`/admin/v1/approvals/${waiting.id}/reject`, {})).status).toBe(404);
  // After the rejection, the second person begins anew.
  expect((await dora(fourth.path, fourth.body)).body.code).toBe("approval_needed");
  // A day later, the sums before do not count.
  service.nowMs += 86_400_001;
  expect((await service.call(fourth.path, { body: fourth.body })).status).toBe(201);
  expect((await service.call("/v1/balance", { key: keys[0]! })).body.balance).toBe(130 * TOKENS);
});

test("sums at once see each other, and credit lines, new accounts and vouchers count", async () => {
  service.nowMs += 86_400_001;
  const [erin, finn] = [await operator("erin", "owner"), await operator("finn", "finance")];
  const { id } = await service.account(0);
  const path = `/admin/v1/accounts/${id}`;
  const send = (to: string, body: object, method = "POST") => service.call(to, { method, body });
  const many = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      send(`${path}/adjust`, { tokens: 30 * TOKENS, reason: `at once ${n}` }),
    ),
  );
  expect(many.map(({ status }) => status).sort()).toEqual([200, 200, 200, 403, 403, 403, 403, 403]);
  // A sum that is refused for another reason moves nothing.
  expect((await send(`${path}/adjust`, { tokens: 10 * TOKENS })).status).toBe(400);
  expect((await send(`${path}/adjust`, { tokens: 10 * TOKENS, reason: "the last" })).status).toBe(200);

  const credit = (yuan: number) => send(path, { credit_limit: yuan * TOKENS }, "PATCH");
  expect((await credit(1)).body.code).toBe("person_required");
  service.nowMs += 86_400_001;
  expect((await credit(60)).status).toBe(200);
  expect((await credit(101)).body.code).toBe("person_required");
  expect((await send(path, { tier: "pro" }, "PATCH")).status).toBe(200);
  expect((await credit(20)).status).toBe(200);
  const line = { credit_limit: 500 * TOKENS };
  expect((await erin(path, line, "PATCH")).body.code).toBe("approval_needed");
  const waiting = (await erin("/admin/v1/approvals")).body.data[0];
  expect(waiting).toMatchObject({ method: "PATCH", path, body: line, account_id: id });
  expect((await finn(path, line, "PATCH")).body.wallet.credit_limit).toBe(500 * TOKENS);

  const open = (yuan: number) => send("/admin/v1/accounts", { name: "new", tokens: yuan * TOKENS });
  expect((await open(60)).status).toBe(201);
  expect((await open(60)).body.code).toBe("person_required");
  expect((await open(0)).status).toBe(201);
  const vouchers = (count: number) => send("/admin/v1/vouchers", { tokens: 40 * TOKENS, count });
  expect((await vouchers(2)).status).toBe(201);
  expect((await vouchers(1)).body.code).toBe("person_required");
  // However the address is written, and for tokens of a coupon, too.
  for (const way of ["?", "?a", "?batch=b"])
    expect((await send(`/admin/v1/vouchers${way}`, { tokens: 40 * TOKENS, count: 1 })).body.code, way).toBe(
      "person_required",
    );
  const coupon = (most: number | null, code: string) =>
    send("/admin/v1/coupons", { code, kind: "tokens", value: 5 * TOKENS, days: 30, most });
  expect((await coupon(5, "FIVE")).body.code).toBe("person_required");
  expect((await coupon(4, "FOUR")).status).toBe(201);
  expect((await vouchers(1)).body.code).toBe("person_required");
  service.nowMs += 86_400_001;
  // Tokens for everybody are no sum.
  expect((await coupon(null, "EVERYBODY")).body.code).toBe("person_required");
});

test("a bank transfer is confirmed by two, and counts for its account", async () => {
  service.nowMs += 86_400_001;
  const [anna, bo] = [await operator("anna", "finance"), await operator("bo", "finance")];
  const { id } = await service.account(0);
  const scopes = ["read:account", "manage:billing"];
  const [key] = (await service.call(`/admin/v1/accounts/${id}/keys`, { body: { scopes } })).body.keys;
  const transfer = async (yuan: number): Promise<[string, object]> => {
    const body = { provider: "bank", amount_fen: yuan * 100 };
    const payment = (await service.call("/v1/payments", { key, body })).body.id;
    return [`/admin/v1/payments/${payment}/confirm`, { transaction: payment, amount_fen: yuan * 100 }];
  };
  expect((await anna(...(await transfer(60)))).body.state).toBe("paid");
  const [path, body] = await transfer(60);
  expect((await anna(path, body)).body.code).toBe("approval_needed");
  expect((await anna(path, body)).body.code).toBe("approval_needed");
  const other = `/admin/v1/accounts/${id}/topups`;
  expect((await anna(other, { tokens: 41 * TOKENS, reference: "more" })).body.code).toBe("approval_needed");
  expect((await bo(path, body)).body.state).toBe("paid");
  expect((await service.call("/v1/balance", { key })).body.balance).toBe(120 * TOKENS);
  // What two have seen does not keep one of them from a small sum.
  expect((await anna(other, { tokens: 40 * TOKENS, reference: "less" })).status).toBe(201);
});

test("prices, free calls, discounts, packages and coupons need two, whatever they come to", async () => {
  service.nowMs += 86_400_001;
  const [anna, bo] = [await operator("anna", "finance"), await operator("bo", "finance")];
  const { id } = await service.account(0);
  const effective_from = new Date(service.nowMs + 3_600_000).toISOString();
  const operation = "legal_laws";
  const price = { operation, tokens: 1, cached_tokens: null, effective_from };
  const coupon = { code: "LESS50", kind: "percent", value: 50, days: 30, expires_at: effective_from };
  const offers: [string, object][] = [
    ["/admin/v1/prices", price],
    [`/admin/v1/accounts/${id}/prices`, price],
    ["/admin/v1/free-tiers", { operation, calls: 10, effective_from }],
    ["/admin/v1/volume-ladders", { steps: [{ from_tokens: 1, percent: 50 }], effective_from }],
    ["/admin/v1/packages", { tokens: 5_000, price_fen: 1, days: 30 }],
    ["/admin/v1/coupons", coupon],
  ];
  for (const [path, body] of offers) {
    expect((await service.call(path, { body })).body.code, path).toBe("person_required");
    for (let time = 0; time < 2; time++)
      expect((await anna(path, body)).body.code, path).toBe("approval_needed");
    const waiting = (await anna("/admin/v1/approvals")).body.data.find((one: Row) => one.path === path);
    expect(waiting, path).toMatchObject({
      fen: null,
      account_id: path.includes(id) ? id : "offers",
    });
    expect((await bo(path, body)).status, path).toBe(201);
  }
  // Whoever ends a coupon gives nothing away; whoever lengthens it does.
  const end = (by: typeof anna, ms: number) =>
    by("/admin/v1/coupons/LESS50", { expires_at: new Date(service.nowMs + ms).toISOString() }, "PATCH");
  expect((await end(anna, 0)).status).toBe(200);
  expect((await end(anna, 86_400_000)).body.code).toBe("approval_needed");
  expect((await end(bo, 86_400_000)).status).toBe(200);
});

test("what was approved and then refused waits again, and nobody waits for what would be refused", async () => {
  service.nowMs += 86_400_001;
  const [anna, bo] = [await operator("anna", "finance"), await operator("bo", "finance")];
  const { id } = await service.account(0);
  const waiting = async () =>
    (await anna("/admin/v1/approvals")).body.data.filter(
      ({ state, account_id }: Row) => state === "waiting" && account_id === id,
    );
  const path = `/admin/v1/accounts/${id}/adjust`;
  expect((await anna(path, { tokens: 101 * TOKENS })).body.error.param).toBe("reason");
  expect(await waiting()).toEqual([]);
  // There is nothing to take yet.
  const take = { tokens: -101 * TOKENS, reason: "paid back by hand" };
  expect((await anna(path, take)).body.code).toBe("approval_needed");
  expect((await bo(path, take)).status).toBe(400);
  expect(await waiting()).toMatchObject([{ body: take, asked_by: expect.any(String), decided_by: null }]);
});

test("one person moves ten times the limit in a day, over all accounts; keys are one person", async () => {
  service.nowMs += 86_400_001;
  const [anna, bo] = [await operator("anna", "finance"), await operator("bo", "finance")];
  const give = async (by: typeof anna | undefined, yuan: number) => {
    const { id } = await service.account(0);
    const path = `/admin/v1/accounts/${id}/adjust`;
    const body = { tokens: yuan * TOKENS, reason: "goodwill" };
    return { path, body, ...(await (by ? by(path, body) : service.call(path, { body }))) };
  };
  for (let n = 0; n < 10; n++) expect((await give(anna, 95)).status).toBe(200);
  const last = await give(anna, 51);
  expect(last.body).toMatchObject({ code: "approval_needed" });
  expect((await give(anna, 50)).status).toBe(200);
  // What two have seen counts for neither.
  expect((await bo(last.path, { tokens: 51 * TOKENS, reason: "goodwill" })).status).toBe(200);
  for (let n = 0; n < 10; n++) expect((await give(undefined, 100)).status).toBe(200);
  expect((await give(undefined, 1)).body.code).toBe("person_required");
  service.nowMs += 86_400_001;
  expect((await give(anna, 95)).status).toBe(200);
  expect((await give(undefined, 1)).status).toBe(200);
});
