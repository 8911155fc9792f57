import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { actions } from "../src/accounts/principal.ts";
import { isOperators } from "../src/accounts/scope.ts";
import { routeAccess } from "../src/http/access.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { Traveller } from "./sso-provider.ts";

let service: InProcessService;
const folder = mkdtempSync(join(tmpdir(), "dataq-walk-"));
beforeAll(async () => {
  const payments = join(folder, "payments.json");
  writeFileSync(payments, JSON.stringify({ bank: { payee: "数据公司", account: "6222", bank: "工商银行" } }));
  service = await startInProcess(
    { DATAQ_TRUSTED_PROXIES: "127.0.0.1", DATAQ_SIGNUP: "approve", DATAQ_PAYMENTS: payments },
    { isScripted: true, vendor: true },
  );
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Not walked here: these need a second person, an invoice, a vendor or files. */
const elsewhere = new Set([
  "POST /admin/v1/invoices/:id/issue",
  "POST /admin/v1/approvals/:id/reject",
  "POST /admin/v1/imports",
  "POST /admin/v1/index/refresh",
  "POST /admin/v1/open-data/:name",
  "POST /admin/v1/datasets/:operation/:name/remove",
  "POST /admin/v1/datasets/:operation/:name/restore",
  "POST /admin/v1/connectors",
  "DELETE /admin/v1/connectors/:name",
  "POST /admin/v1/connectors/:operation/test",
  // A file that is uploaded changes nothing until it is imported, which has a row.
  "POST /admin/v1/uploads",
  "POST /admin/v1/uploads/:id",
  // The model server is another product.
  "POST /console/api/models/pull",
  "POST /console/api/models/chat",
]);

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
  const bodies: Record<string, readonly [params: object, body: object, action: string]> = {
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
    "DELETE /admin/v1/packages/:id": [{ id: "the package" }, {}, "package.end"],
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
  const unknown = changing.filter((route) => !(route in bodies) && !elsewhere.has(route));
  expect(unknown).toEqual([]);
  let made = "";
  for (const [route, [params, body, action]] of Object.entries(bodies)) {
    const [method, pattern] = route.split(" ") as [string, string];
    const path = pattern
      .replace(/:(\w+)/g, (_, name) => (params as Record<string, string>)[name]!)
      .replace("the package", made);
    const { status, headers, body: answer } = await service.call(path, { method, body });
    expect(status, `${route} ${JSON.stringify(answer)}`).toBeLessThan(300);
    if (action === "package.offer") made = answer.id;
    const rows = (await service.call("/admin/v1/audit?limit=20")).body.data;
    expect(rows, route).toContainEqual(
      expect.objectContaining({ action, request_id: headers.get("x-request-id") }),
    );
  }
});
