import { afterAll, beforeAll, expect, test } from "vitest";
import { type InProcessService, startInProcess } from "./in-process.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Row = any;

let service: InProcessService;
/** 100 CNY */
const LIMIT = 100;
const TOKENS = 50_000;

beforeAll(async () => {
  service = await startInProcess({ DATAQ_FOUR_EYES: String(LIMIT) });
});
afterAll(() => service?.[Symbol.asyncDispose]());

/** Somebody who is signed in with a role in the operator's account. */
async function operator(
  name: string,
  role: string,
): Promise<(path: string, body?: object, method?: string) => Promise<Row>> {
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
  expect((await service.database.query("select from sum_in_flight")).rowCount).toBe(0);
});
