import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type InProcessService, startInProcess } from "./in-process.ts";
import type { CallOptions } from "./service-process.ts";

let service: InProcessService;

beforeAll(async () => {
  service = await startInProcess({}, { isScripted: false, vendor: true });
});
afterAll(() => service?.[Symbol.asyncDispose]());

const query = { operation: "legal_laws", params: { query: "民法典 第五百七十七条" } };

describe("a paid call", () => {
  test("has the specification's data, page and total_pages, and its price", async () => {
    const answer = await service.call("/v1/data/query", { body: { ...query, page: 1, page_size: 20 } });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ page: 1, domain: "legal", operation: "legal_laws" });
    expect(Array.isArray(answer.body.data)).toBe(true);
    const { total, total_relation, total_pages, has_more } = answer.body;
    expect([total_pages, has_more]).toEqual([Math.ceil(total / 20), total_pages > 1]);
    expect(["eq", "gte"]).toContain(total_relation);
    expect(answer.body.usage).toMatchObject({
      tokens: 5_000,
      list_tokens: 5_000,
      cached: false,
      billed: true,
      reason: null,
    });
    expect(answer.headers.get("x-request-id")).toMatch(/^req_[0-9a-z]{26}$/);
    expect(answer.body.request_id).toBe(answer.headers.get("x-request-id"));
    expect(answer.headers.get("x-tokens-used")).toBe("5000");
    expect(answer.headers.get("x-cache")).toBe("MISS");
    expect(answer.headers.get("x-api-version")).toBe("v1");
    expect(answer.headers.get("server-timing")).toMatch(/^total;dur=[\d.]+$/);
    expect(answer.headers.get("ratelimit")).toMatch(/^"account";r=\d+;t=\d+/);
    for (const name of ["limit", "remaining", "reset"])
      expect(answer.headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
    const balance = await service.call("/v1/balance");
    expect(balance.body.balance).toBe(answer.body.usage.balance);
    expect(answer.headers.get("x-tokens-balance")).toBe(String(balance.body.balance));
  });

  test("can be written in other ways", async () => {
    const first = (await service.call("/v1/data/query", { body: query })).body;
    for (const body of [
      { domain: "legal", ...query },
      { operation: "legal_laws", query: "民法典 第五百七十七条" },
      { operation: "LEGAL_LAWS", params: query.params, query: query.params.query, page: "1" },
      { domain: "legal", operation: "laws", params: { ...query.params, page: 1, page_size: "20" } },
    ]) {
      const answer = await service.call("/v1/data/query", { body });
      expect(answer.body.data).toEqual(first.data);
      expect(answer.body.usage.reason).toBe("cache_hit");
    }
  });

  test("returns the same page of judgments from the cache, in full and under an Idempotency-Key", async () => {
    const body = { operation: "legal_cases", params: { query: "借款 利息" }, page_size: 5 };
    const headers = { "idempotency-key": "judgments" };
    const first = (await service.call("/v1/data/query", { body })).body;
    expect(first.data).toHaveLength(5);
    const again = await service.call("/v1/data/query", { body, headers });
    expect(again.headers.get("x-cache")).toBe("HIT");
    const replayed = await service.call("/v1/data/query", { body, headers });
    expect(replayed.headers.get("idempotent-replayed")).toBe("true");
    const { request_id: _, usage: __, ...same } = first;
    expect(again.body).toMatchObject(same);
    expect(replayed.body).toMatchObject(same);
    const few = await service.call("/v1/data/query", { body: { ...body, fields: ["title", "score"] } });
    expect(few.body.data).toEqual(
      first.data.map(({ id, title, score }: Record<string, unknown>) => ({ id, title, score })),
    );
  });

  test("accepts the key in X-API-Key", async () => {
    const options = { body: query, key: null, headers: { "x-api-key": service.key } };
    expect((await service.call("/v1/data/query", options)).status).toBe(200);
    const both = { body: query, headers: { "x-api-key": "dq_live_other" } };
    expect((await service.call("/v1/data/query", both)).body.code).toBe("ambiguous_credentials");
  });

  test("with dry_run or estimate returns the price that the call then has", async () => {
    const body = { operation: "legal_laws", params: { query: "合同 解除 estimate" } };
    const estimate = await service.call("/v1/data/estimate", { body });
    const dryRun = await service.call("/v1/data/query", { body: { ...body, dry_run: true } });
    const paid = await service.call("/v1/data/query", { body });
    expect(estimate.body.tokens).toBe(paid.body.usage.tokens);
    expect(dryRun.body).toMatchObject({ tokens: paid.body.usage.tokens, cached: false });
    expect(estimate.body.balance_after).toBe(paid.body.usage.balance);
    const again = await service.call("/v1/data/estimate", { body });
    const hit = await service.call("/v1/data/query", { body });
    expect(again.body).toEqual({ tokens: 2_500, cached: true, balance_after: hit.body.usage.balance });
    expect(hit.body.usage.tokens).toBe(2_500);
  });

  test("is estimated together with others, and page by page", async () => {
    const estimate = async (body: object) => (await service.call("/v1/data/estimate", { body })).body;
    const known = { operation: "legal_laws", params: { query: "合同" }, page_size: 1 };
    await service.call("/v1/data/query", { body: known });
    const research = { operation: "research_paper_search", params: { query: "合同" } };
    const several = await estimate({ queries: [known, research, { ...known, page: 2 }] });
    expect(several).toMatchObject({
      tokens: 2_500 + 500 + 5_000,
      cached: false,
      data: [
        { tokens: 2_500, cached: true },
        { tokens: 500, cached: false },
        { tokens: 5_000, cached: false },
      ],
    });
    const pages = await estimate({ ...known, pages: 3 });
    const answers = [];
    for (const page of [1, 2, 3])
      answers.push(await service.call("/v1/data/query", { body: { ...known, page } }));
    expect(pages.tokens).toBe(answers.reduce((sum, { body }) => sum + body.usage.tokens, 0));
    expect(pages.balance_after).toBe(answers.at(-1)!.body.usage.balance);
  });

  test("is refused above max_tokens, free of charge", async () => {
    const before = (await service.call("/v1/balance")).body.balance;
    const body = { operation: "legal_laws", params: { query: "max tokens" }, max_tokens: 4_999 };
    const answer = await service.call("/v1/data/query", { body });
    expect(answer).toMatchObject({ status: 402, body: { code: "price_above_max" } });
    expect((await service.call("/v1/balance")).body.balance).toBe(before);
  });

  test("with cache: only is answered from the cache or fails; with bypass it costs the list price", async () => {
    const body = { operation: "legal_laws", params: { query: "only bypass" } };
    expect(await service.call("/v1/data/query", { body: { ...body, cache: "only" } })).toMatchObject({
      status: 404,
      body: { code: "not_cached" },
    });
    await service.call("/v1/data/query", { body });
    const only = await service.call("/v1/data/query", {
      body,
      headers: { "cache-control": "only-if-cached" },
    });
    expect(only.body.usage.tokens).toBe(2_500);
    expect(only.headers.get("age")).toMatch(/^\d+$/);
    const bypass = await service.call("/v1/data/query", { body: { ...body, cache: "bypass" } });
    expect(bypass.body.usage.tokens).toBe(5_000);
    expect(bypass.headers.get("x-cache")).toBe("BYPASS");
  });
});

describe("errors name what is wrong", () => {
  const send = (body: unknown, options: CallOptions = {}) =>
    service.call("/v1/data/query", { body, ...options });
  const cases: [string, unknown, number, string, string | null][] = [
    ["broken JSON", '{"operation":', 400, "invalid_json", null],
    ["no body", "", 400, "invalid_json", null],
    ["bytes that are not UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), 400, "invalid_json", null],
    ["a NUL", '{"operation":"a\\u0000"}', 400, "invalid_json", null],
    ["a name twice", '{"page":1,"operation":"legal_laws","page":2}', 400, "invalid_json", null],
    ["nesting too deep", `${"[".repeat(9)}${"]".repeat(9)}`, 400, "invalid_json", null],
    ["a list", [], 400, "invalid_params", "body"],
    ["no operation", {}, 400, "missing_parameter", "operation"],
    ["an operation of a wrong type", { operation: 7 }, 400, "invalid_params", "operation"],
    ["an unknown operation", { operation: "legal_lawz" }, 400, "unknown_operation", "operation"],
    ["a domain of a wrong type", { domain: 1, operation: "legal_laws" }, 400, "invalid_params", "domain"],
    ["another domain", { domain: "cloud", ...query }, 400, "domain_mismatch", "domain"],
    ["params of a wrong type", { operation: "legal_laws", params: "x" }, 400, "invalid_params", "params"],
    ["a missing parameter", { operation: "legal_laws" }, 400, "missing_parameter", "params.query"],
    [
      "a parameter of a wrong type",
      { operation: "legal_laws", query: 5 },
      400,
      "invalid_params",
      "params.query",
    ],
    ["an unknown parameter", { ...query, cuort: "x" }, 400, "unknown_parameter", "params.cuort"],
    ["a parameter twice", { ...query, query: "other" }, 400, "ambiguous_parameter", "query"],
    ["page 0", { ...query, page: 0 }, 400, "invalid_params", "page"],
    ["page 1.5", { ...query, page: 1.5 }, 400, "invalid_params", "page"],
    ["page true", { ...query, page: true }, 400, "invalid_params", "page"],
    ["page_size 201", { ...query, page_size: 201 }, 400, "invalid_params", "page_size"],
    ["page × page_size beyond 10,000", { ...query, page: 501 }, 400, "page_out_of_range", "page"],
    [
      "a later page of what has one",
      { operation: "legal_law_catalog", page: 2 },
      400,
      "invalid_params",
      "page",
    ],
    ["a wrong cache mode", { ...query, cache: "yes" }, 400, "invalid_params", "cache"],
    ["an unknown field", { ...query, fields: ["nothing"] }, 400, "invalid_params", "fields"],
    ["max_tokens of 16 digits", { ...query, max_tokens: 1e15 }, 400, "invalid_params", "max_tokens"],
    ["max_tokens of a wrong type", { ...query, max_tokens: "many" }, 400, "invalid_params", "max_tokens"],
    ["dry_run of a wrong type", { ...query, dry_run: "yes" }, 400, "invalid_params", "dry_run"],
  ];
  test.each(cases)("%s", async (_name, body, status, code, param) => {
    const answer = await send(body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ status, code, error: { code, param }, retryable: false });
    expect(answer.body.request_id).toBe(answer.headers.get("x-request-id"));
    expect(answer.body.detail).not.toMatch(/[{}]/);
  });

  test("in Chinese if the caller prefers it", async () => {
    const headers = { "accept-language": "zh-CN,zh;q=0.9,en;q=0.8" };
    const body = { operation: "enterprise_company_detail", params: { tax_id: "91330100716105852G" } };
    const answer = await service.call("/v1/data/query", { body, headers });
    expect(answer.headers.get("content-language")).toBe("zh-CN");
    expect(answer.headers.get("vary")).toContain("Accept-Language");
    expect(answer.body.detail).toBe("参数有误：params.tax_id 的校验码不对（前 17 位对应的校验码是 F）。");
    const unknown = await service.call("/v1/data/query", { body: { operation: "legal_lawz" }, headers });
    expect(unknown.body).toMatchObject({
      detail: "接口 legal_lawz 不存在。",
      next_action: "您是否要用 legal_laws？",
    });
    const wrongKey = { mode: "prod", scopes: [], ip_list: ["x"], expires_at: "soon", rights: 1 };
    const key = await service.call("/v1/keys", { body: wrongKey, headers });
    expect(key.body.detail).toBe(
      "参数有误：mode 不是可选的值（可选：live, test）；scopes 太小或太短（至少 1 项）；ip_list.0 的值无效（请发送地址或网段，例如 203.0.113.0/24）；expires_at 的格式不对（请发送时间，例如 2026-01-31T08:00:00+08:00）；rights 不存在（请去掉）。",
    );
    const english = await service.call("/v1/keys", { body: wrongKey });
    expect(english.body.detail).toBe(
      "mode is not one of the allowed values (send one of live, test); scopes is too small or too short (send at least 1 item); ip_list.0 must be an IP address or a block of addresses (send addresses or blocks such as 203.0.113.0/24); expires_at has an invalid format (send a time such as 2026-01-31T08:00:00+08:00); rights is not a known field (omit it).",
    );
    const unsigned = await service.call("/v1/balance", { key: null, headers });
    expect(unsigned.body.error.message).toBe("请求没有携带 API 密钥。");
  });

  test("as a problem document on request, whose type is an address of the documentation", async () => {
    const headers = { accept: "application/problem+json" };
    const answer = await service.call("/v1/keys/key_1", { method: "DELETE", headers });
    expect(answer.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
    expect(answer.body).toMatchObject({
      type: "/docs/errors/not_found",
      title: "Not found",
      status: 404,
      instance: "/v1/keys/key_1",
      next_action: "Check the value.",
    });
    for (const [language, place] of [
      ["en-GB", "/docs/dataq/errors"],
      ["fr, zh-TW;q=0.4", "/docs/zh/dataq/errors"],
    ] as const) {
      const asked = { redirect: "manual", headers: { "accept-language": language } } as const;
      const page = await fetch(service.url + answer.body.type, asked);
      expect([page.status, page.headers.get("location")]).toEqual([302, `${place}#not_found`]);
    }
    expect((await service.call("/docs/errors/toString")).status).toBe(404);
  });

  test("Prefer: handling=lenient turns unknown parameters into warnings", async () => {
    const answer = await send({ ...query, cuort: "x" }, { headers: { prefer: "handling=lenient" } });
    expect(answer.status).toBe(200);
    expect(answer.body.warnings.join()).toContain("cuort");
  });

  test("20,000 escaped characters fit into the body of a citation check only", async () => {
    const escaped = (text: string, operation: string) =>
      JSON.stringify({ operation, params: { text }, dry_run: true }).replace(
        /[^ -~]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
    const full = escaped("𠮷".repeat(20_000), "legal_citation_check");
    expect(full.length).toBeGreaterThan(240_000);
    expect(await send(full)).toMatchObject({ status: 200 });
    for (const operation of ["legal_laws", "nothing", "citation_checks"])
      expect(await send(escaped("字".repeat(20_000), operation))).toMatchObject({
        status: 413,
        body: { code: "body_too_large" },
      });
    const tooLong = await send(escaped("字".repeat(20_001), "citation_check"));
    expect(tooLong).toMatchObject({ status: 400, body: { error: { param: "params.text" } } });
    expect(await send("x".repeat(300_000))).toMatchObject({ status: 413 });
  });

  test("a body that is too large, and one that is not JSON", async () => {
    expect(await send("x".repeat(65_537))).toMatchObject({ status: 413, body: { code: "body_too_large" } });
    const form = { headers: { "content-type": "application/x-www-form-urlencoded" } };
    expect(await send("operation=x", form)).toMatchObject({
      status: 415,
      body: { code: "unsupported_media_type" },
    });
    for (const type of ["", "   ", ";", "/", "json", "application/json; charset"]) {
      const wrong = await service.call("/v1/data/query", { body: "{}", headers: { "content-type": type } });
      expect([wrong.status, wrong.body.code], type).toEqual([415, "unsupported_media_type"]);
    }
    const latin = { headers: { "content-type": "application/json; charset=iso-8859-1" } };
    expect((await send("{}", latin)).status).toBe(415);
  });

  test("a missing key, a wrong key and a key in the URL", async () => {
    expect(await send(query, { key: null })).toMatchObject({
      status: 401,
      body: { code: "missing_api_key" },
    });
    const wrong = await send(query, { key: `${service.key.slice(0, -1)}_` });
    expect(wrong).toMatchObject({ status: 401, body: { code: "invalid_api_key" } });
    expect(wrong.headers.get("www-authenticate")).toContain("Bearer");
    const inUrl = await service.call(`/v1/data/query?api_key=${service.key}`, { body: query, key: null });
    expect(inUrl).toMatchObject({ status: 401, body: { code: "key_in_url" } });
    const inBody = await send({ ...query, api_key: service.key }, { key: null });
    expect(inBody.body.code).toBe("key_in_url");
    expect(inUrl.text + inBody.text + service.log()).not.toContain(service.key.slice(8));
  });

  test("a request that is invalid and has no key gets 401 first", async () => {
    expect((await send('{"broken', { key: null })).status).toBe(401);
  });
});

describe("every endpoint answers a wrong method with 405 and lists the right ones", () => {
  test.each([
    ["/v1/data/query", "GET", "POST"],
    ["/v1/data/query", "QUERY", "POST"],
    ["/v1/data/estimate", "PUT", "POST"],
    ["/v1/balance", "POST", "GET, HEAD"],
    ["/v1/account", "DELETE", "GET, HEAD"],
    ["/v1/ledger", "POST", "GET, HEAD"],
    ["/v1/ledger/export", "POST", "GET, HEAD"],
    ["/v1/usage", "POST", "GET, HEAD"],
    ["/v1/usage.csv", "POST", "GET, HEAD"],
    ["/v1/requests", "POST", "GET, HEAD"],
    ["/v1/requests/req_1", "PATCH", "GET, HEAD"],
    ["/v1/keys", "PUT", "GET, HEAD, POST"],
    ["/v1/keys/key_1", "GET", "PATCH, DELETE"],
    ["/v1/keys/key_1/rotate", "GET", "POST"],
    ["/v1/vouchers/redeem", "GET", "POST"],
    ["/v1/pricing", "DELETE", "GET, HEAD"],
    ["/admin/v1/accounts", "DELETE", "GET, HEAD, POST"],
    ["/healthz", "POST", "GET, HEAD"],
    ["/readyz", "POST", "GET, HEAD"],
  ])("%s %s", async (path, method, allowed) => {
    const answer = await service.call(path, { method });
    expect(answer).toMatchObject({ status: 405, body: { code: "method_not_allowed" } });
    expect(answer.headers.get("allow")?.split(", ").sort()).toEqual(allowed.split(", ").sort());
    expect(answer.body.detail).toContain(path);
  });

  test.each(["/v1/nothing", "/v1/data/query/more", "/v2/data/query", "/%2e%2e/etc/passwd"])(
    "%s is 404",
    async (path) => {
      expect(await service.call(path)).toMatchObject({ status: 404, body: { code: "no_such_route" } });
    },
  );
});

describe("every endpoint names what is wrong in its input", () => {
  const cases: [string, string, unknown, string, string | null][] = [
    ["POST", "/v1/data/estimate", {}, "missing_parameter", "operation"],
    ["POST", "/v1/data/estimate", '{"', "invalid_json", null],
    ["POST", "/v1/data/estimate", { queries: [] }, "invalid_params", "queries"],
    [
      "POST",
      "/v1/data/estimate",
      { queries: [query, { operation: "x" }] },
      "unknown_operation",
      "queries.1.operation",
    ],
    ["POST", "/v1/data/estimate", { queries: [{ ...query, page: 0 }] }, "invalid_params", "queries.0.page"],
    ["POST", "/v1/data/estimate", { queries: [query], page: 1 }, "invalid_params", "page"],
    ["POST", "/v1/data/estimate", { ...query, pages: 101 }, "invalid_params", "pages"],
    ["GET", "/v1/ledger?limit=0", undefined, "invalid_params", "limit"],
    ["GET", "/v1/ledger?cursor=x", undefined, "invalid_params", "cursor"],
    ["GET", "/v1/ledger?sort=asc", undefined, "invalid_params", "sort"],
    ["GET", "/v1/ledger/export?format=xml", undefined, "invalid_params", "format"],
    ["GET", "/v1/usage?from=2026-02-30", undefined, "invalid_params", "from"],
    ["GET", "/v1/usage?from=2026-03-02&to=2026-03-01", undefined, "invalid_params", "from"],
    ["GET", "/v1/usage?group_by=colour", undefined, "invalid_params", "group_by.0"],
    ["GET", "/v1/requests?status=ok", undefined, "invalid_params", "status"],
    ["POST", "/v1/keys", { mode: "prod" }, "invalid_params", "mode"],
    ["POST", "/v1/keys", { scopes: ["root"] }, "invalid_params", "scopes.0"],
    ["POST", "/v1/keys", { ip_list: ["10.0.0.0/33"] }, "invalid_params", "ip_list.0"],
    ["POST", "/v1/keys", { monthly_cap: -1 }, "invalid_params", "monthly_cap"],
    ["POST", "/v1/keys", '{"name":', "invalid_json", null],
    ["PATCH", "/v1/keys/key_1", { mode: "test" }, "invalid_params", "mode"],
    ["PATCH", "/v1/keys/key_1", { name: "x" }, "not_found", null],
    ["POST", "/v1/keys/key_1/rotate", { grace_s: "long" }, "invalid_params", "grace_s"],
    ["POST", "/v1/keys/key_1/rotate", {}, "not_found", null],
    ["DELETE", "/v1/keys/key_1", undefined, "not_found", null],
    ["POST", "/v1/vouchers/redeem", {}, "invalid_params", "code"],
    ["POST", "/v1/vouchers/redeem", { code: "DQ-AAAAA" }, "invalid_voucher", null],
    ["POST", "/admin/v1/accounts", { tokens: 5 }, "invalid_params", "name"],
    ["POST", "/admin/v1/accounts", { name: "x", tier: "gold" }, "invalid_params", "tier"],
    ["POST", "/admin/v1/accounts/acc_1/adjust", { tokens: 1, reason: "x" }, "not_found", null],
    ["POST", "/admin/v1/vouchers", { tokens: 0 }, "invalid_params", "tokens"],
    ["POST", "/admin/v1/refunds", { request_id: "req_1", tokens: 1, reason: "x" }, "not_found", null],
    ["GET", "/v1/requests/req_1", undefined, "not_found", null],
    ["GET", "/v1/requests?operation=legal_lawz", undefined, "invalid_params", "operation"],
    ["GET", "/v1/catalog/legal_lawz", undefined, "not_found", null],
    ["GET", "/v1/catalog?format=xml", undefined, "invalid_params", "format"],
    ["POST", "/v1/keys/leak-report", {}, "invalid_params", "key"],
    ["GET", "/admin/v1/accounts/acc_1", undefined, "not_found", null],
    ["PATCH", "/admin/v1/accounts/acc_1", { frozen: true }, "not_found", null],
    ["POST", "/admin/v1/accounts/acc_1/keys", {}, "not_found", null],
    ["POST", "/admin/v1/accounts/acc_1/topups", { tokens: 1, reference: "x" }, "not_found", null],
    ["GET", "/admin/v1/vouchers?state=torn", undefined, "invalid_params", "state"],
    ["POST", "/admin/v1/prices", { operation: "x" }, "invalid_params", "operation"],
    ["GET", "/admin/v1/audit?cursor=x", undefined, "invalid_params", "cursor"],
    ["GET", "/admin/v1/audit/export?format=xml", undefined, "invalid_params", "format"],
  ];
  test.each(cases)("%s %s %j → %s", async (method, path, body, code, param) => {
    const answer = await service.call(path, { method, ...(body !== undefined && { body }) });
    expect(answer.body).toMatchObject({ code, error: { param } });
    expect(answer.status).toBe(answer.body.status);
  });

  test.each([
    "/v1/balance",
    "/v1/account",
    "/v1/ledger",
    "/v1/usage",
    "/v1/requests",
    "/v1/keys",
    "/v1/projects",
    "/v1/ledger/export",
    "/v1/usage.csv",
    "/v1/requests/req_1",
    "/admin/v1/accounts",
    "/admin/v1/accounts/acc_1",
    "/admin/v1/vouchers",
    "/admin/v1/audit",
    "/admin/v1/audit/export",
    "/admin/v1/ledger/verify",
  ])("%s requires a key", async (path) => {
    expect(await service.call(path, { key: null })).toMatchObject({
      status: 401,
      body: { code: "missing_api_key" },
    });
  });
});

test("health requires no key", async () => {
  expect(await service.call("/healthz", { key: null })).toMatchObject({
    status: 200,
    body: { status: "ok" },
  });
  expect(await service.call("/readyz", { key: null })).toMatchObject({
    status: 200,
    body: { status: "ready", search: "up" },
  });
});

test("without a trusted proxy X-Forwarded-For changes nothing: neither the throttle nor access to the metrics", async () => {
  const wrong = `${service.key.slice(0, -1)}_`;
  const statuses = new Set<number>();
  for (let i = 0; i < 22; i++) {
    const headers = { "x-forwarded-for": `198.51.100.${i}` };
    statuses.add((await service.call("/v1/balance", { key: wrong, headers })).status);
  }
  expect(statuses).toContain(429);
  const headers = { "x-forwarded-for": "127.0.0.1" };
  expect((await service.call("/metrics", { key: null, headers })).status).toBe(401);
  expect((await service.call("/metrics", { key: null })).status).toBe(200);
});

test("compresses answers for callers that accept it", async () => {
  for (const encoding of ["br", "gzip"]) {
    const { status, headers, body } = await service.call("/v1/catalog", {
      headers: { "accept-encoding": encoding },
    });
    expect([status, headers.get("content-encoding")]).toEqual([200, encoding]);
    expect(body.data.length).toBeGreaterThan(10);
  }
});
