import { request } from "node:http";
import { routes as contractRoutes, type Route } from "@dataq/contract/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isFullSize } from "../../../testing/test-size.ts";
import { routeAccess } from "../src/http/access.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";

let service: InProcessService;

beforeAll(async () => {
  service = await startInProcess({
    DATAQ_ALLOWED_HOSTS: "data.example.com",
    DATAQ_URL: "https://dataq.example",
  });
}, 60_000);
afterAll(() => service?.[Symbol.asyncDispose]());

describe("a Host header", () => {
  test.each([
    ["127.0.0.1", 200],
    ["127.8.8.8:1", 200],
    ["localhost", 200],
    ["LocalHost:11435", 200],
    ["localhost.", 200],
    ["a.localhost:80", 200],
    ["[::1]:11435", 200],
    ["data.example.com", 200],
    ["DATA.example.com:443", 200],
    ["dataq.example", 200],
    ["evil.example", 403],
    ["127.0.0.1.evil.example", 403],
    ["localhost.evil.example", 403],
    ["notlocalhost", 403],
    ["data.example.com.evil.example", 403],
    ["evil.example/data.example.com", 403],
    ["evil.example@localhost", 403],
    ["10.0.0.1", 403],
    ["[::2]", 403],
    ["0.0.0.0", 403],
    ["", 403],
    [" ", 403],
    ["x".repeat(5_000), 403],
  ])("%.60s is %i", async (host, status) => {
    expect(await statusUnder(host, "GET", "/v1/catalog")).toBe(status);
  });

  test("of another site is rejected on every route, however it is spelled", async () => {
    for (const route of [...Object.keys(routeAccess), "GET /nothing", "OPTIONS /v1/balance"]) {
      const [method = "", url = ""] = route.split(" ");
      const path = url.replace(/:\w+/g, "none").replace("*", "sign-up/email");
      expect(await statusUnder("evil.example", method, path), route).toBe(403);
    }
  });

  test("of another site is rejected before a path that cannot be decoded is", async () => {
    for (const path of ["/%", "/v1/requests/%ff%fe"])
      expect(await statusUnder("evil.example", "GET", path), path).toBe(403);
  });

  test("that is empty does not make the caller local", async () => {
    expect(await statusUnder("", "GET", "/metrics")).toBe(403);
  });
});

/** A request with any Host header. fetch always sends the right one. */
function statusUnder(host: string, method: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { method, setHost: false, headers: { host, "x-console": "1" } };
    const sent = request(service.url + path, options, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on("error", reject);
    sent.end();
  });
}

const nasty = [
  "%00",
  "a%00b",
  "%ff",
  "%ed%a0%80",
  "%",
  "%zz",
  "%0a%0d",
  "..%2f..%2fetc%2fpasswd",
  "%27%20or%201%3D1%20--",
  "%22%24%7B1%7D",
  "%F0%9F%98%80",
  "-1",
  "0",
  "1e400",
  "NaN",
  "9".repeat(40),
  "9223372036854775808",
  "a".repeat(199),
  "a".repeat(2_000),
  "0001-01-01",
  "9999-12-31",
  "2026-02-30",
  "1.2.3",
  "0.0000000000000000000000000000000000000000000000000000000000000000",
  "99999999999999.0000000000000000000000000000000000000000000000000000000000000000",
  "null",
  "__proto__",
  "constructor",
  "",
];

test("no value in a path or a query causes a server error", async () => {
  const wrong: string[] = [];
  const walk = async (route: string, value: string) => {
    const [method = "", url = ""] = route.split(" ");
    // This route is skipped, because it would start a worker.
    if (url === "/admin/v1/index/refresh") return;
    const known = Object.values(contractRoutes as Record<string, Route>).find(
      ({ path, method: own }) => own === method && path.replace(/\{(\w+)\}/g, ":$1") === url,
    );
    // Every route treats unknown names in the same way.
    const unknown = url === "/v1/status" ? [value] : [];
    const names = [...Object.keys(known?.query?.shape ?? {}), ...unknown];
    const plain = url.replace(/:\w+/g, "none").replace("*", "none");
    const paths = names.map((name) => `${plain}?${name}=${value}`);
    for (const path of url === plain ? paths : [...paths, url.replace(/:\w+|\*/g, value)]) {
      const response = await fetch(service.url + path, {
        method,
        redirect: "manual",
        headers: { authorization: `Bearer ${service.key}`, "x-console": "1" },
        ...(method !== "GET" && method !== "DELETE" && { body: "{}" }),
      });
      await response.arrayBuffer();
      const isAnswer = response.status < 500 ? response.status !== 429 : [501, 503].includes(response.status);
      if (!isAnswer) wrong.push(`${method} ${path.slice(0, 100)} is ${response.status}`);
    }
  };
  const routes = Object.keys(routeAccess);
  const long = routes.filter((route) => routeAccess[route]!.cost >= 20);
  for (const [place, value] of nasty.entries()) {
    // Moves the clock, so that no rate limit interferes.
    service.nowMs += 3_600_000;
    // The routes take turns: each gets every second value.
    const asked = routes.filter((_, index) => isFullSize || (index + place) % 2 === 0);
    await Promise.all(asked.filter((route) => !long.includes(route)).map((route) => walk(route, value)));
    for (const route of asked.filter((one) => long.includes(one))) await walk(route, value);
  }
  expect(wrong).toEqual([]);
  expect(service.log()).not.toContain("internal error");
}, 120_000);

test.each(["/%", "/v1/requests/%ff%fe", "/%zz?a=b"])(
  "a path that cannot be decoded, %s, names the fault and the request",
  async (path) => {
    const response = await fetch(service.url + path, { headers: { "x-request-id": "own-1" } });
    const body = (await response.json()) as object;
    const id = response.headers.get("x-request-id");
    expect(id).toMatch(/^req_/);
    expect(response.headers.get("x-client-request-id")).toBe("own-1");
    expect(response.status).toBe(400);
    expect(body).toMatchObject({
      code: "invalid_params",
      request_id: id,
      error: { param: "url", request_id: id },
    });
    expect(service.log()).toContain(id);
    const metrics = (await service.call("/metrics")).text;
    expect(metrics).toMatch(/dataq_requests_total\{route="none",status="400"\} [1-9]/);
  },
);

test.each([
  ["application/json; charset=gbk", "application/json; charset=gbk"],
  ["text/plain; charset=utf-8", "text/plain; charset=utf-8"],
  ["application/json;boundary=x;CHARSET=utf-16", "application/json; CHARSET=utf-16"],
  [`application/json; charset=${"x".repeat(500)}`, "application/json; charset=xxx"],
])("a body of the type %.60s is refused, and the message names its charset", async (type, shown) => {
  const answer = await service.call("/v1/keys", { body: {}, headers: { "content-type": type } });
  expect(answer).toMatchObject({ status: 415, body: { code: "unsupported_media_type" } });
  expect(answer.body.detail).toContain(shown);
  expect(answer.body.detail).toContain("UTF-8");
});

test.each(["gzip", "GZIP", "br, gzip", "identity, deflate", "x"])(
  "a body with the Content-Encoding %s is refused",
  async (encoding) => {
    const headers = { "content-encoding": encoding };
    const answer = await service.call("/v1/keys", { body: {}, headers });
    expect(answer).toMatchObject({ status: 415, body: { code: "unsupported_encoding" } });
    expect(answer.body.detail).toContain(encoding);
  },
);

test("a body with the Content-Encoding identity is read", async () => {
  const headers = { "content-encoding": "identity" };
  expect((await service.call("/v1/keys", { body: {}, headers })).status).toBe(201);
});

describe("a new key", () => {
  const refused = async (body: object) => (await service.call("/v1/keys", { body })).body;

  test.each([
    [{ expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
    [{ scopes: ["data:query", "read:account", "data:query"] }, "scopes"],
    [{ name: "a\ud800b" }, "name"],
    [{ name: "\udfff\ud800" }, "name"],
  ])("cannot have %j", async (body, param) => {
    expect(await refused(body)).toMatchObject({ code: "invalid_params", error: { param } });
    const { id } = (await service.call("/v1/keys", { body: {} })).body;
    const changed = await service.call(`/v1/keys/${id}`, { method: "PATCH", body });
    expect(changed.body).toMatchObject({ code: "invalid_params", error: { param } });
  });

  test("cannot expire now, but a millisecond later", async () => {
    const at = (ms: number) => ({ expires_at: new Date(service.nowMs + ms).toISOString() });
    expect(await refused(at(0))).toMatchObject({ code: "invalid_params", error: { param: "expires_at" } });
    expect((await service.call("/v1/keys", { body: at(1) })).status).toBe(201);
  });
});

test.each([-1_001, -1e12])("an adjustment of %i names the balance that it exceeds", async (tokens) => {
  const { id } = await service.account(1_000);
  const body = { tokens, reason: "wrong" };
  const answer = await service.call(`/admin/v1/accounts/${id}/adjust`, { body });
  expect(answer).toMatchObject({ status: 400, body: { code: "invalid_params", error: { param: "tokens" } } });
  expect(answer.body.detail).toContain("1000");
  expect(answer.body.detail).not.toContain("call");
  const all = await service.call(`/admin/v1/accounts/${id}/adjust`, { body: { ...body, tokens: -1_000 } });
  expect(all.body).toEqual({ account_id: id, balance: 0 });
});

test("no text in a body causes a server error", async () => {
  const texts = [
    "\u0000",
    "a\u0000b",
    "\ud800",
    "\udfff\ud800",
    "\u202e",
    "😀".repeat(100),
    "a".repeat(30_000),
    "$1",
    "'; drop table entry; --",
    "",
    " ",
  ];
  const account = (await service.account(1_000)).id;
  const bodies = (text: string): [string, string, unknown][] => [
    ["POST", "/v1/keys", { name: text }],
    ["POST", "/v1/keys", { name: "a", ip_list: [text] }],
    ["POST", "/v1/keys", { name: "a", expires_at: text }],
    ["POST", "/v1/vouchers/redeem", { code: text }],
    ["POST", "/v1/members/invitations", { email: text }],
    ["POST", "/v1/members/invitations", { email: `${text}@example.com` }],
    ["PATCH", "/v1/members/none", { role: text }],
    ["POST", "/v1/keys/leak-report", { key: text }],
    ["POST", "/admin/v1/accounts", { name: text, email: `${text}@example.com` }],
    ["POST", "/admin/v1/accounts", { name: text }],
    ["POST", `/admin/v1/accounts/${account}/adjust`, { tokens: 1, reason: text }],
    ["POST", `/admin/v1/accounts/${account}/topups`, { tokens: 1, reference: text, note: text }],
    ["POST", "/admin/v1/refunds", { request_id: text, tokens: 1, reason: text }],
    ["POST", "/admin/v1/vouchers", { tokens: 1, batch: text }],
    ["POST", "/admin/v1/imports", { operation: text, from: text }],
    ["POST", "/console/api/join", { token: text }],
    ["POST", "/v1/data/query", { operation: "legal_laws", params: { query: text } }],
    ["POST", "/v1/data/estimate", { queries: [{ operation: text, params: { [text]: text } }] }],
  ];
  for (const text of texts)
    for (const [method, path, body] of bodies(text)) {
      const answer = await service.call(path, { method, body });
      service.nowMs += 60_000;
      const shown = `${path} ${JSON.stringify(body).slice(0, 80)} ${answer.text}`;
      expect(answer.status, shown).toBeLessThan(500);
      expect(answer.status, shown).not.toBe(429);
    }
});

test("of ten simultaneous refunds of one call one succeeds, and nine are 409", async () => {
  const { keys } = await service.account(10_000);
  const body = { operation: "legal_laws", params: { query: "found refund" } };
  const called = await service.call("/v1/data/query", { key: keys[0]!, body });
  const refund = { request_id: called.body.request_id, tokens: 5_000, reason: "wrong data" };
  const all = await Promise.all(
    Array.from({ length: 10 }, () => service.call("/admin/v1/refunds", { body: refund })),
  );
  expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(409)]);
  expect((await service.call("/v1/balance", { key: keys[0]! })).body.balance).toBe(10_000);
  const absent = await service.call("/admin/v1/refunds", { body: { ...refund, request_id: "req_none" } });
  expect(absent.body).toMatchObject({ code: "not_found", detail: expect.stringContaining("req_none") });
});
