import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyLedger } from "../src/ledger/verify.ts";
import { beginMaintenance, endMaintenance } from "../src/maintenance/maintenance.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { PaymentProviders } from "./payment-providers.ts";

let service: InProcessService;
let providers: PaymentProviders;
let folder: string;
let key: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dataq-maintenance-"));
  providers = await PaymentProviders.start(() => service.nowMs);
  service = await startInProcess(providers.configure(folder));
  const { id } = await service.account(5_000_000);
  const scopes = ["data:query", "read:account", "manage:billing"];
  key = (await service.call(`/admin/v1/accounts/${id}/keys`, { body: { count: 1, scopes } })).body.keys[0];
});
afterAll(async () => {
  for (const { law, breaches } of (await verifyLedger(service.database)).findings)
    expect(breaches, law).toEqual([]);
  await service[Symbol.asyncDispose]();
  await providers[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const question = (query: string, operation = "legal_laws") => ({ operation, params: { query } });
const ask = (by: string, query: string, headers = {}) =>
  service.call("/v1/data/query", { key: by, headers, body: question(query) });
const change = (body: object) => service.call("/admin/v1/maintenance", { body });
const page = async (language: string) =>
  (
    await fetch(`${service.url}/status`, { headers: { accept: "text/html", "accept-language": language } })
  ).text();

test("maintenance refuses what asks and pays, charges nothing, and lets operators and readers through", async () => {
  const until = new Date(service.nowMs + 900_000).toISOString();
  const message = { en: "<b>We</b> restore a backup.", zh: "正在恢复备份 & 核对账本。" };
  expect((await change({ on: true, until, message })).body.data).toMatchObject({ until, message });
  const runs = service.sources.runs;
  const before = await service.ledger(key);

  for (const [path, body] of [
    ["/v1/data/query", question("found 1")],
    ["/v1/data/estimate", question("found 1")],
    ["/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }],
    ["/v1/try", { operation: "legal_laws", text: "违约金" }],
    ["/v1/vouchers/redeem", { code: "x" }],
    ["/v1/payments", { provider: "stripe", amount_fen: 100 }],
  ] as const) {
    const refused = await service.call(path, { key: path === "/v1/try" ? null : key, body });
    expect([path, refused.status, refused.body.code, refused.body.retry_after]).toEqual([
      path,
      503,
      "maintenance",
      900,
    ]);
    expect(refused.headers.get("retry-after")).toBe("900");
  }
  expect((await ask(key, "found 2")).body.detail).toContain(message.en);
  expect((await ask(key, "found 2", { "accept-language": "zh" })).body.detail).toBe(
    `服务正在维护：${message.zh}期间不扣费。`,
  );
  // A key that does not exist is told so, and not when to retry.
  expect((await ask("dq_live_none", "found 2")).body.code).toBe("invalid_api_key");
  expect(service.sources.runs).toBe(runs);
  expect(await service.ledger(key)).toEqual(before);

  expect((await service.call("/v1/balance", { key })).status).toBe(200);
  expect((await ask(service.key, "found 3")).status).toBe(200);
  expect((await service.call("/v1/status", { key: null })).body.data.maintenance).toMatchObject({
    until,
    message,
  });
  const [english, chinese] = [await page("en"), await page("zh-CN")];
  expect(english).toContain("Under maintenance");
  // 12:15 in China.
  expect(english).toContain(
    "&#60;b&#62;We&#60;/b&#62; restore a backup. Since 12:00. Expected to end at 12:15.",
  );
  expect(chinese).toContain("正在恢复备份 &#38; 核对账本。 12:00 开始。");

  expect((await change({ on: false })).body).toEqual({ data: null });
  expect((await ask(key, "found 4")).body.usage.billed).toBe(true);
  const later = await page("en");
  expect(later).toContain("<li>12:00 – 12:00: &#60;b&#62;We");
  expect(later).not.toContain("Under maintenance");
});

test("what is said can change while it lasts, has an end in the future, and another process ends it", async () => {
  const author = { actor: "operator", now: new Date(service.nowMs) };
  const zh = "升级数据库。";
  await beginMaintenance(service.database, { until: null, message: { zh } }, author);
  await expect
    .poll(() => ask(key, "found 5"), { timeout: 20_000 })
    .toMatchObject({ status: 503, body: { retry_after: 60 } });
  const past = await change({ on: true, until: new Date(service.nowMs).toISOString() });
  expect(past).toMatchObject({ status: 400, body: { error: { param: "until" } } });
  const changed = await change({ on: true, message: { en: "The disk is changed." } });
  expect(changed.body.data.message).toEqual({ en: "The disk is changed.", zh });
  expect(await endMaintenance(service.database, author)).toBe(true);
  expect(await endMaintenance(service.database, author)).toBe(false);
  await expect.poll(async () => (await ask(key, "found 6")).status, { timeout: 20_000 }).toBe(200);
  const { body } = await service.call("/admin/v1/audit?limit=20");
  const lines = body.data.filter(({ action }: { action: string }) => action.startsWith("maintenance"));
  expect(lines.map(({ action }: { action: string }) => action.slice(12))).toEqual([
    "end",
    "begin",
    "begin",
    "end",
    "begin",
  ]);
});

test("the status says how calls fared: sources that fail count, callers' own errors and refusals do not", async () => {
  let calls = 0;
  const papers = async (...values: string[]) => {
    for (const query of values)
      await service.call("/v1/data/query", { key, body: question(query, "research_paper_search") });
    calls += values.length;
  };
  const healthOf = async (name = "research_paper_search") => {
    const logged = "select count(*)::int as n from request where operation = $1";
    await expect
      .poll(async () => (await service.database.query(logged, [name])).rows, { timeout: 20_000 })
      .toEqual([{ n: calls }]);
    service.nowMs += 31_000;
    const { operations } = (await service.call("/v1/status", { key: null })).body.data;
    const found = operations.find(({ operation }: { operation: string }) => operation === name);
    return [found.health, found.answered];
  };
  expect(await healthOf()).toEqual(["quiet", null]);
  await papers(...Array.from({ length: 19 }, (_, n) => `found ${n}`), "missing");
  expect(await healthOf()).toEqual(["working", 100]);
  await papers("fail:upstream_error 1", "fail:upstream_timeout 2", "fail:not_configured 3");
  // 2 of 23.
  expect(await healthOf()).toEqual(["disturbed", 91.3]);
  service.nowMs += 3_600_000;
  expect(await healthOf()).toEqual(["quiet", 91.3]);
  await papers("fail:upstream_error 4", "fail:upstream_error 5");
  expect(await healthOf()).toEqual(["down", 84]);
  expect(await page("en")).toContain("Calls of some operations fail");
});

test("a saved card is not charged during maintenance: a backup that is restored then would not know of it", async () => {
  const wanted = { low_tokens: 9_000_000, amount_fen: 2_000, most_fen: 2_000, consent: true };
  const { url } = (await service.call("/v1/auto-top-up", { key, method: "PATCH", body: wanted })).body;
  const { path, headers, body } = providers.saveCard(url);
  expect((await service.call(path, { key: null, headers, body })).status).toBe(200);
  expect((await change({ on: true })).status).toBe(200);
  await service.sweep();
  expect(providers.trades.size).toBe(0);
  expect((await change({ on: false })).status).toBe(200);
  await service.sweep();
  expect([...providers.trades.values()]).toMatchObject([{ amountFen: 2_000, state: "paid" }]);
});
