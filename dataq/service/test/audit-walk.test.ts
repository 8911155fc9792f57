import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { actions } from "../src/accounts/principal.ts";
import { isOperators } from "../src/accounts/scope.ts";
import { routeAccess } from "../src/http/access.ts";
import { type Audited, expectAudited, jobRoutes } from "./audited.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";
import type { CallResult } from "./service-process.ts";
import { Traveller } from "./sso-provider.ts";

let service: InProcessService;
const folder = mkdtempSync(join(tmpdir(), "dataq-walk-"));
/** Stands for a model server: it takes everything. */
const models = createServer((request, response) => {
  request.resume().on("end", () => response.end('{"status":"success"}'));
});
beforeAll(async () => {
  await new Promise<void>((resolve) => models.listen(0, "127.0.0.1", resolve));
  const payments = join(folder, "payments.json");
  writeFileSync(payments, JSON.stringify({ bank: { payee: "数据公司", account: "6222", bank: "工商银行" } }));
  service = await startInProcess(
    {
      DATAQ_TRUSTED_PROXIES: "127.0.0.1",
      DATAQ_SIGNUP: "approve",
      DATAQ_PAYMENTS: payments,
      DATAQ_LOCALLM: `http://127.0.0.1:${(models.address() as AddressInfo).port}`,
    },
    { isScripted: true, vendor: true },
  );
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  models.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Routes that change nothing of the service by themselves, and how to call them; a test below sees that they do not. */
const traceless: Readonly<Record<string, () => Promise<CallResult>>> = {
  // A file that was uploaded counts when it is imported, which has a row.
  "POST /admin/v1/uploads": () => service.call("/admin/v1/uploads", { body: { name: "a.csv", bytes: 4 } }),
  "POST /admin/v1/uploads/:id": async () => {
    const { id } = (await traceless["POST /admin/v1/uploads"]!()).body;
    return service.call(`/admin/v1/uploads/${id}?at=0`, { method: "POST", body: Buffer.from("a,b\n") });
  },
  // A question to the model server, which is another product.
  "POST /console/api/models/chat": () => service.call("/console/api/models/chat", { body: { model: "m" } }),
};

test("every route by which an operator changes something writes a row of the audit log", async () => {
  const { id, keys } = await service.account(1_000_000);
  const call = { operation: "legal_laws", params: { query: "民法典第一条" } };
  const spent = await service.call("/v1/data/query", { key: keys[0]!, body: call });
  expect(spent.status).toBe(200);
  const owner = (
    await service.call(`/admin/v1/accounts/${id}/keys`, { body: { scopes: ["manage:billing"] } })
  ).body;
  const transfer = { key: owner.keys[0], body: { provider: "bank", amount_fen: 1_000 } };
  const payment = (await service.call("/v1/payments", transfer)).body;
  const traveller = new Traveller(service.url);
  const email = "walker@example.com";
  await traveller.post("/console/auth/sign-up/email", {
    name: "Walker",
    email,
    password: "correct horse battery",
  });
  const [person] = (await service.call("/console/api/people")).body.data;
  const soon = new Date(service.nowMs + 120_000).toISOString();
  const customer = (path: string, method: string, body: object) =>
    service.call(path, { key: owner.keys[0], method, body });
  const vendor = (await service.call("/admin/v1/vendors")).body.data.find(
    (one: { credentials: unknown[] }) => one.credentials.length > 0,
  ) as { name: string; credentials: { name: string }[] };
  const credentials = Object.fromEntries(vendor.credentials.map(({ name }) => [name, "a-value-0123456789"]));
  await service.database.query(
    `insert into approval (id, path, body, sha256, account_id, fen, state, asked_by, asked_at, method)
     values ('apr_walk', '/admin/v1/refunds', '{}', 'walk', $1, 1, 'waiting', 'somebody', $2, 'POST')`,
    [id, new Date(service.nowMs)],
  );
  const invoice = async () => {
    await customer("/v1/invoices/buyer", "PATCH", { title: "客户", tax_number: "91110108551385082Q" });
    return (await customer("/v1/invoices", "POST", { payments: [payment.id] })).body.id as string;
  };
  const invoiceToCorrect = async () => {
    const [{ id: issued }] = (await service.call("/admin/v1/invoices")).body.data;
    const refund = { amount_fen: 100, reason: "x", transaction: "ICBC 9" };
    await service.call(`/admin/v1/payments/${payment.id}/refunds`, { body: refund });
    return issued as string;
  };
  let made = "";
  /** What fills a path may be known only when its turn comes. */
  const bodies: Record<string, readonly [params: Audited[0] | (() => Promise<Audited[0]>), object, string]> =
    {
      "POST /admin/v1/accounts": [{}, { name: "walked" }, "account.create"],
      "PATCH /admin/v1/accounts/:id": [{ id }, { tier: "pro" }, "account.tier"],
      "POST /admin/v1/accounts/:id/keys": [{ id }, {}, "key.create"],
      "POST /admin/v1/accounts/:id/adjust": [{ id }, { tokens: 5, reason: "x" }, "ledger.adjust"],
      "POST /admin/v1/accounts/:id/topups": [{ id }, { tokens: 5, reference: "walk" }, "ledger.topup"],
      "POST /admin/v1/accounts/:id/notes": [{ id }, { text: "noted" }, "account.note"],
      "POST /admin/v1/accounts/:id/prices": [
        { id },
        { operation: "legal_laws", tokens: 9, cached_tokens: 5, effective_from: soon },
        "price.account",
      ],
      "POST /admin/v1/refunds": [
        {},
        { request_id: spent.body.request_id, tokens: 1, reason: "x" },
        "ledger.reverse",
      ],
      "POST /admin/v1/payments/:id/confirm": [
        { id: payment.id },
        { transaction: "ICBC 7", amount_fen: 1_000 },
        "payment.confirm",
      ],
      "POST /admin/v1/payments/:id/refunds": [
        { id: payment.id },
        { amount_fen: 400, reason: "x", transaction: "ICBC 8" },
        "payment.return",
      ],
      "POST /admin/v1/vouchers": [{}, { tokens: 5 }, "voucher.create"],
      "POST /admin/v1/prices": [
        {},
        { operation: "legal_laws", tokens: 9, cached_tokens: 5, effective_from: soon },
        "price.publish",
      ],
      "POST /admin/v1/free-tiers": [
        {},
        { operation: "legal_laws", calls: 3, effective_from: soon },
        "price.free",
      ],
      "POST /admin/v1/volume-ladders": [
        {},
        { steps: [{ from_tokens: 10, percent: 5 }], effective_from: soon },
        "price.volume",
      ],
      "POST /admin/v1/coupons": [
        {},
        { code: "WALKED", kind: "percent", value: 10, days: 5, most: null, expires_at: null },
        "coupon.create",
      ],
      "PATCH /admin/v1/coupons/:code": [{ code: "WALKED" }, { expires_at: soon }, "coupon.end"],
      "POST /admin/v1/packages": [{}, { tokens: 1_000_000, price_fen: 1_500, days: 30 }, "package.offer"],
      "DELETE /admin/v1/packages/:id": [async () => ({ id: made }), {}, "package.end"],
      "POST /admin/v1/invoices/:id/issue": [
        async () => ({ id: await invoice() }),
        { number: "25112000000000000001" },
        "invoice.issue",
      ],
      "POST /admin/v1/invoices/:id/corrections": [
        async () => ({ id: await invoiceToCorrect() }),
        { kind: "red", number: "25112000000000000002", amount_fen: 100 },
        "invoice.correct",
      ],
      "POST /admin/v1/approvals/:id/reject": [{ id: "apr_walk" }, {}, "approval.reject"],
      "POST /admin/v1/connectors": [
        {},
        { vendor: vendor.name, credentials, untested: true },
        "connector.connect",
      ],
      "DELETE /admin/v1/connectors/:name": [{ name: vendor.name }, {}, "connector.disconnect"],
      "POST /admin/v1/connectors/:operation/test": [{ operation: "legal_laws" }, {}, "connector.test"],
      "POST /console/api/models/pull": [{}, { model: "smollm2:135m" }, "model.pull"],
      "POST /admin/v1/maintenance": [{}, { on: true }, "maintenance.begin"],
      "POST /console/api/people/:id/approve": [{ id: person.id }, {}, "person.approve"],
      "POST /console/api/people/:id/reset-link": [{ id: person.id }, {}, "person.reset_link"],
    };
  const changing = Object.entries(routeAccess).flatMap(([route, { access }]) =>
    access in actions &&
    isOperators(actions[access as keyof typeof actions].scope) &&
    !route.startsWith("GET ")
      ? [route]
      : [],
  );
  const known = new Set([...Object.keys(bodies), ...Object.keys(traceless), ...jobRoutes]);
  expect(changing.filter((route) => !known.has(route))).toEqual([]);
  for (const [route, [params, body, action]] of Object.entries(bodies)) {
    const filled = typeof params === "function" ? await params() : params;
    const answer = await expectAudited(service, route, [filled, body, action]);
    if (action === "package.offer") made = answer.body.id;
  }
});

test("a route that has no row changes nothing in the tables", async () => {
  const tables = await service.database.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema in ('public', 'people') and table_type = 'BASE TABLE'`,
  );
  expect(tables.rows.length).toBeGreaterThan(30);
  // Counters of calls, and what the service writes about itself as time passes.
  const passing = /rate|open_call|instance|seal|request|quarter|position|verif/;
  const digest = async () => {
    const found: Record<string, string> = {};
    for (const { name } of tables.rows)
      if (!passing.test(name)) {
        const rows = await service.database.query<{ sum: string }>(
          `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as sum from ${name} t`,
        );
        found[name] = rows.rows[0]!.sum;
      }
    return found;
  };
  for (const [route, run] of Object.entries(traceless)) {
    const before = await digest();
    expect((await run()).status, route).toBeLessThan(300);
    expect(await digest(), route).toEqual(before);
  }
});
