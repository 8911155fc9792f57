import { afterAll, beforeAll, expect, test } from "vitest";
import { acceptTerms, takeUnaccepted } from "../src/people/terms.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";

let service: InProcessService;
beforeAll(async () => {
  service = await startInProcess({ DATAQ_TERMS: "2026-11 https://data.example/terms 2026-04-01" });
}, 60_000);
afterAll(() => service?.[Symbol.asyncDispose]());

test("from the day of the terms on, calls wait until an owner has accepted them; everything else goes on", async () => {
  const { id, keys } = await service.account(1_000_000);
  const people = [
    ["p-owner", "owner"],
    ["p-other", "developer"],
  ] as const;
  for (const [person, role] of people) {
    await service.database.query(
      `insert into people."user" ("id", "name", "email", "emailVerified") values ($1, $1, $1 || '@example.com', true)`,
      [person],
    );
    await service.database.query(
      "insert into people.member (user_id, account_id, role, created_at) values ($1, $2, $3, now())",
      [person, id, role],
    );
  }
  let serial = 0;
  const ask = async (path = "/v1/data/query", key = keys[0]!) => {
    const body = { operation: "legal_laws", params: { query: `found ${++serial}` } };
    return service.call(path, { key, body });
  };
  const accept = (person: string, version: string) =>
    acceptTerms(service.database, person, version, { actor: person, now: new Date(service.nowMs) });
  const terms = { version: "2026-11", url: "https://data.example/terms", from: "2026-04-01" };
  const told = () => takeUnaccepted(service.database, terms, new Date(service.nowMs));

  // The account without members has its own contract with the operator.
  const byHand = await service.account(1_000_000);
  expect(await told()).toEqual([id]);
  expect(await told()).toEqual([]);
  // The last second before the day begins in China.
  service.nowMs = Date.parse("2026-03-31T15:59:59Z");
  expect((await ask()).status).toBe(200);
  service.nowMs += 1_000;
  const refused = await ask();
  expect(refused.status).toBe(403);
  expect(refused.body.code).toBe("terms_not_accepted");
  expect(JSON.stringify(refused.body)).toContain(`${service.url}/console`);
  for (const path of ["/v1/data/estimate", "/mcp"])
    expect((await ask(path)).body.code).toBe("terms_not_accepted");
  for (const path of ["/v1/balance", "/v1/usage", "/v1/ledger"])
    expect((await service.call(path, { key: keys[0]! })).status).toBe(200);
  expect((await ask("/v1/data/query", byHand.keys[0]!)).status).toBe(200);

  await accept("p-other", "2026-11");
  await accept("p-owner", "2026-10");
  expect((await ask()).status).toBe(403);
  await accept("p-owner", "2026-11");
  expect((await ask()).status).toBe(200);
  expect((await service.call("/v1/balance", { key: keys[0]! })).body.balance).toBe(990_000);
});
