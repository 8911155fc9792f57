import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { roles } from "../src/accounts/scope.ts";
import { hold } from "../src/ledger/hold.ts";
import { play } from "./books/play.ts";
import { type Place, World } from "./books/world.ts";

const PATIENCE = { timeout: 60_000, interval: 100 };

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world?.close());

/** `npm run proof -- books` plays as many as there is time for. */
test.each([2, 4])("seed %i: with broken lines and a moving clock, the books are right", async (seed) => {
  expect((await play(world, seed)).breach).toBeUndefined();
});

test("a message arrives whichever answer of the database is lost meanwhile", async () => {
  const [place] = world.places as [Place];
  const answer = async (path: string, body: object, key?: string) =>
    (await world.ask(place, "POST", path, { body, ...(key && { key }) }))!.body;
  const { account_id: id } = await answer("/admin/v1/accounts", { name: "messages", keys: 0 });
  const { keys } = await answer(`/admin/v1/accounts/${id}/keys`, { scopes: roles.owner });
  await answer("/v1/webhooks", { url: world.receiver.url, events: ["key.refused"] }, keys[0]);
  world.receiver.received.length = 0;
  const jobs = async () =>
    (await world.database.query<{ n: number }>("select count(*) as n from graphile_worker._private_jobs"))
      .rows[0]!.n;
  const lines = world.databaseLines();
  let broken = 0;
  // Both services hear of the job, one gets it, and writes its outcome and its end.
  for (let lost = 0; lost < 16; lost++) {
    let left = lost;
    for (const line of lines)
      line.decide = (side) => {
        if (side === "question" || left-- !== 0) return "arrives";
        broken++;
        return "lost";
      };
    await world.database.query("select webhook_send($1, 'key.refused', $2, '{}', now())", [
      id,
      `key_${lost}`,
    ]);
    for (let tries = 0; tries < 20 && (await jobs()) > 0; tries++) await sleep(10);
    await vi.waitFor(async () => {
      // Half a minute later by the clock of the database, the sweeper frees what was given away in a lost answer.
      await world.database.query(
        `update graphile_worker._private_jobs
            set locked_at = locked_at - interval '1 minute', run_at = least(run_at, now());
         select pg_notify('jobs:insert', '')`,
      );
      for (const { service } of world.places) await service.sweep();
      expect(await jobs()).toBe(0);
    }, PATIENCE);
  }
  expect(broken).toBeGreaterThan(8);
  for (const line of lines) line.decide = () => "arrives";
  const arrived = new Set(world.receiver.received.map(({ headers }) => headers["webhook-id"]));
  expect(arrived.size).toBe(16);
});

test("a hold that was made while the clock was a day ahead ends with the next sweep", async () => {
  const [place] = world.places as [Place];
  const answer = async (path: string, body: object) => (await world.ask(place, "POST", path, { body }))!.body;
  const { account_id: accountId } = await answer("/admin/v1/accounts", {
    name: "ahead",
    tokens: 9_000,
    keys: 0,
  });
  const made = await answer(`/admin/v1/accounts/${accountId}/keys`, { scopes: roles.owner });
  const found = await world.database.query<{ id: number }>("select id from instance order by id limit 1");
  const holdUntil = (requestId: string, ms: number) =>
    hold(world.database, {
      requestId,
      accountId,
      keyId: made.data[0].id,
      operation: "legal_laws",
      tokens: 1_000,
      priceVersion: 1,
      cached: false,
      instanceId: found.rows[0]!.id,
      now: new Date(world.nowMs),
      deadline: new Date(world.nowMs + ms),
    });
  await holdUntil("req_running", 300_000);
  await holdUntil("req_ahead", 26 * 3_600_000);
  await place.service.sweep();
  const left = await world.database.query("select request_id from hold where account_id = $1", [accountId]);
  expect(left.rows).toEqual([{ request_id: "req_running" }]);
});
