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
async function operator(name: string, role: string): Promise<(path: string, body?: object) => Promise<Row>> {
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
  return async (path, body) => {
    const got = await fetch(service.url + path, {
      method: body ? "POST" : "GET",
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
