import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyBooks } from "../src/accounts/verify.ts";
import { takeAlerts } from "../src/alerts/alerts.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Row = any;

let service: InProcessService;
beforeAll(async () => {
  service = await startInProcess();
}, 60_000);
afterAll(() => service?.[Symbol.asyncDispose]());

let serial = 0;
/** A question that nobody has asked before; it costs 5,000 tokens. */
const fresh = (word = "found") => ({ operation: "legal_laws", params: { query: `${word} ${++serial}` } });

/** An account with a key that may do everything a customer may. */
async function shop(tokens = 1_000_000) {
  const { id } = await service.account(tokens, { keys: 0 });
  const scopes = ["data:query", "read:account", "manage:keys", "manage:billing", "manage:members"];
  const key: string = (await service.call(`/admin/v1/accounts/${id}/keys`, { body: { scopes } })).body
    .keys[0];
  const call = async (path: string, body?: object, method?: string): Promise<Row> => {
    const answer = await service.call(path, { key, ...(body && { body }), ...(method && { method }) });
    return { status: answer.status, ...answer.body };
  };
  const project = async (monthly_budget: number | null, name = "p"): Promise<string> =>
    (await call("/v1/projects", { name, monthly_budget })).id;
  const keyIn = async (project_id: string | null, more: object = {}): Promise<{ id: string; key: string }> =>
    call("/v1/keys", { project_id, ...more });
  const stateOf = async (id: string): Promise<Row> =>
    (await call("/v1/projects")).data.find((one: Row) => one.id === id);
  return { id, key, call, project, keyIn, stateOf };
}
const ask = async (key: string, body: object = fresh()) => service.call("/v1/data/query", { key, body });

test("of calls at once by all keys of a project, as many are answered as its budget allows, and the others cost nothing", async () => {
  const { keyIn, project, stateOf, call } = await shop();
  const id = await project(22_000, "搜索");
  const keys = [await keyIn(id), await keyIn(id), await keyIn(id, { monthly_cap: 1_000_000 })];
  const outside = await keyIn(null);
  const answers = await Promise.all(Array.from({ length: 24 }, (_, n) => ask(keys[n % 3]!.key)));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(4);
  const refused = answers.find(({ status }) => status !== 200)!;
  expect(refused.status).toBe(402);
  expect(refused.body).toMatchObject({
    code: "project_budget_reached",
    error: { param: "monthly_budget" },
  });
  expect(refused.body.error.message).toContain("搜索");
  const text = JSON.stringify(refused.body);
  expect(text).toContain("Raise the project's monthly_budget, or wait until 2026-04-01T00:00:00+08:00");
  expect(await stateOf(id)).toMatchObject({
    spent: 20_000,
    month: "2026-03",
    resets_at: "2026-03-31T16:00:00.000Z",
  });
  expect((await ask(outside.key)).status).toBe(200);
  expect((await call("/v1/balance")).balance).toBe(1_000_000 - 25_000);
  // Below the price of a search of laws, the rest still pays for a search of papers.
  expect(
    (await ask(keys[0]!.key, { operation: "research_paper_search", params: { query: "found" } })).status,
  ).toBe(200);
  expect((await stateOf(id)).spent).toBe(20_500);
});

test("a call that fails, several queries and a repeat count as much as they cost", async () => {
  const { keyIn, project, stateOf } = await shop();
  const id = await project(null);
  const { key } = await keyIn(id);
  const one = fresh();
  await ask(key, one);
  await ask(key, one);
  expect((await stateOf(id)).spent).toBe(7_500);
  expect((await ask(key, fresh("fail:upstream_error"))).status).toBe(502);
  await ask(key, { queries: [fresh(), fresh("fail:upstream_error"), fresh()] });
  expect((await stateOf(id)).spent).toBe(17_500);
});

test("a budget that is lowered, raised or passes into another month counts with the next call", async () => {
  const { keyIn, project, stateOf, call } = await shop();
  const id = await project(20_000);
  const { key } = await keyIn(id);
  await ask(key);
  await ask(key);
  const set = (monthly_budget: number | null) => call(`/v1/projects/${id}`, { monthly_budget }, "PATCH");
  const statusWith = async (budget: number | null) => {
    expect((await set(budget)).status).toBe(200);
    return (await ask(key)).status;
  };
  expect(await statusWith(9_999)).toBe(402);
  expect(await statusWith(14_999)).toBe(402);
  expect(await statusWith(15_000)).toBe(200);
  expect(await statusWith(0)).toBe(402);
  expect(await statusWith(null)).toBe(200);
  expect(await statusWith(20_000)).toBe(402);
  const before = service.nowMs;
  service.nowMs = Date.parse((await stateOf(id)).resets_at) - 1_000;
  expect((await ask(key)).status).toBe(402);
  service.nowMs += 1_000;
  expect((await ask(key)).status).toBe(200);
  expect((await stateOf(id)).spent).toBe(5_000);
  expect(service.nowMs).toBeGreaterThan(before);
});

test("a key of a project makes keys of this project only, and changes no budget; a key that replaces it stays in it", async () => {
  const { keyIn, project } = await shop();
  const [id, other] = [await project(5_000), await project(null)];
  const { key, id: keyId } = await keyIn(id, {
    scopes: ["data:query", "manage:keys", "manage:billing", "read:account"],
  });
  const call = async (path: string, body?: object, method?: string): Promise<Row> =>
    (await service.call(path, { key, ...(body && { body }), ...(method && { method }) })).body;
  expect((await call("/v1/keys", {})).project_id).toBe(id);
  for (const project_id of [null, other])
    expect(await call("/v1/keys", { project_id })).toMatchObject({
      code: "grant_denied",
      error: { param: "scopes" },
    });
  for (const [path, method] of [
    ["/v1/projects", "POST"],
    [`/v1/projects/${id}`, "PATCH"],
    [`/v1/projects/${other}`, "DELETE"],
  ] as const)
    expect((await call(path, method === "DELETE" ? undefined : { name: "x" }, method)).code).toBe(
      "grant_denied",
    );
  const heir = await call(`/v1/keys/${keyId}/rotate`, {});
  expect(heir.project_id).toBe(id);
  expect((await ask(heir.key)).status).toBe(200);
  expect((await ask(heir.key)).body.code).toBe("project_budget_reached");
});

test("usage, its file and the statement show each project, and add up to the calls; a project with keys stays", async () => {
  const { id: accountId, keyIn, project, call, key } = await shop();
  const [a, b] = [await project(null, "甲"), await project(null, "乙")];
  const inA = await keyIn(a);
  const inB = await keyIn(b);
  for (const one of [inA.key, inA.key, inB.key, key]) await ask(one);
  const usage = (await call("/v1/usage?group_by=project")).data as Row[];
  expect(Object.fromEntries(usage.map((row) => [row.project, row.tokens]))).toEqual({
    [a]: 10_000,
    [b]: 5_000,
    null: 5_000,
  });
  expect((await service.call("/v1/usage.csv?group_by=project,key", { key })).text).toContain(
    `${a},${inA.id},2,`,
  );
  const month = (await call("/v1/projects")).data[0].month;
  const statement = await call(`/v1/statements/${month}`);
  expect(statement.projects).toEqual([
    { project_id: a, name: "甲", count: 2, tokens: -10_000 },
    expect.objectContaining({ tokens: -5_000, count: 1 }),
    expect.objectContaining({ tokens: -5_000, count: 1 }),
  ]);
  expect((await call(`/v1/projects/${b}`, undefined, "DELETE")).code).toBe("project_in_use");
  await call(`/v1/keys/${inB.id}`, undefined, "DELETE");
  expect((await call(`/v1/projects/${b}`, undefined, "DELETE")).status).toBe(204);
  expect((await call(`/v1/projects/${b}`, { name: "x" }, "PATCH")).code).toBe("not_found");
  expect((await keyIn(b)) as Row).toMatchObject({ code: "not_found" });
  expect((await call(`/v1/statements/${month}`)).projects).toContainEqual(
    expect.objectContaining({ project_id: b, name: "乙" }),
  );
  const strange = await shop();
  expect((await strange.keyIn(a)) as Row).toMatchObject({ code: "not_found" });
  expect((await strange.call(`/v1/projects/${a}`, { name: "mine" }, "PATCH")).code).toBe("not_found");
  expect(accountId).not.toBe(strange.id);
});

test("an account is told once a month that a project is near its budget, at the share that it set", async () => {
  const { id: accountId, keyIn, call } = await shop();
  const { id } = await call("/v1/projects", { name: "p", monthly_budget: 20_000, alert_percent: 75 });
  const { key } = await keyIn(id);
  const take = async () =>
    (await takeAlerts(service.database, new Date(service.nowMs - 60_000), new Date(service.nowMs))).filter(
      (alert) => alert.accountId === accountId,
    );
  await ask(key);
  await ask(key);
  expect(await take()).toEqual([]);
  await ask(key);
  const { month } = (await call("/v1/projects")).data[0];
  expect(await take()).toEqual([
    {
      accountId,
      kind: "project.near_budget",
      data: { project_id: id, name: "p", month, spent: 15_000, budget: 20_000 },
    },
  ]);
  await ask(key);
  expect(await take()).toEqual([]);
});

test("the books balance after all of this", async () => {
  const { findings } = await verifyBooks(service.database);
  expect(findings.flatMap(({ breaches }) => [...breaches])).toEqual([]);
});
