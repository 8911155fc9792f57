import { envelopeSchema, errors, operations } from "@dataq/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ServiceProcess, startService } from "../../service/test/service-process.ts";
import {
  APIError,
  AuthenticationError,
  BadRequestError,
  BudgetExceededError,
  ConflictError,
  DataQuery,
  type DataQueryOptions,
  DataQuerySync,
  type DevnorsDataError,
  InsufficientBalanceError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  UnprocessableError,
} from "../src/index.ts";
import { startLossyProxy } from "./lossy-proxy.ts";
import { withoutLaws } from "./sample-laws.ts";

let service: ServiceProcess;
let client: DataQuery;
let sync: DataQuerySync;
beforeAll(async () => {
  service = await startService({ vendor: { without: ["legal_citation_check"] } });
  client = new DataQuery(connection());
  sync = new DataQuerySync(connection());
});
afterAll(async () => {
  sync?.close();
  await service?.[Symbol.asyncDispose]();
});

function connection(): DataQueryOptions {
  return { apiKey: service.key, baseUrl: service.url };
}

const classOf: Readonly<Record<number, typeof APIError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  402: InsufficientBalanceError,
  403: PermissionDeniedError,
  404: NotFoundError,
  405: BadRequestError,
  409: ConflictError,
  413: BadRequestError,
  415: BadRequestError,
  422: UnprocessableError,
  429: RateLimitError,
};

describe("the answer of every operation matches its type", () => {
  test.each(operations.map((operation) => [operation.name, operation] as const))(
    "%s",
    async (name, operation) => {
      const schema = envelopeSchema(operation);
      const params = (withoutLaws[name] ?? operation.example) as never;
      const plain = await client.query(name, params);
      expect(schema.safeParse(plain).error).toBeUndefined();
      expect(plain.usage).toMatchObject({ tokens: expect.any(Number), balance: expect.any(Number) });
      expect([plain.data].flat().length, "records").toBeGreaterThan(0);
      expect(plain.response).toMatchObject({ status: 200, requestId: plain.request_id });
      expect(schema.safeParse(sync.query(name, params)).error).toBeUndefined();
    },
  );
});

describe("errors of the service become the client's error classes", () => {
  test("a wrong key", async () => {
    const apiKey = service.key.replace(/.$/, (last) => (last === "x" ? "y" : "x"));
    const wrong = new DataQuery({ ...connection(), apiKey });
    const error = await wrong.balance().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({
      status: 401,
      code: "invalid_api_key",
      attempts: 1,
      requestId: expect.any(String),
    });
  });

  test("a wrong parameter, with its fix", async () => {
    const tax_id = "91330100716105852A";
    for (const thrown of [
      await client.enterprise_company_detail({ tax_id }).catch((error: unknown) => error),
      catchSync(() => sync.enterprise_company_detail({ tax_id })),
    ]) {
      expect(thrown).toBeInstanceOf(BadRequestError);
      expect(thrown).toMatchObject({ code: "invalid_params", details: [{ param: "params.tax_id" }] });
    }
  });

  test("a missing record is free", async () => {
    const before = await client.balance();
    const call = client.enterprise_company_detail({ tax_id: "91420000757013137P" });
    await expect(call).rejects.toThrow(NotFoundError);
    expect((await client.balance()).balance).toBe(before.balance);
  });
});

test("every error of the service has its class in both clients", async () => {
  const opened = await service.call("/admin/v1/accounts", {
    body: { name: "sandbox", keys: 0, tier: "operator" },
  });
  const { account_id: id } = opened.body as { account_id: string };
  const keys = await service.call(`/admin/v1/accounts/${id}/keys`, { body: { mode: "test" } });
  const apiKey = (keys.body as { keys: string[] }).keys[0] ?? "";
  const options = { ...connection(), apiKey, maxRetries: 0 };
  const plain = new DataQuery(options);
  using blocking = new DataQuerySync(options);
  for (const [code, { status }] of Object.entries(errors)) {
    const params = { query: `sandbox:${code}:7` };
    const call = plain.research_paper_search(params);
    for (const thrown of [
      await call.catch((error: unknown) => error),
      catchSync(() => blocking.research_paper_search(params)),
    ]) {
      expect(thrown, code).toBeInstanceOf(classOf[status] ?? (status >= 500 ? ServerError : APIError));
      expect(thrown).toMatchObject({ code, status, attempts: 1, requestId: expect.stringMatching(/^req_/) });
      const waits = status === 429 || status === 503 ? 7 : undefined;
      expect((thrown as DevnorsDataError).retryAfter, code).toBe(waits);
    }
  }
});

describe("an account of its own", () => {
  test("with too few tokens gets an InsufficientBalanceError with the shortfall", async () => {
    const apiKey = await openAccount({ tokens: 700 });
    using poor = new DataQuerySync({ ...connection(), apiKey });
    const error = catchSync(() => poor.content_hot_rank({ platform: "baidu" }));
    expect(error).toBeInstanceOf(InsufficientBalanceError);
    expect(error).toMatchObject({
      status: 402,
      required: 5_000,
      balance: 700,
      shortfall: 4_300,
      attempts: 1,
    });
  });

  test("with a low rate limit is paged without a 429, because paginate waits in time", async () => {
    const apiKey = await openAccount({ tokens: 100_000, tier: "trial" });
    const own = new DataQuery({ ...connection(), apiKey, maxRetries: 0 });
    let pages = 0;
    for await (const page of own.paginate(
      "research_paper_search",
      { query: "的", page_size: 2 },
      { maxPages: 12 },
    )) {
      expect(page.response.attempts).toBe(1);
      pages++;
    }
    expect(pages).toBe(12);
  });

  test("retries after a 429", async () => {
    const apiKey = await openAccount({ tokens: 100_000, tier: "trial" });
    const statuses: number[] = [];
    const onResponse = ({ status }: { status: number }): void => void statuses.push(status);
    const own = new DataQuery({ ...connection(), apiKey, onResponse, maxRetries: 10 });
    const calls = Array.from({ length: 13 }, () => own.research_paper_search({ query: "的" }));
    for (const { data } of await Promise.all(calls)) expect(data.length).toBeGreaterThan(0);
    expect(statuses).toContain(429);
    expect(statuses.filter((status) => status === 200)).toHaveLength(13);
    expect((await own.balance()).balance).toBe(100_000 - 13 * 500);
  });
});

describe("money", () => {
  test("estimate equals the charge, and balance and usage reflect it", async () => {
    const params = { keyword: "机器学习" };
    const group = { group_by: ["operation"] } as const;
    const spentOn = async () =>
      (await client.usage(group)).data.find(({ operation }) => operation === "content_keyword_index")
        ?.tokens ?? 0;
    const usedBefore = await spentOn();
    for (const cached of [false, true]) {
      const estimate = await client.estimate("content_keyword_index", params);
      expect(estimate.cached).toBe(cached);
      const { usage } = await client.content_keyword_index(params);
      expect(usage.tokens).toBe(estimate.tokens);
      expect(usage.balance).toBe(estimate.balance_after);
    }
    expect((await spentOn()) - usedBefore).toBe(7_500);
  });

  test("charges a call once when its response is lost", async () => {
    const proxy = await startLossyProxy({ target: service.url, faults: ["lose"], attempts: 1, seed: 1 });
    const behind = { ...connection(), baseUrl: proxy.url, retryDelay: 0 };
    using syncBehind = new DataQuerySync(behind);
    const { balance: before } = await client.balance();
    const one = await new DataQuery(behind).content_wechat_index({ keyword: "春运" });
    const two = syncBehind.content_hot_rank({ platform: "zhihu" });
    for (const { response, data } of [one, two]) {
      expect(response.attempts).toBe(2);
      expect(data).toBeTypeOf("object");
    }
    expect(before - (await client.balance()).balance).toBe(10_000);
    const seen = (await proxy.seen()).filter(({ key }) => key !== "");
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(seen.map(({ key }) => key)).size).toBe(2);
    proxy.close();
  });

  test("paginate stays within its budget", async () => {
    const { balance: before } = await client.balance();
    const walk = client.paginate(
      "research_paper_search",
      { query: "的", page_size: 5 },
      { maxTokens: 1_200 },
    );
    const given: unknown[] = [];
    const error = await (async () => {
      for await (const item of walk.items()) given.push(item.id);
    })().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BudgetExceededError);
    expect(error).toMatchObject({ spent: 1_000, budget: 1_200 });
    expect(given).toHaveLength(10);
    expect(before - (await client.balance()).balance).toBe(1_000);
  });
});

test("the pages of a search contain each record once", async () => {
  const pages = client.paginate("research_journal_search", { query: "学报", page_size: 7 });
  const ids: string[] = [];
  let total = -1;
  for await (const page of pages) {
    total = page.total;
    ids.push(...page.data.map(({ id }) => id));
  }
  expect(total).toBeGreaterThan(7);
  expect(new Set(ids).size).toBe(total);
  expect(ids).toHaveLength(total);
  const walked = sync
    .paginate("research_journal_search", { query: "学报", page_size: 50 })
    .toArray({ limit: 1_000 });
  expect(walked.map(({ id }) => id)).toEqual(ids);
});

/** Creates an account and returns its key. */
async function openAccount(account: { tokens: number; tier?: string }): Promise<string> {
  const { body } = await service.call("/admin/v1/accounts", { body: { name: "client test", ...account } });
  return (body as { keys: string[] }).keys[0] ?? "";
}

function catchSync(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}
