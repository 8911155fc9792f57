import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { envelopeSchema, operations } from "@dataq/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  AuthenticationError,
  BadRequestError,
  BudgetExceededError,
  DataQuery,
  type DataQueryOptions,
  DataQuerySync,
  NotFoundError,
} from "../src/index.ts";
import { repository } from "./packed-project.ts";
import { type RunningService, startService } from "./running-service.ts";

const folder = mkdtempSync(join(tmpdir(), "dataq-client-"));
const run = promisify(execFile);

let service: RunningService;
let client: DataQuery;
let sync: DataQuerySync;
beforeAll(async () => {
  service = await startService();
  client = new DataQuery(connection());
  sync = new DataQuerySync(connection());
});
afterAll(async () => {
  sync?.close();
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

function connection(): DataQueryOptions {
  return { apiKey: service.key, baseUrl: service.url };
}

describe("every operation answers in the shape that its type says", () => {
  test.each(operations.map((operation) => [operation.name, operation] as const))(
    "%s",
    async (name, operation) => {
      const schema = envelopeSchema(operation);
      const plain = await client.query(name, operation.example as never);
      expect(schema.safeParse(plain).error).toBeUndefined();
      expect(plain.usage).toMatchObject({ tokens: expect.any(Number), balance: expect.any(Number) });
      expect([plain.data].flat().length, "records").toBeGreaterThan(0);
      expect(plain.response).toMatchObject({ status: 200, requestId: plain.request_id, attempts: 1 });
      expect(schema.safeParse(sync.query(name, operation.example as never)).error).toBeUndefined();
    },
  );
});

describe("errors of the service are the client's classes", () => {
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

  test("a record that does not exist costs nothing", async () => {
    const before = await client.balance();
    const call = client.enterprise_company_detail({ tax_id: "91420000757013137P" });
    await expect(call).rejects.toThrow(NotFoundError);
    expect((await client.balance()).balance).toBe(before.balance);
  });
});

describe("money", () => {
  test("a call whose answer was lost is charged once", async () => {
    const proxy = await startLossyProxy(service.url);
    const behind = { ...connection(), baseUrl: proxy.url, retryDelay: 0 };
    using syncBehind = new DataQuerySync(behind);
    const { balance: before } = await client.balance();
    const one = await new DataQuery(behind).legal_laws({ query: "违约金" });
    const two = syncBehind.legal_laws({ query: "损害赔偿" });
    for (const { response, data } of [one, two]) {
      expect(response.attempts).toBe(2);
      expect(data.length).toBeGreaterThan(0);
    }
    expect(before - (await client.balance()).balance).toBe(10_000);
    const seen = (await (await fetch(`${proxy.url}/_seen`)).json()) as { key: string; status: number }[];
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(seen.map(({ key }) => key)).size).toBe(2);
    proxy.close();
  });

  test("a walk stays within its budget, to the token", async () => {
    const { balance: before } = await client.balance();
    const walk = client.paginate("legal_laws", { query: "合同", page_size: 5 }, { maxTokens: 12_000 });
    const given: unknown[] = [];
    const error = await (async () => {
      for await (const item of walk.items()) given.push(item.id);
    })().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BudgetExceededError);
    expect(error).toMatchObject({ spent: 10_000, budget: 12_000 });
    expect(given).toHaveLength(10);
    expect(before - (await client.balance()).balance).toBe(10_000);
  });
});

test("the pages of a search hold each of its records once", async () => {
  const pages = client.paginate("legal_laws", { query: "租赁", page_size: 7 });
  const ids: string[] = [];
  let total = -1;
  for await (const page of pages) {
    total = page.total;
    ids.push(...page.data.map(({ id }) => id));
  }
  expect(total).toBeGreaterThan(7);
  expect(new Set(ids).size).toBe(total);
  expect(ids).toHaveLength(total);
  const walked = sync.paginate("legal_laws", { query: "租赁", page_size: 50 }).toArray({ limit: 1_000 });
  expect(walked.map(({ id }) => id)).toEqual(ids);
});

describe("programs", () => {
  test("the examples run", async () => {
    const examples = `${repository}examples/dataq/`;
    expect(await runProgram(`${examples}law-article.ts`)).toContain(
      "继续履行、采取补救措施或者赔偿损失等违约责任",
    );
    expect(await runProgram(`${examples}company-check.ts`)).toMatch(/\d+ tokens spent/);
    const papers = join(folder, "papers.jsonl");
    const first = await runProgram(`${examples}collect-papers.ts`, "的", papers);
    expect(first).toMatch(/^40 papers for 1000 tokens; start again for more/);
    expect(readFileSync(papers, "utf8").trim().split("\n")).toHaveLength(40);
    expect(await runProgram(`${examples}collect-papers.ts`, "的", papers)).toMatch(/^\d+ papers/);
    const ids = readFileSync(papers, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(40);
  });

  test("dataq query and dataq paginate run on the command line", async () => {
    const dataq = `${repository}dataq/service/src/cli/main.ts`;
    const answer = JSON.parse(await runProgram(dataq, "query", "legal_laws", "民法典577"));
    expect(answer).toMatchObject({ operation: "legal_laws", data: [{ article_no_arabic: 577 }] });
    const walk = ["paginate", "legal_laws", "合同", "--page-size", "3", "--max-pages", "2"];
    const lines = (await runProgram(dataq, ...walk)).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).law_name)).toHaveLength(6);
  });
});

async function runProgram(path: string, ...words: string[]): Promise<string> {
  const conditions = path.startsWith(repository) ? ["-C", "source"] : [];
  const env = { ...process.env, DATAQ_API_KEY: service.key, DATAQ_BASE_URL: service.url };
  const { stdout } = await run(process.execPath, [...conditions, path, ...words], { env, timeout: 60_000 });
  return stdout;
}

function catchSync(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}

async function startLossyProxy(target: string) {
  const path = fileURLToPath(new URL("./lossy-proxy.ts", import.meta.url));
  const child = spawn(process.execPath, [path, target], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { url: (JSON.parse(line) as { url: string }).url, close: () => child.stdin.end() };
}
