import { Webhook as Standard } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { roles } from "../src/accounts/scope.ts";
import type { Database } from "../src/database/database.ts";
import { inTransaction } from "../src/database/transaction.ts";
import { recover } from "../src/ledger/instance.ts";
import { mostAttempts } from "../src/webhooks/deliver.ts";
import { freeJobs } from "../src/webhooks/queue.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

let service: InProcessService;
let receiver: Receiver;

beforeAll(async () => {
  service = await startInProcess();
}, 60_000);
afterAll(() => service?.[Symbol.asyncDispose]());
beforeEach(async () => {
  // Verifying programs compare timestamps with the time.
  service.nowMs = Date.now();
  receiver = await startReceiver();
});
afterEach(() => receiver[Symbol.asyncDispose]());

interface Customer {
  readonly id: string;
  readonly key: string;
  readonly call: InProcessService["call"];
}

async function customer(tokens = 1_000_000): Promise<Customer> {
  const { id } = await service.account(tokens, { keys: 0 });
  const made = await service.call(`/admin/v1/accounts/${id}/keys`, { body: { scopes: roles.owner } });
  const key = made.body.keys[0] as string;
  return { id, key, call: (path, options) => service.call(path, { key, ...options }) };
}

async function webhook({ call }: Pick<Customer, "call">, events: string[], url = receiver.url) {
  const made = await call("/v1/webhooks", { body: { url, events } });
  expect(made.status).toBe(201);
  return made.body as { id: string; secret: string };
}

/** Writes a message, as the triggers do. */
const send = (accountId: string, event = "key.refused", subject = "key_x", database = service.database) =>
  database.query('select webhook_send($1, $2, $3, \'{"key_id": "key_x"}\', now())', [
    accountId,
    event,
    subject,
  ]);

/** Lets waiting jobs run now instead of after their wait. */
const hurry = (database = service.database) =>
  database.query(
    `select graphile_worker.reschedule_jobs(array_agg(id), run_at => now() - interval '1 second')
       from graphile_worker._private_jobs where locked_at is null having count(*) > 0;
     select pg_notify('jobs:insert', '')`,
  );

const deliveries = async ({ call }: Pick<Customer, "call">, id: string) =>
  (await call(`/v1/webhooks/${id}/deliveries`)).body.data;

const wait = (check: () => Promise<void> | void) => vi.waitFor(check, { timeout: 20_000, interval: 50 });

const law = (query: string) => ({ operation: "legal_laws", params: { query } });

describe("a webhook", () => {
  test("shows its secret once and keeps it encrypted; rotation signs with both secrets for a time", async () => {
    const shop = await customer();
    const { id, secret } = await webhook(shop, ["key.refused"]);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const listed = await shop.call("/v1/webhooks");
    expect(listed.body.data).toMatchObject([{ id, url: receiver.url, enabled: true, disabled_reason: null }]);
    const rotated = await shop.call(`/v1/webhooks/${id}/rotate`, { body: { grace_s: 3600 } });
    expect(rotated.body.secret).not.toBe(secret);
    expect(rotated.headers.get("cache-control")).toBe("no-store");

    await send(shop.id);
    await wait(() => expect(receiver.received).toHaveLength(1));
    const { headers, body } = receiver.received[0]!;
    for (const one of [secret, rotated.body.secret])
      expect(new Standard(one).verify(body, headers as Record<string, string>)).toMatchObject({
        type: "key.refused",
        data: { key_id: "key_x" },
      });
    expect(() => new Standard(secret).verify(`${body} `, headers as Record<string, string>)).toThrow();

    await service.database.query(
      "update webhook set old_secret_until = old_secret_until - interval '1 hour'",
    );
    await send(shop.id);
    await wait(() => expect(receiver.received).toHaveLength(2));
    expect(String(receiver.received[1]!.headers["webhook-signature"]).split(" ")).toHaveLength(1);

    const plain = Buffer.from(secret.slice(6), "base64");
    const stored = await service.database.query<{ secret: Buffer; old_secret: Buffer }>(
      "select secret, old_secret from webhook where id = $1",
      [id],
    );
    for (const bytes of [stored.rows[0]!.secret, stored.rows[0]!.old_secret]) {
      expect(bytes.includes(plain)).toBe(false);
      expect(bytes.toString("latin1")).not.toContain(secret.slice(6));
    }
    const audit = (await service.call("/admin/v1/audit?limit=100")).text;
    for (const text of [listed.text, audit, service.log()]) {
      expect(text).not.toContain(secret.slice(6));
      expect(text).not.toContain(rotated.body.secret.slice(6));
    }
    expect(audit).not.toContain("hidden");
  });

  test("belongs to one account, which may have 20", async () => {
    const [shop, other] = [await customer(), await customer()];
    const { id } = await webhook(shop, ["balance.low"]);
    await send(shop.id, "balance.low", "");
    for (const [path, method] of [
      ["", "PATCH"],
      ["", "DELETE"],
      ["/rotate", "POST"],
      ["/deliveries", "GET"],
      ["/deliveries/msg_x/redeliver", "POST"],
    ] as const) {
      const body = method === "GET" ? undefined : {};
      expect((await other.call(`/v1/webhooks/${id}${path}`, { method, body })).status, path).toBe(404);
    }
    const more = await Promise.all(
      Array.from({ length: 22 }, () =>
        shop.call("/v1/webhooks", { body: { url: receiver.url, events: ["balance.low"] } }),
      ),
    );
    expect(more.filter(({ status }) => status === 201)).toHaveLength(19);
    expect(more.find(({ status }) => status !== 201)!.body).toMatchObject({ code: "too_many", status: 409 });
    expect((await shop.call(`/v1/webhooks/${id}`, { method: "DELETE" })).status).toBe(204);
    expect((await shop.call("/v1/webhooks")).body.data).toHaveLength(19);
  });

  test.each([
    [{ url: "ftp://a.example/x", events: ["balance.low"] }, "url"],
    [{ url: "https://user:word@a.example/", events: ["balance.low"] }, "url"],
    [{ url: "http://93.184.216.34/", events: ["balance.low"] }, "url"],
    [{ url: "http://10.0.0.1/", events: ["balance.low"] }, "url"],
    [{ url: "https://a.example/", events: [] }, "events"],
    [{ url: "https://a.example/", events: ["balance.high"] }, "events.0"],
    [{ url: "https://a.example/", events: ["import.done"] }, "events"],
    [{ events: ["balance.low"] }, "url"],
    [{ url: `https://a.example/${"x".repeat(2000)}`, events: ["balance.low"] }, "url"],
  ])("rejects wrong input %#", async (body, param) => {
    const shop = await customer();
    const answer = await shop.call("/v1/webhooks", { body });
    expect(answer.body).toMatchObject({ status: 400, code: "invalid_params", error: { param } });
  });
});

describe("messages", () => {
  test("a balance that falls below the mark sends one message; holds and refunds repeat none, a top-up allows the next", async () => {
    const shop = await customer(22_000);
    const { id } = await webhook(shop, ["balance.low"]);
    expect((await shop.call("/v1/alerts")).body).toMatchObject({ low_balance: 100_000 });
    const set = { method: "PATCH", body: { low_balance: 18_000 } };
    expect((await shop.call("/v1/alerts", set)).body).toEqual({
      low_balance: 18_000,
      cap_percent: 80,
      spend_factor: 3,
    });

    const ask = (query: string) => shop.call("/v1/data/query", { body: law(query) });
    // The hold lowers the balance below the mark and the void raises it again, so this call sends the message.
    expect((await ask("fail:upstream_error")).status).toBe(502);
    for (const query of ["found 1", "throw", "found 2"]) await ask(query);
    service.nowMs += 1;
    await service.call(`/admin/v1/accounts/${shop.id}/adjust`, { body: { tokens: 10_000, reason: "more" } });
    await ask("found 3");
    await wait(async () => expect(await deliveries(shop, id)).toHaveLength(2));
    await wait(() => expect(receiver.received).toHaveLength(2));
    const bodies = receiver.received.map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ data }) => data)).toEqual([
      { balance: 17_000, low_balance: 18_000 },
      { balance: 17_000, low_balance: 18_000 },
    ]);
  });

  test("a flood of refused calls sends one message an hour for each key", async () => {
    const shop = await customer();
    const { id } = await webhook(shop, ["key.refused"]);
    const made = async (body: object) => (await shop.call("/v1/keys", { body })).body;
    const revoked = await made({ name: "old" });
    await shop.call(`/v1/keys/${revoked.id}`, { method: "DELETE" });
    const capped = await made({ name: "small", monthly_cap: 1 });
    const flood = async (key: string, status: number) => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => shop.call("/v1/data/query", { key, body: law("found flood") })),
      );
      expect(answers.every((answer) => answer.status === status)).toBe(true);
    };
    await flood(revoked.key, 401);
    await flood(capped.key, 402);
    await wait(async () => expect(await deliveries(shop, id)).toHaveLength(2));
    await service.database.query("update api_key set last_refused_at = last_refused_at - interval '1 hour'");
    await flood(capped.key, 402);
    await wait(() => expect(receiver.received).toHaveLength(3));
    const told = (await deliveries(shop, id)).map((one: { payload: { data: unknown } }) => one.payload.data);
    expect(told).toMatchObject([
      { key_id: capped.id, reason: "spend_limit_reached", ip: "127.0.0.1" },
      { key_id: capped.id, reason: "spend_limit_reached", last4: capped.last4 },
      { key_id: revoked.id, reason: "revoked", name: "old" },
    ]);
  });

  test("operators hear of imports and refreshes, and of none that was rolled back", async () => {
    const { id } = await webhook(service, ["import.done", "refresh.done"]);
    const run = `insert into import_run (target, dataset, origin, sha256, state, started_at, updated_at)
      values ('legal_laws', 'pack', 'pypi:pack', '', 'running', now(), now())`;
    await service.database.query(run);
    const finish = "update import_run set state = 'done', done = 7 where state = 'running'";
    await expect(
      inTransaction(service.database, async (transaction) => {
        await transaction.query(finish);
        throw new Error("rolled back");
      }),
    ).rejects.toThrow("rolled back");
    expect(await deliveries(service, id)).toEqual([]);
    await service.database.query(finish);
    await wait(() => expect(receiver.received).toHaveLength(1));
    expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({
      type: "import.done",
      data: { operation: "legal_laws", dataset: "pack", from: "pypi:pack", records: 7 },
    });
    const first = "2026-01-01T00:00:00Z";
    await service.database.query(
      `with made as (insert into search_snapshot (corpus, size) values ('legal_laws', 0) returning id)
       insert into search_corpus (corpus, snapshot, refreshed_at) select 'legal_laws', id, $1 from made`,
      [first],
    );
    await service.database.query(
      "update search_corpus set refreshed_at = now() where corpus = 'legal_laws'; update search_corpus set next_refresh_at = '2026-03-01T00:00:00Z' where corpus = 'legal_laws'",
    );
    await wait(() => expect(receiver.received).toHaveLength(2));
    const { type, data } = JSON.parse(receiver.received[1]!.body);
    expect({ type, data }).toMatchObject({ type: "refresh.done", data: { operation: "legal_laws" } });
    expect(new Date(data.next_refresh_at).toISOString()).toBe("2026-03-01T00:00:00.000Z");
    await service.call(`/v1/webhooks/${id}`, { method: "DELETE" });
  });
});

describe("delivery", () => {
  test("a failing endpoint gets the same message again, until it accepts it", async () => {
    const shop = await customer();
    const { id, secret } = await webhook(shop, ["key.refused"]);
    receiver.answer({ status: 500, body: "broken\0" }, { status: 302, headers: { location: "/other" } }, 204);
    await send(shop.id);
    await wait(async () => expect((await deliveries(shop, id))[0].attempts).toBe(1));
    expect((await deliveries(shop, id))[0]).toMatchObject({
      state: "waiting",
      status: 500,
      answer: "broken\uFFFD",
      error: null,
      next_attempt_at: expect.any(String),
    });
    // The second attempt may fail and the third succeed between two looks at the list.
    await wait(async () => {
      await hurry();
      expect((await deliveries(shop, id))[0]).toMatchObject({
        attempts: 3,
        state: "delivered",
        status: 204,
        next_attempt_at: null,
      });
    });
    expect(receiver.received.map(({ path }) => path)).toEqual(Array(3).fill("/hook?token=hidden"));
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    for (const { headers, body } of receiver.received)
      new Standard(secret).verify(body, headers as Record<string, string>);
  });

  test("after all attempts the webhook is disabled; once enabled, the message can be sent again", async () => {
    const shop = await customer();
    const { id } = await webhook(shop, ["key.refused"]);
    receiver.answer(503);
    await send(shop.id);
    await wait(async () => {
      await hurry();
      expect((await deliveries(shop, id))[0]).toMatchObject({ state: "failed", attempts: mostAttempts });
    });
    expect(receiver.received).toHaveLength(mostAttempts);
    expect((await shop.call("/v1/webhooks")).body.data).toMatchObject([
      { enabled: false, disabled_reason: "failing" },
    ]);
    await send(shop.id);
    const [failed, ...others] = await deliveries(shop, id);
    expect(others).toEqual([]);

    const again = `/v1/webhooks/${id}/deliveries/${failed.id}/redeliver`;
    expect((await shop.call(again, { body: {} })).body.code).toBe("webhook_disabled");
    const enabled = await shop.call(`/v1/webhooks/${id}`, { method: "PATCH", body: { enabled: true } });
    expect(enabled.body).toMatchObject({ enabled: true, disabled_reason: null });
    receiver.answer(200);
    expect(await shop.call(again, { body: {} })).toMatchObject({
      status: 202,
      body: { state: "waiting", attempts: 0 },
    });
    await wait(async () => expect((await deliveries(shop, id))[0].state).toBe("delivered"));
    expect(receiver.received.at(-1)!.headers["webhook-id"]).toBe(failed.id);
    const audit = (await service.call("/admin/v1/audit?limit=20")).body.data;
    expect(audit.filter((line: { target: string }) => line.target === id)).toMatchObject([
      { action: "webhook.redeliver" },
      { action: "webhook.change" },
      { action: "webhook.disable", actor: "system", after: { reason: "failing" } },
      { action: "webhook.create" },
    ]);
  });

  test("410 disables the webhook at once; a message that waits is given up", async () => {
    const shop = await customer();
    const { id } = await webhook(shop, ["key.refused"]);
    receiver.answer(500, 410);
    await send(shop.id);
    await wait(async () => expect((await deliveries(shop, id))[0].attempts).toBe(1));
    await send(shop.id, "key.refused", "key_y");
    await wait(async () =>
      expect((await shop.call("/v1/webhooks")).body.data[0].disabled_reason).toBe("gone"),
    );
    await wait(async () => {
      await hurry();
      const ended = (await deliveries(shop, id)) as { state: string; status: number; error: string }[];
      expect(ended.map(({ state }) => state)).toEqual(["failed", "failed"]);
      expect(ended.map(({ status, error }) => status ?? error).sort()).toEqual([
        410,
        "The webhook was disabled.",
      ]);
    });
  });

  test("messages are deleted after 30 days, except those that still wait", async () => {
    const shop = await customer();
    const { id } = await webhook(shop, ["key.refused"]);
    await send(shop.id);
    await wait(async () => expect((await deliveries(shop, id))[0].state).toBe("delivered"));
    receiver.answer(500);
    await send(shop.id);
    await wait(async () => expect((await deliveries(shop, id))[0].attempts).toBe(1));
    const { sweepMessages } = await import("../src/webhooks/delivery-log.ts");
    await sweepMessages(service.database, new Date(Date.now() + 29 * 86_400_000));
    expect(await deliveries(shop, id)).toHaveLength(2);
    await sweepMessages(service.database, new Date(Date.now() + 31 * 86_400_000));
    expect(await deliveries(shop, id)).toMatchObject([{ state: "waiting" }]);
  });
});

describe("several services on one database", () => {
  let folder: string;
  let database: Database;
  const running: ServiceProcess[] = [];

  beforeAll(async () => {
    folder = await makeDataFolder("first start");
    database = await openFolder(folder);
  }, 60_000);
  afterAll(async () => {
    await Promise.all(running.map((one) => one[Symbol.asyncDispose]()));
    await database?.close();
    await removeDataFolder(folder);
  });

  test("each message is delivered by one of them; a killed one loses none, and another sends it with the same ID", async () => {
    const [one, two] = await Promise.all([startService({ folder }), startService({ folder })]);
    running.push(one, two);
    const account = (await one.call("/v1/account")).body.id;
    const { id } = (await one.call("/v1/webhooks", { body: { url: receiver.url, events: ["key.refused"] } }))
      .body;
    // The second service sees the webhook at its next sweep; a request starts its queue now.
    await two.call("/v1/webhooks", { body: { url: `${receiver.url}&other`, events: ["balance.low"] } });
    await wait(async () => {
      const workers = await database.query("select from webhook_worker");
      expect(workers.rowCount).toBe(2);
    });
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => send(account, "key.refused", `key_${n}`, database)),
    );
    await wait(async () => {
      const left = await database.query("select from webhook_delivery where state <> 'delivered'");
      expect(left.rowCount).toBe(0);
    });
    expect(receiver.received).toHaveLength(40);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(40);

    await two.stop();
    receiver.answer("hang");
    await send(account, "key.refused", "key_last", database);
    await wait(() => expect(receiver.received).toHaveLength(41));
    await one.kill();
    receiver.answer(200);
    const three = await startService({ folder });
    running.push(three);
    await wait(async () => {
      // As every sweep does. PostgreSQL needs a moment to notice that a connection is gone.
      await recover(database, new Date());
      await freeJobs(database);
      await hurry(database);
      expect((await deliveries(three, id))[0]).toMatchObject({ state: "delivered", attempts: 1 });
    });
    const [before, after] = receiver.received.slice(-2);
    expect(after!.headers["webhook-id"]).toBe(before!.headers["webhook-id"]);
    expect(after!.body).toBe(before!.body);
    expect(await three.stop()).toBe(0);
  }, 60_000);
});

describe("a service that sends to public addresses only", () => {
  let hosted: InProcessService;

  beforeAll(async () => {
    hosted = await startInProcess({ DATAQ_WEBHOOK_TARGETS: "public" });
  }, 60_000);
  afterAll(() => hosted?.[Symbol.asyncDispose]());

  test.each([
    "http://a.example/",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://0x7f000001/",
    "https://2130706433/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://169.254.169.254/latest/meta-data/",
    "https://10.1.2.3/",
    "https://[fd00::1]/",
  ])("rejects %s", async (url) => {
    const answer = await hosted.call("/v1/webhooks", { body: { url, events: ["balance.low"] } });
    expect(answer.body).toMatchObject({ status: 400, code: "invalid_params", error: { param: "url" } });
  });

  test("does not connect to a name that points to this machine", async () => {
    const url = `https://localhost:${receiver.port}/`;
    const made = await hosted.call("/v1/webhooks", { body: { url, events: ["key.refused"] } });
    expect(made.status).toBe(201);
    const account = (await hosted.call("/v1/account")).body.id;
    await send(account, "key.refused", "key_x", hosted.database);
    await wait(async () =>
      expect((await deliveries(hosted, made.body.id))[0]).toMatchObject({
        attempts: 1,
        status: null,
        error: "This service does not send webhooks to this address.",
      }),
    );
    expect(receiver.connections()).toBe(0);
  });
});
