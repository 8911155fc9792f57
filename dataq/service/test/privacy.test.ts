import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type InProcessService, startInProcess } from "./in-process.ts";

const secret = "planted-secret-0123456789";
const mailPassword = "planted mail/password";
let service: InProcessService;

beforeAll(async () => {
  service = await startInProcess({
    DATAQ_SECRET: secret,
    SMTP_URL: `smtp://mailer:${encodeURIComponent(mailPassword)}@127.0.0.1:9`,
    DATAQ_ORIGINS: "https://console.example.com",
    DATAQ_TRUSTED_PROXIES: "127.0.0.1",
  });
});
afterAll(() => service?.[Symbol.asyncDispose]());

describe("planted keys and secrets appear in no log, error or export", () => {
  test("in every part of a request", async () => {
    const { key } = (await service.call("/v1/keys", { body: { name: "planted" } })).body;
    const body = { operation: "legal_cases", params: { query: "found" } };
    const texts: string[] = [];
    const send = async (path: string, options: object = {}) => {
      const answer = await service.call(path, options);
      texts.push(answer.text, JSON.stringify([...answer.headers]));
    };
    await send("/v1/data/query", { key, body });
    await send(`/v1/data/query?key=${key}`, { key: null, body });
    await send(`/v1/${key}`, { key: null });
    await send("/v1/data/query", { body: { operation: key } });
    await send("/v1/data/query", { body: { ...body, domain: key } });
    await send("/v1/data/query", { body: { ...body, [key]: key } });
    await send("/v1/data/query", { body: { operation: "legal_cases", params: { query: `throw ${key}` } } });
    await send("/v1/data/query", { body: { ...body, fields: [key] } });
    await send("/v1/data/query", { body: `{"operation": ${key}` });
    await send("/v1/data/query", { body, headers: { "x-request-id": key.slice(0, 44), "user-agent": key } });
    await send("/v1/data/query", { body, headers: { "idempotency-key": key } });
    await send("/v1/data/query", { key: `${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}`, body });
    await send("/v1/data/query", { headers: { "x-api-key": key }, body });
    await send("/v1/data/query", { headers: { authorization: `Basic ${key}` }, body });
    await send("/v1/requests?operation=legal_cases");
    await send(`/v1/ledger?cursor=${key}`);
    await send("/v1/ledger/export");
    await send("/v1/ledger/export?format=csv");
    await send("/v1/usage.csv?group_by=key");
    await send("/v1/keys", { body: { name: "by a telling browser" }, headers: { "user-agent": key } });
    await send("/admin/v1/audit?limit=500");
    await send("/admin/v1/audit/export");
    await send("/admin/v1/audit/export?format=csv");
    await send("/v1/keys/leak-report", { key: null, body: { key } });
    await send("/metrics");
    const middle = key.slice(12, -4);
    for (const text of [...texts, service.log()]) {
      expect(text).not.toContain(middle);
      expect(text).not.toContain(secret);
      expect(text).not.toContain(mailPassword);
      expect(text).not.toContain(encodeURIComponent(mailPassword));
      expect(text).not.toContain(service.key.slice(12, -4));
    }
    expect(service.log()).toContain('"msg":"request"');
  });

  test("the text of a query is in no log line; a server error is logged with its request ID", async () => {
    const body = { operation: "legal_cases", params: { query: "throw 秘密问题" } };
    const answer = await service.call("/v1/data/query", { body });
    expect(answer).toMatchObject({ status: 500, body: { code: "internal_error", retryable: true } });
    expect(answer.text).not.toContain("a fault of ours");
    expect(service.log()).toContain("a fault of ours");
    expect(service.log()).toContain(answer.body.request_id);
    expect(service.log()).not.toContain("秘密问题");
  });
});

test("a call can be traced by its IDs: the server's own and the client's", async () => {
  const answer = await service.call("/v1/balance", { headers: { "x-request-id": "shop-17.a_b" } });
  expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
  expect(answer.headers.get("x-client-request-id")).toBe("shop-17.a_b");
  expect(service.log()).toContain("shop-17.a_b");
});

describe("pages of other origins", () => {
  test("may call when the operator lists them", async () => {
    const headers = { origin: "https://console.example.com", "access-control-request-method": "POST" };
    const preflight = await service.call("/v1/data/query", { method: "OPTIONS", key: null, headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("https://console.example.com");
    expect(preflight.headers.get("access-control-allow-headers")).toContain("Authorization");
    const answer = await service.call("/v1/balance", { headers: { origin: headers.origin } });
    for (const name of ["X-Request-Id", "RateLimit", "RateLimit-Policy", "Retry-After"])
      expect(answer.headers.get("access-control-expose-headers")?.split(", ")).toContain(name);
  });

  test("may not call if the operator does not list them", async () => {
    const headers = { origin: "https://evil.example.com", "access-control-request-method": "POST" };
    const preflight = await service.call("/v1/data/query", { method: "OPTIONS", key: null, headers });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("limits over HTTP", () => {
  const body = { operation: "research_paper_search", params: { query: "found" } };

  test("429 states the wait in body and header, is free, and ends after the wait", async () => {
    const { keys } = await service.account(100_000, { tier: "trial" });
    const answers = [];
    for (let i = 0; i < 11; i++) answers.push(await service.call("/v1/data/query", { key: keys[0]!, body }));
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(200), 429]);
    const last = answers.at(-1)!;
    expect(last.body).toMatchObject({ code: "rate_limited", retryable: true, retry_after: 1 });
    expect(last.headers.get("retry-after")).toBe("1");
    expect(last.headers.get("x-should-retry")).toBe("true");
    expect(last.headers.get("ratelimit")).toBe('"account";r=0;t=1');
    expect(answers[0]!.headers.get("ratelimit-policy")).toBe('"account";q=120;w=60,"burst";q=10;w=1');
    expect(answers[0]!.headers.get("ratelimit")).toMatch(/^"account";r=9;t=/);
    expect((await service.call("/v1/balance", { key: keys[0]! })).body.balance).toBe(95_000);
    service.nowMs += 1_000;
    expect((await service.call("/v1/data/query", { key: keys[0]!, body })).status).toBe(200);
  });

  test("too many open calls are 429 with a wait of one second", async () => {
    const { keys } = await service.account(100_000, { tier: "trial" });
    const release = Promise.withResolvers<void>();
    service.sources.onRun = () => release.promise;
    const asked = Array.from({ length: 5 }, () => service.call("/v1/data/query", { key: keys[0]!, body }));
    const first = await Promise.race(asked);
    expect(first).toMatchObject({ status: 429, body: { code: "concurrency_limited", retry_after: 1 } });
    release.resolve();
    service.sources.onRun = () => {};
    expect((await Promise.all(asked)).filter(({ status }) => status === 200)).toHaveLength(4);
  });

  test("wrong keys are limited by address; valid ones from the same address pass", async () => {
    const wrong = `${service.key.slice(0, -1)}_`;
    let last = 0;
    for (let i = 0; i < 22; i++) last = (await service.call("/v1/balance", { key: wrong })).status;
    expect(last).toBe(429);
    expect((await service.call("/v1/balance")).status).toBe(200);
  });

  test("behind a trusted proxy the address is the one that the proxy saw, not what the caller sent", async () => {
    const wrong = `${service.key.slice(0, -1)}_`;
    const from = async (forwarded: string) =>
      (await service.call("/v1/balance", { key: wrong, headers: { "x-forwarded-for": forwarded } })).status;
    for (let i = 0; i < 20; i++) expect(await from(`198.51.100.${i}, 203.0.113.9`)).toBe(401);
    expect(await from("198.51.100.99, 203.0.113.9")).toBe(429);
    expect(await from("203.0.113.10")).toBe(401);
    const headers = { "x-forwarded-for": "203.0.113.9" };
    expect((await service.call("/metrics", { key: null, headers })).status).toBe(401);
  });
});

test("metrics count responses, calls and tokens, without naming anybody", async () => {
  const { text } = await service.call("/metrics", { key: null });
  expect(text).toMatch(/dataq_requests_total\{route="\/v1\/data\/query",status="200"\} \d+/);
  expect(text).toMatch(/dataq_tokens_total\{operation="research_paper_search"\} \d+/);
  expect(text).toContain("dataq_open_holds 0");
  expect(text).not.toMatch(/acc_|key_|req_/);
});
