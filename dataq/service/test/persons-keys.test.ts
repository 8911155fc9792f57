import { afterAll, beforeAll, expect, test } from "vitest";
import { queryAsOwner } from "./data-folder.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { type LetterBox, openLetterBox } from "./letter-box.ts";
import { startReceiver } from "./receiver.ts";
import { Traveller } from "./sso-provider.ts";

let service: InProcessService;
let box: LetterBox;

beforeAll(async () => {
  box = await openLetterBox();
  service = await startInProcess({ SMTP_URL: box.url, DATAQ_TRUSTED_PROXIES: "127.0.0.1" });
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await box?.close();
});

const password = "correct horse battery";
async function signUp(name: string): Promise<Traveller> {
  const person = new Traveller(service.url);
  const email = `${name.toLowerCase()}@example.com`;
  await person.post("/console/auth/sign-up/email", { name, email, password });
  expect((await person.post("/console/auth/sign-in/email", { email, password })).status).toBe(200);
  return person;
}
const json = async (answer: Promise<Response>) => {
  const got = await answer;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  return { status: got.status, body: (got.status === 204 ? null : await got.json()) as any };
};

test("a member's key ends with their place or role, and a service's key stays", async () => {
  const owner = await signUp("Olga");
  const invited = await json(owner.post("/v1/members/invitations", { email: "mei@example.com" }));
  const member = await signUp("Mei");
  const [, token] = invited.body.link.split("#token=");
  expect((await member.post("/console/api/join", { token })).status).toBe(200);
  const { data: members } = (await json(owner.ask("/v1/members"))).body;
  const idOf = (name: string) => members.find((one: { name: string }) => one.name === name).id;
  const [olga, mei] = [idOf("Olga"), idOf("Mei")];
  const make = (wanted: object) => json(owner.post("/v1/keys", wanted));
  const stateOf = async (key: string) => (await service.call("/v1/account", { key })).status;

  const ofService = (await make({ name: "shop" })).body;
  const own = (await make({ name: "own", person_id: olga, role: "owner" })).body;
  const asking = (await make({ name: "asking", person_id: mei })).body;
  const reading = (await make({ name: "reading", person_id: mei, scopes: ["read:account"] })).body;
  const given = (await make({ name: "given", person_id: mei, scopes: ["read:account"] })).body;
  expect([ofService.person, own.person, asking.person]).toEqual([
    null,
    { id: olga, name: "Olga" },
    { id: mei, name: "Mei" },
  ]);
  // What a member's key creates is theirs, and ends with them.
  const child = await service.call("/v1/keys", { key: own.key, body: { name: "child" } });
  expect(child.body.person.id).toBe(olga);
  const forService = { name: "child", person_id: null };
  expect((await service.call("/v1/keys", { key: own.key, body: forService })).body.person).toBeNull();

  const stranger = await signUp("Sun");
  const elsewhere = (await json(stranger.ask("/v1/members"))).body.data[0].id;
  for (const wanted of [
    { person_id: elsewhere },
    { person_id: "" },
    { person_id: mei, scopes: ["read:account", "manage:keys"] },
  ]) {
    const { status, body } = await make(wanted);
    expect([status, body.error.param], JSON.stringify(wanted)).toEqual([
      400,
      wanted.scopes ? "scopes" : "person_id",
    ]);
  }
  const wider = { method: "PATCH", body: JSON.stringify({ scopes: ["manage:keys"] }) };
  expect((await owner.ask(`/v1/keys/${reading.id}`, wider)).status).toBe(400);

  // Keys that can do more than the new role end.
  const finance = { method: "PATCH", body: JSON.stringify({ role: "finance" }) };
  expect((await owner.ask(`/v1/members/${mei}`, finance)).status).toBe(200);
  expect([await stateOf(asking.key), await stateOf(reading.key)]).toEqual([401, 200]);

  const turned = (await json(owner.post(`/v1/keys/${reading.id}/rotate`))).body;
  const handOver = { method: "PATCH", body: JSON.stringify({ person_id: null }) };
  expect((await json(owner.ask(`/v1/keys/${given.id}`, handOver))).body.person).toBeNull();
  expect((await owner.ask(`/v1/members/${mei}`, { method: "DELETE" })).status).toBe(204);
  expect(await Promise.all([turned, given, ofService, own].map(({ key }) => stateOf(key)))).toEqual([
    401, 200, 200, 200,
  ]);
  const keys = (await json(owner.ask("/v1/keys"))).body.data;
  const reasonOf = ({ id }: { id: string }) =>
    keys.find((one: { id: string }) => one.id === id).revoked_reason;
  expect([asking, turned, given].map(reasonOf)).toEqual(["role_changed", "person_left", null]);
  const lines = (await service.call("/admin/v1/audit?limit=20")).body.data;
  expect(lines).toContainEqual(
    expect.objectContaining({
      action: "key.revoke",
      actor: `user_${olga}`,
      target: turned.id,
      after: { reason: "person_left" },
    }),
  );
  await expect
    .poll(() => box.letters.filter(({ text }) => text.includes(`reading (…${turned.last4})`)).length, {
      timeout: 20_000,
    })
    .toBe(1);
  const told = box.letters.filter(({ text }) => text.includes("mei@example.com has left"));
  expect(told.map(({ to }) => to)).toEqual(["olga@example.com", "olga@example.com"]);
});

test("a key that ends or leaks, and a webhook that is disabled, are stored together with the email about it, or not at all", async () => {
  const owner = await signUp("Rosa");
  const invited = await json(owner.post("/v1/members/invitations", { email: "jun@example.com" }));
  const member = await signUp("Jun");
  const [, token] = invited.body.link.split("#token=");
  expect((await member.post("/console/api/join", { token })).status).toBe(200);
  const { data: members } = (await json(owner.ask("/v1/members"))).body;
  const jun = members.find((one: { name: string }) => one.name === "Jun").id;
  const make = async (wanted: object) => (await json(owner.post("/v1/keys", wanted))).body;
  const [ofJun, found] = [await make({ name: "jun's", person_id: jun }), await make({ name: "in a paste" })];
  await using receiver = await startReceiver();
  receiver.answer(410);
  const { id } = (await json(owner.post("/v1/webhooks", { url: receiver.url, events: ["key.refused"] })))
    .body;
  const stateOf = async () => ({
    jun: (await service.call("/v1/account", { key: ofJun.key })).status,
    found: (await service.call("/v1/account", { key: found.key })).status,
    webhook: (await json(owner.ask("/v1/webhooks"))).body.data[0].enabled,
  });
  const { database } = service;
  const accounts = await database.query<{ id: string }>(
    "select account_id as id from webhook where id = $1",
    [id],
  );
  const act = async () => {
    await service.call("/v1/keys/leak-report", { key: null, body: { key: found.key } });
    await database.query("select webhook_send($1, 'key.refused', 'key_x', '{}', now())", [
      accounts.rows[0]!.id,
    ]);
    return (await owner.ask(`/v1/members/${jun}`, { method: "DELETE" })).status;
  };

  // As if the service ended just before it wrote the email's job.
  await queryAsOwner(
    database,
    `create function no_letters() returns trigger language plpgsql as $$
     begin if new.payload->>'about' is not null then raise 'no letters'; end if; return new; end $$;
     create trigger no_letters before insert on graphile_worker._private_jobs for each row execute function no_letters()`,
  );
  expect(await act()).toBe(500);
  await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBeGreaterThan(0);
  await expect.poll(() => service.log(), { timeout: 20_000 }).toContain("leak report failed");
  expect(await stateOf()).toEqual({ jun: 200, found: 200, webhook: true });

  await queryAsOwner(database, "drop function no_letters cascade");
  expect(await act()).toBe(204);
  await expect.poll(stateOf, { timeout: 20_000 }).toEqual({ jun: 401, found: 401, webhook: false });
  const about = () => box.letters.filter(({ to }) => to === "rosa@example.com").map(({ subject }) => subject);
  await expect.poll(() => about().length, { timeout: 20_000 }).toBe(3);
  expect(about().sort()).toEqual([
    expect.stringContaining("API keys of a member have ended"),
    expect.stringContaining("a webhook was disabled"),
    expect.stringContaining("leaked"),
  ]);
});
