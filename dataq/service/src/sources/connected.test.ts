import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Failure, findOperation, type Operation } from "@dataq/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeDataFolder, openFolder, removeDataFolder } from "../../test/data-folder.ts";
import { readContracts } from "../connector/configured.ts";
import { Contract, usualTerms } from "../connector/contract.ts";
import type { Database } from "../database/database.ts";
import { ContractGate } from "../limits/contract-gate.ts";
import { expressTracking } from "../operations/cloud/express-tracking/operation.ts";
import { testContract } from "../operations/connector-trial.ts";
import { connected } from "./connected.ts";

/** A stand-in for vendors that answers with what the test sets. */
let answer: (request: IncomingMessage, body: string, response: ServerResponse) => void;
let calls: { url: string; body: string }[] = [];
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    calls.push({ url: request.url ?? "", body });
    answer(request, body, response);
  });
});
let base: string;
let folder: string;
let database: Database;
let gate: ContractGate;

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  gate = new ContractGate(database);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await database.close();
  await removeDataFolder(folder);
});
beforeEach(async () => {
  calls = [];
  await database.query("delete from contract_state");
  await database.query("delete from contract_call");
  await database.query("delete from vendor_request");
});

const json = (value: unknown) => (_: IncomingMessage, __: string, response: ServerResponse) => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(value));
};
const context = {
  signal: new AbortController().signal,
  now: new Date("2026-03-01T00:00:00Z"),
  sandbox: false,
};
const page = { page: 1, pageSize: 20 };

const parcel = {
  message: "ok",
  nu: "YT1000000000017",
  ischeck: "1",
  com: "yuantong",
  status: "200",
  state: "3",
  data: [
    {
      time: "2026-02-01 09:00:00",
      ftime: "2026-02-01 09:00:00",
      context: "已揽收",
      areaName: "杭州",
      statusCode: "103",
    },
    {
      time: "2026-02-03 18:30:00",
      ftime: "2026-02-03 18:30:00",
      context: "已签收，电话13812345678",
      statusCode: "301",
    },
  ],
};

/** The contracts of a connectors.json with these entries. */
async function contractsOf(entries: readonly object[], terms = {}, now?: () => number): Promise<Contract[]> {
  const path = join(folder, `connectors-${randomUUID()}.json`);
  writeFileSync(path, JSON.stringify({ connectors: entries }));
  const parts = await readContracts(path);
  return parts.map((each) => new Contract({ ...each, terms: { ...each.terms, ...terms } }, gate, now));
}

const tracking = "cloud_express_tracking";

async function express(terms = {}, now?: () => number, vendor = base) {
  const entry = {
    vendor: "kuaidi100",
    customer: "C-1",
    key: "K-1",
    url: `${vendor}/poll/query.do`,
    cost_fen: 7,
  };
  const contracts = await contractsOf([entry], terms, now);
  return {
    contract: contracts[0]!,
    ask: (until = Date.now()) =>
      connected(tracking, contracts, expressTracking.fromVendor).run(
        { express_no: "YT1000000000017" },
        page,
        { ...context, until },
      ),
  };
}

test("converts a parcel of kuaidi100 to the contract's record, and signs the request", async () => {
  answer = json(parcel);
  const { ask } = await express();
  const { record, outcome, cacheS } = await ask();
  expect(outcome).toBe("found");
  expect(cacheS).toBe(604_800);
  const { record: schema } = findOperation("cloud_express_tracking") as Operation;
  expect(schema.strict().safeParse(record).error).toBeUndefined();
  expect(record).toMatchObject({
    state: "delivered",
    state_raw: "3",
    signed_at: "2026-02-03T18:30:00+08:00",
    events: [
      { state: "delivered", description: "已签收，电话138****5678" },
      { state: "collected", location: "杭州" },
    ],
    source: { name: "kuaidi100", kind: "licensed" },
  });
  const form = new URLSearchParams(calls[0]?.body);
  const param = form.get("param") as string;
  expect(JSON.parse(param)).toMatchObject({ com: "yuantong", num: "YT1000000000017" });
  expect(form.get("sign")).toBe(createHash("md5").update(`${param}K-1C-1`).digest("hex").toUpperCase());
  expect(await gate.states(new Date())).toEqual(
    new Map([["kuaidi100", { requests: 1, costFen: 7, lastFailure: null, paused: null, stated: null }]]),
  );
});

test.each([
  ["500", undefined, "not_found"],
  ["408", "verification_required", undefined],
  ["503", "unavailable", undefined],
  ["601", "unavailable", undefined],
  ["400", "upstream_error", undefined],
])("kuaidi100's error %s becomes the right failure", async (returnCode, code, outcome) => {
  answer = json({ result: false, returnCode, message: "x" });
  const { ask } = await express();
  const asked = ask();
  if (code === undefined) expect(await asked).toMatchObject({ outcome });
  else await expect(asked).rejects.toMatchObject({ code });
});

test.each([
  ["an unknown state", json({ ...parcel, state: "77" })],
  ["a time that is none", json({ ...parcel, data: [{ ...parcel.data[0], ftime: "gestern", time: "" }] })],
  ["another form", json({ hello: 1 })],
  ["a list", json([])],
  ["null", json(null)],
  ["no JSON", (_: IncomingMessage, __: string, response: ServerResponse) => response.end("<html>")],
  [
    "status 500",
    (_: IncomingMessage, __: string, response: ServerResponse) => response.writeHead(500).end("{}"),
  ],
  [
    "a redirect",
    (_: IncomingMessage, __: string, response: ServerResponse) =>
      response.writeHead(302, { location: "/x" }).end(),
  ],
  [
    "half an answer",
    (_: IncomingMessage, __: string, response: ServerResponse) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write('{"message":');
      response.destroy();
    },
  ],
])("a vendor that answers with %s is upstream_error", async (_, wrong) => {
  answer = wrong as typeof answer;
  const { ask } = await express();
  await expect(ask()).rejects.toMatchObject({ code: "upstream_error" });
});

test("a vendor that is too slow is upstream_timeout", async () => {
  answer = () => {};
  const { ask } = await express({ timeLimitMs: 100 });
  await expect(ask()).rejects.toMatchObject({ code: "upstream_timeout" });
});

test("a request without an answer keeps its cost, because the vendor may charge it; one that failed or was not sent has none", async () => {
  const costs = async () => {
    const { rows } = await database.query<{ cost: number; outcome: string }>(
      "select cost_fen::float8 as cost, outcome from vendor_request order by sent_at desc limit 1",
    );
    return rows[0];
  };
  answer = () => {};
  const slow = await express({ timeLimitMs: 100 });
  await expect(slow.ask()).rejects.toMatchObject({ code: "upstream_timeout" });
  expect(await costs()).toEqual({ cost: 7, outcome: "failed" });
  const { contract } = await express();
  const leaving = new AbortController();
  const waiting = calls.length;
  const asked = contract.ask(tracking, { express_no: "YT1" }, { signal: leaving.signal, patienceMs: 0 });
  await expect.poll(() => calls.length).toBe(waiting + 1);
  leaving.abort();
  await expect(asked).rejects.toMatchObject({ code: "upstream_error" });
  expect(await costs()).toEqual({ cost: 7, outcome: "left" });
  answer = (_, __, response) => response.destroy();
  await expect((await express()).ask()).rejects.toMatchObject({ code: "upstream_error" });
  expect(await costs()).toEqual({ cost: 7, outcome: "failed" });
  answer = (_, __, response) => response.writeHead(500).end("{}");
  await expect((await express()).ask()).rejects.toMatchObject({ code: "upstream_error" });
  expect(await costs()).toEqual({ cost: 0, outcome: "failed" });
  const nobody = createServer().listen(0, "127.0.0.1");
  await once(nobody, "listening");
  const { port } = nobody.address() as AddressInfo;
  nobody.close();
  await once(nobody, "close");
  const away = await express({}, undefined, `http://127.0.0.1:${port}`);
  await expect(away.ask()).rejects.toMatchObject({ code: "upstream_error" });
  expect(await costs()).toEqual({ cost: 0, outcome: "failed" });
});

test("after five consecutive failures the vendor is not called, then tried again", async () => {
  let now = 1_000_000;
  const { ask } = await express({}, () => now);
  answer = json({});
  for (let i = 0; i < 5; i++) await expect(ask()).rejects.toMatchObject({ code: "upstream_error" });
  await expect(ask()).rejects.toMatchObject({ code: "unavailable", details: { retry_after: 30 } });
  expect(calls).toHaveLength(5);
  now += 30_000;
  await expect(ask()).rejects.toMatchObject({ code: "upstream_error" });
  await expect(ask()).rejects.toMatchObject({ code: "unavailable" });
  now += 30_000;
  answer = json(parcel);
  expect(await ask()).toMatchObject({ outcome: "found" });
  expect(await ask()).toMatchObject({ outcome: "found" });
});

test("a call waits while all places are taken, as long as its caller does", async () => {
  const waiting: ServerResponse[] = [];
  answer = (_, __, response) => void waiting.push(response);
  const { ask } = await express({ mostAtOnce: 1 });
  const first = ask();
  await expect.poll(() => waiting.length).toBe(1);
  await expect(ask()).rejects.toMatchObject({ code: "unavailable" });
  const second = ask(Date.now() + 20_000);
  answer = json(parcel);
  waiting[0]!.end(JSON.stringify(parcel));
  expect(await Promise.all([first, second])).toMatchObject([{ outcome: "found" }, { outcome: "found" }]);
  expect(calls).toHaveLength(2);
});

test("of several calls after the pause, one asks the vendor, and its cancellation lets the next one try", async () => {
  let now = 0;
  const { contract, ask } = await express({}, () => now);
  answer = json({});
  for (let i = 0; i < 5; i++) await expect(ask()).rejects.toMatchObject({ code: "upstream_error" });
  now += 30_000;
  const waiting: ServerResponse[] = [];
  answer = (_, __, response) => void waiting.push(response);
  const leaving = new AbortController();
  const tried = contract
    .ask(tracking, { express_no: "YT1000000000017" }, { signal: leaving.signal, patienceMs: 0 })
    .catch((error: Error) => error);
  await expect.poll(() => waiting.length).toBe(1);
  const others = await Promise.allSettled([ask(), ask(), ask()]);
  expect(others.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  leaving.abort();
  await tried;
  answer = json(parcel);
  expect(await ask()).toMatchObject({ outcome: "found" });
  expect(calls).toHaveLength(7);
});

test("a call whose service was killed counts until its lease ends", async () => {
  let now = 0;
  const { ask, contract } = await express({ mostAtOnce: 1 }, () => now);
  answer = json(parcel);
  const killed = { id: "killed", contract: "kuaidi100", operation: tracking, requestId: null };
  const times = { leaseMs: 10_000, nowMs: now, patienceMs: 0 };
  await gate.enter({ ...killed, ...times, terms: contract.terms, costFen: 7 });
  now = 9_999;
  await expect(ask()).rejects.toMatchObject({ code: "unavailable", details: { retry_after: 1 } });
  now = 10_000;
  expect(await ask()).toMatchObject({ outcome: "found" });
});

test("refuses more simultaneous calls than the contract allows", async () => {
  const waiting: ServerResponse[] = [];
  answer = (_, __, response) => void waiting.push(response);
  const { ask } = await express({ mostAtOnce: 2 });
  const two = [ask(), ask()];
  await expect.poll(() => waiting.length).toBe(2);
  await expect(ask()).rejects.toMatchObject({ code: "unavailable", details: { retry_after: 1 } });
  for (const response of waiting) response.end(JSON.stringify(parcel));
  expect(await Promise.all(two)).toHaveLength(2);
});

describe("the limits of a contract", () => {
  const enter = (id: string, nowMs: number, terms = {}, patienceMs = 0, operation = tracking) =>
    gate.enter({
      ...{
        id,
        contract: "limited",
        operation,
        requestId: null,
        leaseMs: 1_000,
        nowMs,
        patienceMs,
        costFen: 1,
      },
      terms: { ...usualTerms, ...terms },
    });

  test("give turns away one by one, for all operations together, and none that nobody would wait for", async () => {
    const terms = { everyMs: 1_000 };
    const now = Date.parse("2026-03-01T00:00:00Z");
    const turns = [];
    for (const [n, patience] of [0, 1_500, 1_500, 5_000, 0].entries())
      turns.push(await enter(`turn ${n}`, now, terms, patience, n % 2 === 0 ? tracking : detail));
    expect(turns).toEqual([
      { refused: null, waitMs: 0 },
      { refused: null, waitMs: 1_000 },
      { refused: "rate", waitMs: 2_000, why: null },
      { refused: null, waitMs: 2_000 },
      { refused: "rate", waitMs: 3_000, why: null },
    ]);
    expect(await enter("later", now + 3_000, terms)).toEqual({ refused: null, waitMs: 0 });
  });

  test("of a day end at midnight in China", async () => {
    const terms = { mostPerDay: 2 };
    const evening = Date.parse("2026-03-01T15:59:00Z");
    expect(await enter("1", evening, terms)).toMatchObject({ refused: null });
    expect(await enter("2", evening, terms)).toMatchObject({ refused: null });
    expect(await enter("3", evening, terms)).toEqual({ refused: "day", waitMs: 60_000, why: null });
    expect(await enter("4", evening + 60_000, terms)).toMatchObject({ refused: null });
  });

  test("survive a clock that was far ahead", async () => {
    const now = Date.parse("2026-03-01T00:00:00Z");
    await enter("ahead", now + 86_400_000, { everyMs: 1_000 });
    expect(await enter("now", now, { everyMs: 1_000 })).toEqual({ refused: null, waitMs: 0 });
  });

  test("pause as long as the vendor asks, without counting as its failure, and a test ends the pause", async () => {
    let now = 5_000_000;
    const { ask } = await express({}, () => now);
    answer = (_, __, response) => response.writeHead(429, { "retry-after": "120" }).end("{}");
    await expect(ask()).rejects.toMatchObject({ code: "unavailable", details: { retry_after: 120 } });
    answer = json(parcel);
    now += 119_000;
    await expect(ask()).rejects.toMatchObject({ code: "unavailable", details: { retry_after: 1 } });
    expect(calls).toHaveLength(1);
    const { lastFailure, costFen, paused } = (await gate.states(new Date(now))).get("kuaidi100")!;
    expect([lastFailure, costFen, paused?.isOutOfMoney]).toEqual([null, 0, false]);
    now += 1_000;
    expect(await ask()).toMatchObject({ outcome: "found" });
    answer = (_, __, response) => response.writeHead(429, { "retry-after": "120" }).end("{}");
    await expect(ask()).rejects.toMatchObject({ code: "unavailable" });
    await gate.clear("kuaidi100");
    answer = json(parcel);
    expect(await ask()).toMatchObject({ outcome: "found" });
  });
});

const mapping = (changes = {}) => ({
  vendor: "mapping",
  operation: "enterprise_company_detail",
  name: "Register",
  request: { url: `${base}/company?code={tax_id}` },
  answer: {
    ok: { path: "status", equals: ["200", "201"] },
    not_found: { path: "status", equals: ["201"] },
    record: "result",
    fields: {
      tax_id: "CreditCode",
      name: "Name",
      status: "Status",
      status_code: "Status",
      "registered_capital.text": "Capital.Text",
    },
    constants: { former_names: [] },
    values: { status_code: { 存续: "active", 注销: "cancelled" } },
  },
  ...changes,
});
const detail = "enterprise_company_detail";
const company = async (tax_id = "91330106MA0000007Q", file = mapping()) =>
  connected(detail, await contractsOf([file])).run({ tax_id }, page, context);

test("a mapping file converts a vendor's fields to the contract's record", async () => {
  answer = json({
    status: "200",
    result: {
      CreditCode: "91330106MA0000007Q",
      Name: "某公司",
      Status: "存续",
      Capital: { Text: "100万元" },
    },
  });
  const { record } = await company();
  expect(record).toMatchObject({
    id: "91330106MA0000007Q",
    name: "某公司",
    status: "存续",
    status_code: "active",
    address: null,
    source: { name: "Register", kind: "licensed" },
  });
  await expect(company("9144/../x")).rejects.toMatchObject({ code: "upstream_error" });
  expect(calls.at(-1)?.url).toBe("/company?code=9144%2F..%2Fx");
});

test("a mapping refuses the record of another company, in whatever case its code is written", async () => {
  const result = {
    CreditCode: "91330106ma0000007q ",
    Name: "某公司",
    Status: "存续",
    Capital: { Text: "100万元" },
  };
  answer = json({ status: "200", result });
  expect(await company()).toMatchObject({ outcome: "found" });
  await expect(company("91211102MA00000157")).rejects.toMatchObject({ code: "upstream_error" });
});

describe("an answer in two requests", () => {
  /** Vendors in a file: the first one is asked in two requests, the others in one. */
  const vendors = async (...names: string[]) => {
    const { request, answer: read } = mapping();
    const contracts = names.map((name, place) => {
      const operations = {
        [detail]:
          place > 0
            ? { request, answer: read }
            : {
                steps: [{ request: { url: `${base}/search?code={tax_id}` }, take: { id: "id" } }],
                request: { url: `${base}/company/{id}` },
                answer: read,
              },
      };
      const preset = { name, publisher: { en: name, zh: name }, kind: "licensed", operations };
      writeFileSync(join(folder, `${name}.json`), JSON.stringify(preset));
      return { preset: `./${name}.json`, cost_fen: 7 };
    });
    const path = join(folder, `connectors-${randomUUID()}.json`);
    writeFileSync(path, JSON.stringify({ contracts }));
    return (await readContracts(path)).map((parts) => new Contract(parts, gate));
  };
  /** The same, with little time for each request. */
  const hasty = async (...names: string[]) =>
    (await vendors(...names)).map(
      ({ parts }) => new Contract({ ...parts, terms: { ...parts.terms, timeLimitMs: 1_000 } }, gate),
    );
  const result = { CreditCode: "91330106MA0000007Q", Name: { is: "an object now" }, Status: "存续" };
  const changed = (request: IncomingMessage, body: string, response: ServerResponse) =>
    json(request.url?.startsWith("/search") ? { status: "200", id: 7 } : { status: "200", result })(
      request,
      body,
      response,
    );

  test("five that do not fit are five failures, although each first request works", async () => {
    answer = changed;
    const contracts = await vendors("register");
    const ask = () => connected(detail, contracts).run({ tax_id: "91330106MA0000007Q" }, page, context);
    for (let i = 0; i < 5; i++) await expect(ask()).rejects.toMatchObject({ code: "upstream_error" });
    await expect(ask()).rejects.toMatchObject({ code: "unavailable", details: { retry_after: 30 } });
    expect(calls).toHaveLength(10);
    const state = (await gate.states(new Date())).get("register");
    expect(state?.lastFailure).toContain("name");
    expect(state?.costFen).toBe(5 * 7);
  });

  test.each([
    [20, 2],
    [21, 3],
  ])(
    "both count where the next vendor may cost what the call still brings: %i fen",
    async (priceFen, asked) => {
      answer = changed;
      const contracts = await vendors("first", "second");
      const params = { tax_id: "91330106MA0000007Q" };
      const run = connected(detail, contracts).run(params, page, { ...context, priceFen });
      await expect(run).rejects.toMatchObject({ code: "upstream_error" });
      expect(calls).toHaveLength(asked);
      // One that is too late may charge, too.
      answer = (request, body, response) => {
        if (request.url?.startsWith("/search")) changed(request, body, response);
      };
      calls = [];
      const late = connected(detail, await hasty("slow", "later")).run(params, page, {
        ...context,
        priceFen,
      });
      await expect(late).rejects.toMatchObject({ code: "upstream_timeout" });
      expect(calls).toHaveLength(asked);
    },
  );
});

test.each([
  ["the list is missing", {}],
  ["the count says 1 and the list is empty", { total: 1, result: [] }],
  ["the count says 1 and the list is null", { total: "1", result: null }],
  ["the count is missing", { result: [] }],
  ["the path of the list is wrong", { total: 1, results: [{ c: "(2024)浙01执1号" }] }],
])("a mapping never reads a clean record where %s", async (_, body) => {
  answer = json(body);
  await expect(check()).rejects.toMatchObject({ code: "upstream_error" });
});

test.each([[{ total: 0, result: [] }], [{ total: 0, result: null }], [{ total: "0" }]])(
  "a mapping reads %j as no records",
  async (body) => {
    answer = json(body);
    expect(await check()).toMatchObject({ outcome: "empty" });
  },
);

const check = async () => {
  const operation = "enterprise_shixin_check";
  const answered = { record: "result", total: "total", fields: { case_no: "c", name: "n" } };
  const contracts = await contractsOf([mapping({ operation, answer: answered })]);
  return connected(operation, contracts).run({ company_name: "甲公司" }, page, context);
};

test("a mapping tells 'not found' from an error", async () => {
  answer = json({ status: "201" });
  expect(await company()).toMatchObject({ outcome: "not_found" });
  answer = json({ status: "500" });
  await expect(company()).rejects.toMatchObject({ code: "upstream_error" });
  answer = json({ status: "200", result: { Name: "ohne Code" } });
  await expect(company()).rejects.toMatchObject({ code: "upstream_error" });
  answer = json({ status: "200", result: { CreditCode: "x", Name: "y", Status: "unbekannt" } });
  await expect(company()).rejects.toMatchObject({ code: "upstream_error" });
});

test.each([
  [0, "0"],
  ["0", 0],
  [true, "true"],
])("the status %j matches the condition %j", async (status, wanted) => {
  answer = json({ status });
  const answered = { ...mapping().answer, not_found: { path: "status", equals: [wanted] } };
  expect(await company("1", mapping({ answer: answered }))).toMatchObject({ outcome: "not_found" });
});

test("a missing status matches no condition", async () => {
  answer = json({ result: null });
  await expect(company()).rejects.toMatchObject({ code: "upstream_error" });
});

describe("a trial of a connector", () => {
  const withSecrets = (changes = {}) =>
    mapping({
      request: {
        url: `${base}/company?code={tax_id}&appkey=top-secret-1`,
        headers: { Authorization: "APPCODE top-secret-2", "X-Trace": "plain" },
      },
      ...changes,
    });
  const trial = async (file = withSecrets()) => {
    const [contract] = await contractsOf([file]);
    return testContract(contract!.parts, detail, { tax_id: "91330106MA0000007Q" });
  };

  test("shows the request, the answer and the source of each field, without credentials", async () => {
    answer = json({
      status: "200",
      echo: "top-secret-1 top-secret-2",
      result: {
        CreditCode: "91330106MA0000007Q",
        Name: "某公司",
        Status: "在业",
        Capital: { Text: "100万元" },
      },
    });
    const found = await trial();
    expect(JSON.stringify(found)).not.toMatch(/top-secret/);
    expect(calls[0]?.url).toContain("appkey=top-secret-1");
    expect(found).toMatchObject({
      exchanges: [
        {
          request: {
            method: "GET",
            url: `${base}/company?code=91330106MA0000007Q&appkey=…`,
            headers: { "X-Trace": "plain" },
          },
          status: 200,
        },
      ],
      outcome: "failed",
    });
    expect(found.why).toMatch(/^status_code: "在业" is not valid; expected one of active, /);
    const fieldOf = (name: string) => found.fields.find(({ field }) => field === name);
    expect(fieldOf("name")).toMatchObject({ path: "Name", found: "某公司", value: "某公司", problem: null });
    expect(fieldOf("registered_capital")).toMatchObject({
      path: "Capital.Text",
      found: "100万元",
      value: { text: "100万元" },
    });
    expect(fieldOf("status_code")).toMatchObject({
      found: "在业",
      problem_zh: expect.stringContaining("应为"),
    });
    expect(fieldOf("address")).toMatchObject({ path: null, value: null, problem: null });
  });

  test("says why there is no record", async () => {
    answer = json({ status: "500", message: "quota of top-secret-1 exceeded" });
    expect(await trial()).toMatchObject({
      outcome: "wrong",
      why: 'status is "500", not one of 200, 201',
      why_zh: 'status 是 "500"，应为 200、201 之一',
      exchanges: [{ answer: '{"status":"500","message":"quota of … exceeded"}' }],
    });
    answer = (_, __, response) => response.writeHead(503).end("busy");
    expect(await trial()).toMatchObject({
      outcome: "wrong",
      exchanges: [{ status: 503, answer: "busy" }],
      why_zh: "供应商返回状态码 503。",
    });
    answer = (_, __, response) => response.end("<html>");
    expect(await trial()).toMatchObject({
      outcome: "failed",
      why: "The answer is not JSON.",
      why_zh: "响应不是 JSON。",
    });
    answer = (_, __, response) => void response.destroy();
    const { why, why_zh } = await trial();
    expect(why).toMatch(/^The vendor cannot be reached: /);
    expect(why_zh).toMatch(/^无法连接供应商：/);
  });

  test("recognises the answer that nothing was found", async () => {
    answer = json({ status: 201 });
    expect(await trial()).toMatchObject({ outcome: "not_found", why: null, fields: [] });
  });
});

test("logs the reason of a failure without credentials, also while the breaker is open", async () => {
  const ask = async (contracts: Contract[]) =>
    connected(detail, contracts)
      .run({ tax_id: "1" }, page, context)
      .then(
        () => expect.fail("an answer"),
        (error: Failure) => [error.code, (error.cause as Error).message],
      );
  const contracts = await contractsOf([mapping({ request: { url: `${base}/?token=top-secret` } })]);
  answer = json({ status: "top-secret" });
  for (let call = 0; call < 5; call++)
    expect(await ask(contracts)).toEqual(["upstream_error", 'status is "…", not one of 200, 201']);
  expect(await ask(contracts)).toEqual([
    "unavailable",
    'paused after repeated failures; the last one: status is "…", not one of 200, 201',
  ]);
  expect((await gate.states(new Date())).get("Register")).toEqual({
    requests: 5,
    costFen: 0,
    lastFailure: 'status is "…", not one of 200, 201',
    stated: null,
    paused: null,
  });
});

test("an invalid connector file is reported with the place and what is expected, without the value", async () => {
  const path = join(tmpdir(), `dataq-connectors-${process.pid}.json`);
  const bad = { ...mapping(), request: { url: "ftp://top-secret", headers: { a: 1 } } };
  try {
    writeFileSync(path, JSON.stringify({ connectors: [bad, { vendor: "other" }] }));
    const said = await readContracts(path).catch((error: Error) => error.message);
    expect(said).toContain("connectors[0].request.headers.a: expected text");
    expect(said).toContain("connectors[1].vendor: expected");
    expect(said).not.toMatch(/top-secret|Invalid|received/);
  } finally {
    rmSync(path);
  }
});

test("rejects a mapping for an unknown operation", async () => {
  await expect(contractsOf([mapping({ operation: "no_such" })])).rejects.toThrow("operation");
});

test("a filter that the mapping does not send is rejected, because the vendor would ignore it", async () => {
  const entry = {
    vendor: "mapping",
    operation: "legal_cases",
    name: "Test vendor",
    request: { url: `${base}/?q={query}&since={date_from}`, json: { place: ["{court}"] } },
    answer: { record: "data", total: "total", fields: {} },
  };
  const source = connected("legal_cases", await contractsOf([entry]));
  const sent = { query: "借款", court: "浦东法院", date_from: "2024-01-01" };
  await expect(source.check?.(sent, false)).resolves.toBeUndefined();
  await expect(source.check?.({ ...sent, judge: "王刚" }, false)).rejects.toMatchObject({
    details: { param: "params.judge", details: [{ code: "unsupported" }] },
  });
});
