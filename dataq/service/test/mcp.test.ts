import { spawn } from "node:child_process";
import { request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type Operation, operations } from "@dataq/contract";
import type { CallToolResult, Client as McpClient, Tool } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { compileCache } from "../../../testing/compile-cache.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";
import {
  Client,
  jsonSchemaValidator,
  StdioClientTransport,
  StreamableHTTPClientTransport,
} from "./mcp-client.ts";

const list: readonly Operation[] = operations;
/** The protocol of 2025, which begins with `initialize`, and that of 2026, which has no connection. */
const eras = ["2025-11-25", "2026-07-28"] as const;
type Era = (typeof eras)[number];

let service: InProcessService;
const open: McpClient[] = [];

beforeAll(async () => {
  service = await startInProcess();
}, 60_000);
afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});
afterAll(() => service?.[Symbol.asyncDispose]());

async function connect(
  key: string | null,
  era: Era = "2026-07-28",
  headers: Record<string, string> = {},
  to = service,
): Promise<McpClient> {
  const client = new Client(
    { name: "test", version: "1" },
    { jsonSchemaValidator, versionNegotiation: { mode: era === "2025-11-25" ? "legacy" : "auto" } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${to.url}/mcp`), {
      requestInit: { headers: { ...(key && { authorization: `Bearer ${key}` }), ...headers } },
    }),
  );
  expect(client.getNegotiatedProtocolVersion()).toBe(era);
  open.push(client);
  return client;
}

/** Calls a tool without a schema of its answer, because scripted records have an ID only. */
async function call(client: McpClient, name: string, args: object = {}): Promise<CallToolResult> {
  return (await client.request({
    method: "tools/call",
    params: { name, arguments: args },
  })) as CallToolResult;
}

function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

function errorOf(result: CallToolResult) {
  expect(result.isError, textOf(result)).toBe(true);
  expect(result.structuredContent).toBeUndefined();
  return JSON.parse(textOf(result));
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};
const listTools = { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} };
const accept = { accept: "application/json, text/event-stream" };

/** One message without a client, and what came back. */
async function post(body: unknown, options: { key?: string | null; headers?: Record<string, string> } = {}) {
  const { key = service.key, headers = {} } = options;
  const response = await fetch(`${service.url}/mcp`, {
    method: "POST",
    headers: {
      ...accept,
      "content-type": "application/json",
      ...(key && { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const raw = await response.text();
  const data = /^data: (.*)$/m.exec(raw)?.[1] ?? raw;
  return {
    status: response.status,
    headers: response.headers,
    body: data === "" ? undefined : JSON.parse(data),
  };
}

describe.each(eras)("tools of %s", (era) => {
  let tools: Tool[];
  beforeAll(async () => {
    tools = (await (await connect(service.key, era)).listTools()).tools;
  });

  test("are the operations of the catalogue, estimate and balance", () => {
    expect(tools.map(({ name }) => name)).toEqual([...list.map(({ name }) => name), "estimate", "balance"]);
  });

  test.each(list.map((operation) => [operation.name, operation] as const))(
    "describe %s",
    (name, operation) => {
      const tool = tools.find((one) => one.name === name)!;
      expect(tool.title).toBe(operation.title.en);
      expect(tool.description).toContain(operation.description.en);
      expect(tool.description).toContain(operation.description.zh);
      expect(tool.annotations).toMatchObject({
        readOnlyHint: true,
        destructiveHint: false,
        openWorldHint: true,
      });
      const { properties = {}, required = [], additionalProperties } = tool.inputSchema as JsonObject;
      const paging = operation.paged ? ["page", "page_size"] : [];
      expect(Object.keys(properties)).toEqual([
        ...Object.keys(operation.params.shape),
        ...paging,
        "fields",
        "max_tokens",
      ]);
      for (const param of required) expect(operation.example).toHaveProperty(param);
      expect(additionalProperties).toBe(false);
      const { usage, data } = (tool.outputSchema as JsonObject).properties;
      expect(usage?.properties).toHaveProperty("budget_left");
      expect(data?.type).toBe(operation.kind === "list" ? "array" : "object");
    },
  );

  test("answer with records, their cost and the balance", async () => {
    const { keys } = await service.account(100_000);
    const client = await connect(keys[0]!, era);
    const answer = await call(client, "legal_laws", { query: `found ${era}`, page_size: 5 });
    expect(answer.structuredContent).toMatchObject({
      operation: "legal_laws",
      page_size: 5,
      data: [{ id: "1" }],
      usage: { tokens: 5_000, balance: 95_000 },
    });
    const { request_id } = answer.structuredContent as { request_id: string };
    expect(textOf(answer)).toContain(
      `1 of 1 records, page 1 of 1. Cost: 5,000 tokens, balance 95,000. Request ${request_id}.`,
    );
    expect(textOf(answer)).toContain('{"id":"1"');
    // The same question costs half, as over HTTP.
    const again = await call(client, "legal_laws", { query: `found ${era}`, page_size: 5 });
    expect(again.structuredContent).toMatchObject({ usage: { tokens: 2_500, reason: "cache_hit" } });
    expect(await service.ledger(keys[0]!)).toEqual([
      ["topup", 100_000],
      ["hold", -5_000],
      ["capture", 0],
      ["hold", -2_500],
      ["capture", 0],
    ]);
    const { body } = await service.call("/v1/requests", { key: keys[0]! });
    expect(body.data.map((line: { operation: string }) => line.operation)).toEqual([
      "legal_laws",
      "legal_laws",
    ]);
  });

  test("estimate and balance cost nothing", async () => {
    const { keys } = await service.account(100_000);
    const client = await connect(keys[0]!, era);
    const price = await client.callTool({
      name: "estimate",
      arguments: { operation: "research_paper_search", params: { query: "found" }, pages: 3 },
    });
    expect(price.structuredContent).toMatchObject({ tokens: 1_500, balance_after: 98_500 });
    expect(textOf(price)).toBe("1,500 tokens; 98,500 left after it.");
    const balance = await client.callTool({ name: "balance" });
    expect(balance.structuredContent).toMatchObject({ balance: 100_000, held: 0 });
    expect(await service.ledger(keys[0]!)).toHaveLength(1);
  });

  test("report errors with the code and the next step of the table", async () => {
    const { id, keys } = await service.account(4_000);
    const client = await connect(keys[0]!, era);
    const cases = [
      ["legal_laws", { query: "found" }, "insufficient_balance", "Top up, then retry."],
      ["legal_laws", { query: "found", max_tokens: 1 }, "price_above_max", "Raise max_tokens, or omit it."],
      ["legal_laws", { query: "found", dry_run: true }, "unknown_parameter", /query/],
      ["legal_laws", { query: "found", operation: "research_paper_search" }, "unknown_parameter", /query/],
      ["legal_laws", {}, "missing_parameter", "Send params.query."],
      ["legal_laws", { query: "found", page: 9_999 }, "page_out_of_range", /Narrow/],
      ["research_scholar_search", { name: "fail:upstream_timeout" }, "upstream_timeout", "Retry later."],
      ["research_scholar_search", { name: "throw" }, "internal_error", /request ID/],
      ["estimate", { operation: "legal_law" }, "unknown_operation", /legal_laws/],
      ["estimate", { operation: "legal_laws", pages: 0 }, "invalid_params", /Correct/],
    ] as const;
    for (const [name, args, code, next] of cases) {
      const error = errorOf(await call(client, name, args));
      expect(error, name).toMatchObject({ code, retryable: /upstream|internal/.test(code) });
      expect(error.next_action).toMatch(next);
      expect(error.request_id).toMatch(/^req_/);
    }
    expect(await service.call("/v1/balance", { key: keys[0]! })).toMatchObject({ body: { balance: 4_000 } });
    await service.call(`/admin/v1/accounts/${id}`, { method: "PATCH", body: { frozen: true } });
    expect(errorOf(await call(client, "research_scholar_search", { name: "found" })).code).toBe(
      "account_frozen",
    );
  });

  test("reject a name that is no tool", async () => {
    const client = await connect(service.key, era);
    for (const name of ["legal_law", "laws", "constructor", "Balance", "legal_laws "])
      await expect(call(client, name, { query: "found" })).rejects.toThrow(/Unknown tool|not found/i);
  });

  test("speak the caller's language in errors", async () => {
    const client = await connect(service.key, era, { "accept-language": "zh-CN" });
    expect(errorOf(await call(client, "legal_laws")).next_action).toContain("请");
  });
});

describe.each(eras)("resources of %s", (era) => {
  test("are the catalogue, each operation, the prices and the state of the data", async () => {
    const client = await connect(service.key, era);
    const read = async (uri: string) => {
      const [content] = (await client.readResource({ uri })).contents;
      return JSON.parse((content as { text: string }).text);
    };
    const { resources } = await client.listResources();
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(["dataq://catalog/{operation}"]);
    for (const { uri } of resources) expect(await read(uri), uri).toBeTypeOf("object");
    const catalog = (await read("dataq://catalog")).data;
    expect(catalog.map(({ operation }: { operation: string }) => operation)).toEqual(
      list.map(({ name }) => name),
    );
    expect(await read("dataq://catalog/legal_laws")).toMatchObject({ operation: "legal_laws" });
    expect((await read("dataq://prices")).data).toHaveLength(list.length);
    for (const uri of ["dataq://catalog/x", "dataq://catalog/../balance", "dataq://", "file:///etc/passwd"])
      await expect(client.readResource({ uri }), uri).rejects.toThrow(/not found/i);
  });
});

describe("a budget", () => {
  const spend = async (client: McpClient, query: string) => call(client, "legal_laws", { query });

  test("ends the session of a connection, and no other", async () => {
    const { keys } = await service.account(1_000_000);
    const budget = { "x-tokens-budget": "12000" };
    const first = await connect(keys[0]!, "2025-11-25", budget);
    const second = await connect(keys[0]!, "2025-11-25", budget);
    const answer = await spend(first, "found a");
    expect(answer.structuredContent).toMatchObject({ usage: { budget_left: 7_000 } });
    expect(textOf(answer)).toContain("7,000 tokens of the session's budget are left.");
    await spend(first, "found b");
    const error = errorOf(await spend(first, "found c"));
    expect(error.code).toBe("budget_exceeded");
    expect(error.message).toBe(
      "This call costs 5000 tokens. The session has 2000 tokens left of its budget of 12000.",
    );
    expect((await spend(second, "found d")).structuredContent).toMatchObject({
      usage: { budget_left: 7_000 },
    });
    const balance = await first.callTool({ name: "balance" });
    expect(balance.structuredContent).toMatchObject({ budget_left: 2_000, balance: 985_000 });
  });

  test("is shared by all connections and requests that name the session", async () => {
    const [own, other] = [await service.account(1_000_000), await service.account(1_000_000)];
    const headers = { "x-tokens-budget": "15000", "x-session-id": "run-7" };
    await spend(await connect(own.keys[0]!, "2025-11-25", headers), "found a");
    await spend(await connect(own.keys[0]!, "2026-07-28", headers), "found b");
    const query = (value: string, key = own.keys[0]!) =>
      service.call("/v1/data/query", {
        key,
        headers,
        body: { operation: "legal_laws", params: { query: value } },
      });
    const last = await query("found c");
    expect(last.headers.get("x-tokens-budget-left")).toBe("0");
    expect(last.body.usage.budget_left).toBe(0);
    expect(await query("found d")).toMatchObject({ status: 402, body: { code: "budget_exceeded" } });
    expect((await query("found d", other.keys[0]!)).body.usage.budget_left).toBe(10_000);
  });

  test("belongs to the key if no session is named", async () => {
    const { keys } = await service.account(1_000_000, { keys: 2 });
    const budget = { "x-tokens-budget": "5000" };
    await spend(await connect(keys[0]!, "2026-07-28", budget), "found a");
    expect(errorOf(await spend(await connect(keys[0]!, "2026-07-28", budget), "found b")).code).toBe(
      "budget_exceeded",
    );
    const free = await spend(await connect(keys[0]!, "2026-07-28"), "found b");
    expect(free.structuredContent).not.toHaveProperty("usage.budget_left");
    await spend(await connect(keys[1]!, "2026-07-28", budget), "found b");
  });

  test("holds for calls at the same time", async () => {
    const { keys } = await service.account(1_000_000);
    const client = await connect(keys[0]!, "2026-07-28", {
      "x-tokens-budget": "20000",
      "x-session-id": "many",
    });
    const all = await Promise.all(Array.from({ length: 10 }, (_, place) => spend(client, `found ${place}`)));
    expect(all.filter(({ isError }) => !isError)).toHaveLength(4);
    expect(await service.call("/v1/balance", { key: keys[0]! })).toMatchObject({
      body: { balance: 980_000 },
    });
  });

  test.each([
    [{ "x-tokens-budget": "-1" }, "X-Tokens-Budget"],
    [{ "x-tokens-budget": "1e3" }, "X-Tokens-Budget"],
    [{ "x-tokens-budget": "9".repeat(16) }, "X-Tokens-Budget"],
    [{ "x-tokens-budget": "1, 2" }, "X-Tokens-Budget"],
    [{ "x-session-id": "a b", "x-tokens-budget": "1" }, "X-Session-Id"],
    [{ "x-session-id": "a b" }, "X-Session-Id"],
    [{ "x-session-id": "x".repeat(129), "x-tokens-budget": "1" }, "X-Session-Id"],
  ])("rejects %j and names the header", async (headers, name) => {
    const error = errorOf(await spend(await connect(service.key, "2026-07-28", headers), "found"));
    expect(error).toMatchObject({ code: "invalid_params", details: [{ param: name }] });
  });

  test("of the key limits every session, and the header can only lower it", async () => {
    const { key } = (await service.call("/v1/keys", { body: { session_budget: 10_000 } })).body;
    const connected = (session: string, more = {}) =>
      connect(key, "2026-07-28", { "x-session-id": session, ...more });
    const left = async (client: McpClient) =>
      (await call(client, "balance")).structuredContent as { budget_left: number };
    expect(await left(await connected("a"))).toMatchObject({ budget_left: 10_000 });
    expect(await left(await connected("a", { "x-tokens-budget": "50000" }))).toMatchObject({
      budget_left: 10_000,
    });
    expect(await left(await connected("a", { "x-tokens-budget": "6000" }))).toMatchObject({
      budget_left: 6_000,
    });
    const one = await connected("a", { "x-tokens-budget": "50000" });
    await spend(one, "found key 1");
    await spend(one, "found key 2");
    expect(errorOf(await spend(one, "found key 3")).code).toBe("budget_exceeded");
    expect((await spend(await connected("b"), "found key 3")).isError).toBeFalsy();
    expect((await spend(await connect(key), "found key 4")).structuredContent).toMatchObject({
      usage: { budget_left: 5_000 },
    });
  });

  test("of 0 allows free calls only", async () => {
    const { keys } = await service.account(10_000);
    const client = await connect(keys[0]!, "2026-07-28", { "x-tokens-budget": "0" });
    expect(errorOf(await spend(client, "found")).code).toBe("budget_exceeded");
    expect((await call(client, "balance")).structuredContent).toMatchObject({ budget_left: 0 });
  });
});

describe("a call that is cancelled", () => {
  /** Starts a call whose source never answers, and waits until the source is asked. */
  async function hang(client: McpClient, signal: AbortSignal, onprogress = () => {}) {
    const asked = new Promise<void>((resolve) => {
      service.sources.onRun = resolve;
    });
    const pending = client
      .callTool({ name: "legal_laws", arguments: { query: `hang ${++serial}` } }, { signal, onprogress })
      .then(
        () => "answered",
        () => "cancelled",
      );
    await asked;
    service.sources.onRun = () => {};
    return pending;
  }
  let serial = 0;

  test.each(eras)("costs nothing, with a client of %s", async (era) => {
    const { keys } = await service.account(100_000);
    const client = await connect(keys[0]!, era);
    const cancel = new AbortController();
    const pending = hang(client, cancel.signal);
    await expect.poll(() => service.ledger(keys[0]!)).toHaveLength(2);
    cancel.abort();
    expect(await pending).toBe("cancelled");
    await expect
      .poll(() => service.ledger(keys[0]!))
      .toEqual([
        ["topup", 100_000],
        ["hold", -5_000],
        ["void", 5_000],
      ]);
    await expect
      .poll(async () => (await service.call("/v1/requests", { key: keys[0]! })).body.data)
      .toMatchObject([{ code: "client_closed_request", tokens: 0 }]);
  });

  test("does not end a call of another session with the same number", async () => {
    const { keys } = await service.account(100_000);
    const [one, other] = [await connect(keys[0]!, "2025-11-25"), await connect(keys[0]!, "2025-11-25")];
    const [first, second] = [new AbortController(), new AbortController()];
    const pending = hang(one, first.signal);
    await expect.poll(() => service.ledger(keys[0]!)).toHaveLength(2);
    const kept = hang(other, second.signal);
    await expect.poll(() => service.ledger(keys[0]!)).toHaveLength(3);
    first.abort();
    expect(await pending).toBe("cancelled");
    await expect.poll(() => service.ledger(keys[0]!)).toHaveLength(4);
    expect(await service.call("/v1/balance", { key: keys[0]! })).toMatchObject({ body: { held: 5_000 } });
    second.abort();
    await kept;
    await expect.poll(() => service.ledger(keys[0]!)).toHaveLength(5);
  });

  test("no longer counts as a concurrent call", async () => {
    // At most four calls of a trial account run at the same time.
    const { keys } = await service.account(100_000, { tier: "trial" });
    for (const era of [...eras, ...eras, ...eras]) {
      const cancel = new AbortController();
      const pending = hang(await connect(keys[0]!, era), cancel.signal);
      await expect
        .poll(async () => (await service.call("/v1/balance", { key: keys[0]! })).body.held)
        .toBe(5_000);
      cancel.abort();
      await pending;
      await expect.poll(async () => (await service.call("/v1/balance", { key: keys[0]! })).body.held).toBe(0);
    }
    service.nowMs += 60_000;
    const client = await connect(keys[0]!);
    expect((await call(client, "legal_laws", { query: "found" })).isError).toBeFalsy();
  });

  test("reports progress until then", async () => {
    const { keys } = await service.account(100_000);
    for (const era of eras) {
      const client = await connect(keys[0]!, era);
      const heard: number[] = [];
      const cancel = new AbortController();
      const options = {
        signal: cancel.signal,
        onprogress: ({ progress }: { progress: number }) => heard.push(progress),
      };
      const asked = client.callTool({ name: "legal_laws", arguments: { query: `hang ${era}` } }, options);
      asked.catch(() => {});
      // The source gives up after 2 s, so at least the first one arrives in time.
      await expect.poll(() => heard).toContain(0);
      cancel.abort();
      await asked.catch(() => {});
      expect(heard).toEqual(heard.toSorted((a, b) => a - b));
    }
  });
});

describe("the route", () => {
  test("serves every version of the protocol that began with initialize", async () => {
    for (const protocolVersion of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
      const message = { ...initialize, params: { ...initialize.params, protocolVersion } };
      const { status, body } = await post(message);
      expect(status).toBe(200);
      expect(body.result.protocolVersion).toBe(protocolVersion);
    }
  });

  test("names a session in the answer to initialize alone", async () => {
    expect((await post(initialize)).headers.get("mcp-session-id")).toMatch(/^mcp_\w{26}$/);
    expect((await post(listTools)).headers.get("mcp-session-id")).toBeNull();
  });

  test("asks for a key, and tells how to send it", async () => {
    for (const [key, code] of [
      [null, "missing_api_key"],
      [`dq_live_${"x".repeat(36)}`, "invalid_api_key"],
    ] as const) {
      const refused = await post(initialize, { key });
      expect(refused).toMatchObject({ status: 401, body: { code } });
      expect(refused.headers.get("www-authenticate")).toMatch(/^Bearer realm="data"/);
    }
  });

  test("refuses a key from the moment it is revoked", async () => {
    const { keys } = await service.account(100_000, { keys: 2 });
    const owner = (await service.call("/v1/account", { key: keys[0]! })).body;
    const made = await service.call(`/admin/v1/accounts/${owner.id}/keys`, {
      body: { scopes: ["data:query", "manage:keys"] },
    });
    const { id, key } = made.body.data[0];
    const client = await connect(key, "2026-07-28");
    expect((await call(client, "legal_laws", { query: "found" })).isError).toBeFalsy();
    expect((await service.call(`/v1/keys/${id}`, { key, method: "DELETE" })).status).toBe(204);
    await expect(call(client, "legal_laws", { query: "found" })).rejects.toThrow();
    expect((await post(listTools, { key })).body.code).toBe("invalid_api_key");
  });

  test("gives a tool no more rights than its key has", async () => {
    const keyWith = async (body: object) => (await service.call("/v1/keys", { body })).body.key as string;
    const narrow = await connect(await keyWith({ scopes: ["data:query"] }));
    expect(errorOf(await call(narrow, "balance")).code).toBe("scope_denied");
    const reader = await keyWith({ scopes: ["read:account"] });
    expect(await post(listTools, { key: reader })).toMatchObject({
      status: 403,
      body: { code: "scope_denied" },
    });
    const elsewhere = await keyWith({ scopes: ["data:query"], ip_list: ["203.0.113.0/24"] });
    expect((await post(listTools, { key: elsewhere })).body.code).toBe("ip_denied");
    const here = await connect(await keyWith({ scopes: ["data:query"], ip_list: ["127.0.0.1"] }));
    expect((await call(here, "legal_laws", { query: "found here" })).isError).toBeFalsy();
    const limited = await connect(await keyWith({ scopes: ["data:query"], monthly_cap: 5_000 }));
    await call(limited, "legal_laws", { query: "found cap 1" });
    expect(errorOf(await call(limited, "legal_laws", { query: "found cap 2" })).code).toBe(
      "spend_limit_reached",
    );
  });

  test("has the rate limits of the calls, and of everything else", async () => {
    const { keys } = await service.account(1_000_000, { tier: "trial" });
    const client = await connect(keys[0]!);
    const calls = await Promise.all(
      Array.from({ length: 14 }, (_, place) => call(client, "legal_laws", { query: `found ${place}` })),
    );
    const refused = calls.filter(({ isError }) => isError).map((one) => errorOf(one));
    expect(refused.length).toBeGreaterThanOrEqual(4);
    for (const error of refused) {
      expect(["rate_limited", "concurrency_limited"]).toContain(error.code);
      expect(error).toMatchObject({ retryable: true, retry_after: 1 });
    }
    const flood = await Promise.all(
      Array.from({ length: 210 }, () => post({ ...listTools, method: "ping" }, { key: keys[0]! })),
    );
    expect(flood.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
  });

  test.each([
    ["a page of another site", { origin: "https://evil.example" }, "origin_not_allowed"],
    ["a page without an origin", { origin: "null" }, "origin_not_allowed"],
    ["a name that was pointed here", { host: "evil.example" }, "host_not_allowed"],
  ])("refuses %s", async (_what, headers, code) => {
    const { port } = new URL(service.url);
    const answer = await new Promise<string>((resolve, reject) => {
      const sent = httpRequest(
        {
          port,
          host: "127.0.0.1",
          path: "/mcp",
          method: "POST",
          headers: {
            ...accept,
            "content-type": "application/json",
            authorization: `Bearer ${service.key}`,
            ...headers,
          },
        },
        (response) => resolve(text(response)),
      );
      sent.on("error", reject).end(JSON.stringify(initialize));
    });
    expect(JSON.parse(answer)).toMatchObject({ status: 403, code });
  });

  test("accepts pages of this machine", async () => {
    for (const origin of [service.url, "http://localhost:6274"])
      expect((await post(initialize, { headers: { origin } })).status, origin).toBe(200);
  });

  test.each([
    ["a batch", [initialize], 400, "invalid_params"],
    ["a number", 7, 400, "invalid_params"],
    ["half a message", '{"jsonrpc"', 400, "invalid_json"],
    ["a name twice", '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400, "invalid_json"],
    ["deep nesting", `{"params":${"[".repeat(40)}${"]".repeat(40)}}`, 400, "invalid_json"],
    ["a large body", { ...listTools, params: { x: "x".repeat(70_000) } }, 413, "body_too_large"],
  ])("refuses %s", async (_what, body, status, code) => {
    expect(await post(body)).toMatchObject({ status, body: { code } });
  });

  test("takes long texts for the tool that checks citations, and for no other", async () => {
    // 20,000 characters, each escaped: 120,000 bytes.
    const text = "\\u6cd5".repeat(20_000);
    const callOf = (name: string, argument: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${argument}}}`;
    expect((await post(callOf("legal_citation_check", `{"text":"${text}"}`))).status).toBe(200);
    const long = await post(callOf("legal_laws", `{"query":"${text}"}`));
    expect(long).toMatchObject({ status: 413, body: { code: "body_too_large" } });
    const longer = await post(callOf("legal_citation_check", `{"text":"${text}${text}${text}"}`));
    expect(longer.status).toBe(413);
  });

  test("refuses other media types and methods", async () => {
    const plain = await post(initialize, { headers: { "content-type": "text/plain" } });
    expect(plain).toMatchObject({ status: 415, body: { code: "unsupported_media_type" } });
    for (const method of ["GET", "DELETE"]) {
      const refused = await fetch(`${service.url}/mcp`, {
        method,
        headers: { authorization: `Bearer ${service.key}` },
      });
      expect(refused.status, method).toBe(405);
      expect(refused.headers.get("allow")).toBe("POST");
    }
  });

  test("lets nobody choose the signal or the address of a call", async () => {
    const forged = { "x-mcp-call": "1", "x-forwarded-for": "203.0.113.9" };
    const client = await connect(service.key, "2026-07-28", forged);
    expect((await call(client, "balance")).isError).toBeFalsy();
  });

  test("is counted and listed as the calls that its tools are", async () => {
    const { keys } = await service.account(100_000);
    const count = async (line: string) => {
      const { text: metrics } = await service.call("/metrics", { key: null });
      return Number(
        metrics
          .split("\n")
          .find((one) => one.startsWith(line))
          ?.split(" ")
          .at(-1) ?? 0,
      );
    };
    const line = 'dataq_calls_total{operation="legal_cases",outcome="ok"}';
    const before = await count(line);
    const client = await connect(keys[0]!, "2026-07-28", { "x-request-id": "my-run.1" });
    await call(client, "legal_cases", { query: "found counted" });
    expect(await count(line)).toBe(before + 1);
    expect(await count('dataq_requests_total{route="/mcp",status="200"}')).toBeGreaterThan(0);
    const { body } = await service.call("/v1/requests", { key: keys[0]! });
    expect(body.data).toMatchObject([
      { operation: "legal_cases", status: 200, tokens: 5_000, client_request_id: "my-run.1" },
    ]);
  });

  test("is named where agents look for it", async () => {
    expect((await service.call("/llms.txt")).text).toContain("`POST /mcp`");
    expect((await service.call("/openapi.json")).body.paths).toHaveProperty(["/mcp", "post"]);
  });

  test("keeps keys out of the log", async () => {
    const client = await connect(service.key);
    await call(client, "legal_laws", { query: `found ${service.key}` });
    expect(service.log()).not.toContain(service.key);
  });
});

describe("a real answer", () => {
  let samples: InProcessService;
  beforeAll(async () => {
    samples = await startInProcess({ DATAQ_SAMPLES: "on" }, { isScripted: false });
  }, 120_000);
  afterAll(() => samples?.[Symbol.asyncDispose]());

  const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
  const processOf = (args: readonly string[], env: Record<string, string>) => ({
    command: process.execPath,
    args: ["--conditions=source", main, "mcp", ...args],
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: "/nonexistent",
      NODE_COMPILE_CACHE: compileCache,
      ...env,
    },
  });

  /** A client of 2026 first asks another such process for the protocol. */
  async function connectStdio(args: readonly string[], env: Record<string, string>, era: Era = "2025-11-25") {
    const mode = era === "2025-11-25" ? "legacy" : "auto";
    const client = new Client(
      { name: "test", version: "1" },
      { jsonSchemaValidator, versionNegotiation: { mode } },
    );
    const transport = new StdioClientTransport({ ...processOf(args, env), stderr: "pipe" });
    let log = "";
    transport.stderr?.on("data", (chunk) => {
      log += chunk;
    });
    await client.connect(transport);
    expect(client.getNegotiatedProtocolVersion()).toBe(era);
    open.push(client);
    return { client, log: () => log };
  }

  /** The official client checks each answer against the output schema of its tool. */
  async function callAll(client: McpClient): Promise<void> {
    await client.listTools();
    const { body } = await samples.call("/v1/catalog");
    for (const { operation, example, kind } of body.data) {
      const answer = await client.callTool({ name: operation, arguments: example.params });
      expect(answer.isError, `${operation}: ${textOf(answer as CallToolResult)}`).toBeFalsy();
      expect(answer.structuredContent).toMatchObject({ operation, usage: { tokens: 0 } });
      expect(textOf(answer as CallToolResult)).toContain(
        kind === "list" ? " records, page 1 of " : "1 record.",
      );
    }
    const part = await client.callTool({
      name: "research_paper_search",
      arguments: {
        ...body.data.find((one: { operation: string }) => one.operation === "research_paper_search").example
          .params,
        fields: ["title"],
      },
    });
    expect(Object.keys((part.structuredContent as { data: object[] }).data[0]!).sort()).toEqual([
      "id",
      "title",
    ]);
  }

  test("of every operation matches the schema of its tool over HTTP", async () => {
    for (const era of eras) await callAll(await connect(samples.key, era, {}, samples));
  });

  test("of every operation matches the schema of its tool over stdio", async () => {
    const env = { DATAQ_API_KEY: samples.key, DATAQ_BASE_URL: `${samples.url}/` };
    const { client, log } = await connectStdio(["--budget", "7000"], env, "2026-07-28");
    await callAll(client);
    expect((await client.callTool({ name: "balance" })).structuredContent).toMatchObject({
      budget_left: 7_000,
    });
    expect(await client.readResource({ uri: "dataq://prices" })).toHaveProperty("contents.0.mimeType");
    expect(log()).toBe(`dataq mcp: serving ${samples.url}/\n`);
  });

  test("over stdio keeps the budget of its process", async () => {
    const { keys } = await service.account(100_000);
    const env = { DATAQ_API_KEY: keys[0]!, DATAQ_BASE_URL: service.url };
    const { client } = await connectStdio(["--budget", "5000"], env);
    expect((await call(client, "legal_laws", { query: "found 1" })).isError).toBeFalsy();
    expect(errorOf(await call(client, "legal_laws", { query: "found 2" })).code).toBe("budget_exceeded");
    const cancel = new AbortController();
    const pending = client.callTool(
      { name: "research_paper_search", arguments: { query: "hang" } },
      { signal: cancel.signal },
    );
    cancel.abort();
    await expect(pending).rejects.toThrow();
    const next = await connectStdio([], env);
    expect((await call(next.client, "legal_laws", { query: "found 2" })).isError).toBeFalsy();
  });

  test("over stdio is an error when the service is gone, or is another one", async () => {
    for (const DATAQ_BASE_URL of ["http://127.0.0.1:9", `${samples.url}/elsewhere`]) {
      const { client } = await connectStdio([], { DATAQ_API_KEY: samples.key, DATAQ_BASE_URL });
      const error = errorOf(await call(client, "balance"));
      expect(error.code, DATAQ_BASE_URL).toMatch(/^(unavailable|no_such_route)$/);
      if (DATAQ_BASE_URL.endsWith(":9")) expect(error.next_action).toContain("dataq serve");
      await expect(client.listTools()).rejects.toThrow();
    }
  });

  test("is all that stdout gets, and the process ends with stdin", async () => {
    const { command, args, env } = processOf([], { DATAQ_API_KEY: samples.key, DATAQ_BASE_URL: samples.url });
    const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "ignore"] });
    const lines = text(child.stdout);
    const ended = new Promise((resolve) => child.on("close", resolve));
    child.stdin.write(`no JSON\n${JSON.stringify(initialize)}\n${JSON.stringify(listTools)}\n`);
    let seen = "";
    child.stdout.on("data", (chunk) => {
      seen += chunk;
      if (/"id":2[,}]/.test(seen)) child.stdin.end();
    });
    expect(await ended).toBe(0);
    for (const line of (await lines).trim().split("\n"))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  });

  test("needs a key before it starts", async () => {
    const { command, args, env } = processOf([], { DATAQ_DATA: "/nonexistent" });
    const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect([out, err]).toEqual(["", "dataq: No API key. Set DATAQ_API_KEY.\n"]);
  });
});

type JsonObject = {
  properties: Record<string, JsonObject>;
  required?: string[];
  additionalProperties?: boolean;
  type?: string;
};
