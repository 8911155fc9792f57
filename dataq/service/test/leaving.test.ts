import { afterAll, beforeAll, expect, test } from "vitest";
import { sweepClosed } from "../src/leaving/closing.ts";
import { holdings } from "../src/leaving/holdings.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";

let service: InProcessService;
beforeAll(async () => {
  service = await startInProcess();
}, 60_000);
afterAll(() => service?.[Symbol.asyncDispose]());

const query = async <Row extends object>(text: string, values: unknown[] = []) =>
  (await service.database.query<Row>(text, values)).rows;

test("every table that names an account says what becomes of it", async () => {
  const found = await query<{ name: string }>(
    `select distinct case when table_schema = 'public' then '' else table_schema || '.' end || table_name as name
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema in ('public', 'people') and table_type = 'BASE TABLE'
       and column_name in ('account_id', 'redeemed_by')`,
  );
  const known = Object.keys(holdings).filter((table) => table !== "account");
  expect(known.sort()).toEqual(found.map(({ name }) => name).sort());
});

/** An account with something in every table that a customer can fill, and two people; one also has another account. */
async function customer() {
  const { id } = await service.account(300_000, { name: "北京离开有限公司", keys: 0 });
  const body = {
    scopes: ["read:account", "manage:members", "manage:billing", "manage:webhooks", "data:query"],
  };
  const key: string = (await service.call(`/admin/v1/accounts/${id}/keys`, { body })).body.keys[0];
  const call = (path: string, options: object = {}) => service.call(path, { key, ...options });
  const { secret } = (
    await call("/v1/webhooks", { body: { url: "https://shop.example/x", events: ["balance.low"] } })
  ).body;
  await call("/v1/invoices/buyer", { method: "PATCH", body: { title: "北京离开有限公司", tax_number: "" } });
  await call("/v1/members/invitations", { body: { email: "new@example.com", role: "developer" } });
  await call("/v1/alerts", { method: "PATCH", body: { cap_percent: 50 } });
  const ask = { operation: "enterprise_shixin_check", params: { company_name: "某公司" } };
  const asked = await call("/v1/data/query", { body: ask, headers: { "idempotency-key": "once" } });
  expect(asked.status).toBe(200);
  const other = await service.account(0, { name: "other", keys: 0 });
  for (const [person, accounts] of [
    [`only_${id}`, [id]],
    [`both_${id}`, [id, other.id]],
  ] as const) {
    await query(
      `insert into people."user" ("id", "name", "email", "emailVerified", "accountId") values ($1, $1, $1 || '@example.com', true, $2)`,
      [person, id],
    );
    for (const account of accounts)
      await query("insert into people.member values ($1, $2, 'owner', now())", [person, account]);
  }
  return { id, key, call, secret, otherId: other.id };
}

test("the export has everything of the account, nothing of another, and no secret", async () => {
  const mine = await customer();
  const other = await customer();
  const { text, status } = await mine.call("/v1/account/export");
  expect(status).toBe(200);
  const rows: { table: string }[] = text
    .trim()
    .split("\n")
    .map((line: string) => JSON.parse(line));
  const tables = new Set(rows.map(({ table }) => table));
  for (const table of [
    ...["account", "wallet", "entry", "request", "api_key", "invoice_buyer", "webhook", "alert_threshold"],
    ...["people.invitation", "people.member", "audit"],
  ])
    expect(tables).toContain(table);
  const counted = await query<{ entries: number }>(
    "select count(*) as entries from entry where account_id = $1",
    [mine.id],
  );
  expect(rows.filter(({ table }) => table === "entry")).toHaveLength(counted[0]!.entries);
  for (const secret of [mine.key, mine.secret, other.id, `only_${other.id}`])
    expect(text).not.toContain(secret);
  expect(text).not.toMatch(/"(hmac|old_secret|token_sha256|code_sha256|password)"/);
  const developer = (
    await service.call(`/admin/v1/accounts/${mine.id}/keys`, { body: { scopes: ["read:account"] } })
  ).body.keys[0];
  expect((await service.call("/v1/account/export", { key: developer })).body.code).toBe("scope_denied");
});

test("an account is closed by its name once no money is open: the books stay, the rest goes", async () => {
  const { id, key, call, otherId } = await customer();
  const close = (body: object) => call("/v1/account/close", { body });
  const { paid_balance: left } = (await call("/v1/balance")).body;
  expect(left).toBe(290_000);
  expect((await close({ confirm: "somebody else", give_up_tokens: left })).body.error.param).toBe("confirm");
  const named = { confirm: "北京离开有限公司" };
  expect((await close(named)).body).toMatchObject({ status: 400, error: { param: "give_up_tokens" } });
  expect((await close({ ...named, give_up_tokens: left - 1 })).body.error.param).toBe("give_up_tokens");
  await service.call(`/admin/v1/accounts/${id}`, { method: "PATCH", body: { credit_limit: 50_000 } });
  await query("update wallet set held = held + 1, paid = paid - 1 where account_id = $1", [id]);
  expect((await close({ ...named, give_up_tokens: left - 1 })).body.code).toBe("account_busy");
  await query("update wallet set held = held - 1, paid = paid + 1 where account_id = $1", [id]);
  expect((await close({ ...named, give_up_tokens: left })).status).toBe(204);

  expect((await call("/v1/balance")).status).toBe(401);
  for (const [table, { by, atClosing }] of Object.entries(holdings)) {
    const rows = await query(`select from ${table} where ${by} = $1`, [id]);
    if (atClosing === "delete") expect([table, rows.length]).toEqual([table, 0]);
  }
  const entries = await query<{ kind: string; tokens: number }>(
    "select kind, tokens from entry where account_id = $1 order by seq desc limit 2",
    [id],
  );
  expect(entries).toEqual([
    { kind: "adjust", tokens: -left },
    { kind: "adjust", tokens: -50_000 },
  ]);
  expect((await service.call("/admin/v1/ledger/verify?whole=true")).body.ok).toBe(true);
  const { body } = await service.call(`/admin/v1/accounts/${id}`);
  expect(body).toMatchObject({ name: "closed", email: null, closed_at: expect.any(String) });
  expect(body.wallet).toMatchObject({ frozen: true, balance: 0 });
  const people = await query(`select "id", "accountId" from people."user" where "id" like '%' || $1`, [id]);
  expect(people).toEqual([{ id: `both_${id}`, accountId: otherId }]);
  expect(JSON.stringify(await query("select * from api_key where account_id = $1", [id]))).not.toContain(key);

  const requests = () => query("select from request where account_id = $1", [id]);
  // The log is written after the answer.
  await expect.poll(requests).toHaveLength(1);
  await sweepClosed(service.database, new Date(service.nowMs + 183 * 86_400_000));
  expect(await requests()).toHaveLength(1);
  await sweepClosed(service.database, new Date(service.nowMs + 185 * 86_400_000));
  expect(await requests()).toHaveLength(0);
});

test("the operator's own account is not closed", async () => {
  const { name } = (await service.call("/v1/account")).body;
  const { body } = await service.call("/v1/account/close", { body: { confirm: name } });
  expect(body).toMatchObject({ status: 409, code: "account_busy" });
});
