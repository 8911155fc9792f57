import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SsoCause, ssoCauses } from "@dataq/contract";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readSsoSettings } from "../src/people/sso-settings.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { CLIENT, LOGOUT_EVENT, type SsoProvider, startSsoProvider, Traveller } from "./sso-provider.ts";

let provider: SsoProvider;
let service: InProcessService;
const folder = mkdtempSync(join(tmpdir(), "dataq-sso-"));
const password = "correct horse battery";

/** Another service beside the first has its own settings, and the same provider. */
async function start(settings: object, env: Record<string, string> = {}): Promise<InProcessService> {
  const path = join(folder, `${Object.keys(settings).length}-${Math.random()}.json`);
  writeFileSync(path, JSON.stringify({ ...base(), ...settings }));
  const started = await startInProcess(
    { DATAQ_SSO: path, DATAQ_TRUSTED_PROXIES: "127.0.0.1", ...env },
    { isScripted: false },
  );
  provider.admit(started.url);
  return started;
}

const base = () => ({
  name: "Example Login",
  issuer: provider.issuer,
  ...CLIENT,
  scopes: ["openid", "profile", "email", "groups"],
  mail_domains: ["example.com"],
  operators: {
    claim: "groups",
    roles: { owner: ["bosses"], finance: ["money"], support: ["helpers"], "read-only": ["readers"] },
  },
});

beforeAll(async () => {
  provider = await startSsoProvider();
  service = await start({});
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  provider.forge = undefined;
  provider.isForgedWithOtherKey = false;
});

let count = 0;
/** Somebody new at the provider, who is in front of the browser. */
function appear(person: object = {}): string {
  const id = `person-${++count}`;
  provider.people.set(id, { email: `${id}@example.com`, email_verified: true, name: "Wei", ...person });
  provider.present = id;
  return id;
}
const auditOf = async () =>
  (await service.call("/admin/v1/audit?limit=100")).body.data as {
    action: string;
    actor: string;
    target: string;
    after: { reason?: string; role?: string } | null;
  }[];

test("people come in with the role that the provider gives, and lose it with their next way through it", async () => {
  const id = appear({ groups: ["helpers", "money", "others"] });
  const traveller = new Traveller(service.url);
  expect(await traveller.signIn("/usage?from=2026-11-01")).toBe("/console/usage?from=2026-11-01");
  const me = (await traveller.me())!;
  expect(me).toMatchObject({ member_role: "finance", name: "Wei", email: `${id}@example.com` });
  expect((await traveller.ask("/admin/v1/accounts")).status).toBe(200);
  expect((await service.call("/v1/members")).body.data).toContainEqual(
    expect.objectContaining({ email: `${id}@example.com`, role: "finance", from_provider: true }),
  );

  provider.people.set(id, { ...provider.people.get(id)!, groups: "readers" });
  expect(await traveller.signIn()).toBe("/console/");
  expect((await traveller.me())!.member_role).toBe("read-only");

  const other = new Traveller(service.url);
  provider.people.set(id, { ...provider.people.get(id)!, groups: ["boss", "BOSSES"] });
  expect(await other.signIn()).toBe("/console/sign-in#sso=no_role");
  expect(await other.me()).toBeNull();
  expect(await traveller.me()).toBeNull();
  expect((await service.call("/v1/members")).body.data).not.toContainEqual(
    expect.objectContaining({ email: `${id}@example.com` }),
  );
  const lines = (await auditOf())
    .slice(0, 8)
    .map(({ action, after }) => [action, after?.role ?? after?.reason]);
  expect(lines).toEqual([
    ["login.failure", "no_role"],
    ["member.remove", undefined],
    ["login.success", undefined],
    ["member.role", "read-only"],
    ["login.success", undefined],
    ["member.join", "finance"],
    expect.anything(),
    expect.anything(),
  ]);
});

test.each([
  ["a mail address that is not verified", { email_verified: false }, "mail_unverified"],
  ["a mail address of which nothing is said", { email_verified: undefined }, "mail_unverified"],
  ["another mail domain", { email: "eve@example.com.evil.test" }, "mail_domain"],
  ["a mail domain before the last @", { email: '"eve@example.com"@evil.test' }, "mail_domain"],
  ["no claim", { groups: undefined }, "no_role"],
  ["a claim that is no text", { groups: { owner: "bosses" } }, "no_role"],
  ["a claim of a list in a list", { groups: [["bosses"]] }, "no_role"],
] as const)("%s lets nobody in", async (_, person, reason) => {
  appear({ groups: ["bosses"], ...person });
  const traveller = new Traveller(service.url);
  expect(await traveller.signIn()).toBe(`/console/sign-in#sso=${reason}`);
  expect(await traveller.me()).toBeNull();
  expect((await auditOf())[0]).toMatchObject({ action: "login.failure", target: "sso", after: { reason } });
});

/** What the newest line of the audit log and of the service's log say of a sign-in, both under the request's ID. */
async function told(at: InProcessService) {
  const [line] = (await at.call("/admin/v1/audit?limit=1")).body.data as {
    after: object;
    request_id: string;
  }[];
  const logged = at
    .log()
    .split("\n")
    .filter((text) => text.includes("single sign-on failed") && text.includes(line!.request_id))
    .map((text) => JSON.parse(text));
  expect(logged).toHaveLength(1);
  const { cause, said, text } = logged[0];
  expect(line!.after).toMatchObject(JSON.parse(JSON.stringify({ cause, said })));
  expect(text).toBe(ssoCauses[cause as SsoCause].en);
  return said === undefined ? cause : `${cause}: ${said}`;
}

test("what went wrong is told to the operator under the request's ID, and not to the person", async () => {
  const seen: string[] = [];
  const fails = async (at: InProcessService, change: (link: URL) => void = () => {}) => {
    const traveller = new Traveller(at.url);
    const link = new URL(await traveller.goOut());
    change(link);
    const place = (await traveller.ask(link.href)).headers.get("location")!;
    expect(place).toMatch(/^\/console\/sign-in#sso=(failed|no_role)$/);
    seen.push(await told(at));
  };
  appear({ groups: ["bosses"] });
  await fails(service, (link) => link.searchParams.set("iss", "https://other.example"));
  await fails(service, (link) => link.searchParams.set("code", "made-up"));
  await fails(service, (link) => {
    link.searchParams.delete("code");
    link.searchParams.set("error", "invalid_scope");
  });
  // What is no code of OAuth is somebody's text, and goes nowhere.
  const forged = new Traveller(service.url);
  const link = new URL(await forged.goOut());
  link.searchParams.delete("code");
  link.searchParams.set("error", "<b>Call 555");
  await forged.ask(link.href);
  expect(service.log()).not.toContain("Call 555");
  provider.forge = (claims) => ({ ...claims, aud: "other" });
  await fails(service);
  provider.forge = (claims) => ({ ...claims, aud: ["dataq", "other"], azp: "other" });
  await fails(service);
  provider.forge = undefined;
  appear({ groups: undefined });
  await fails(service);
  appear({ groups: ["others"] });
  await fails(service);
  await using other = await start({ issuer: provider.otherAddress });
  appear({ groups: ["bosses"] });
  await fails(other);
  await using stranger = await start({ client_secret: "not the secret of the client" });
  await fails(stranger);
  await using mailless = await start({ scopes: ["openid", "groups"] });
  await fails(mailless);
  expect(seen).toEqual([
    "other_issuer",
    "code_refused: invalid_grant",
    "provider_refused: invalid_scope",
    "token_unverified",
    "for_others",
    "no_claim",
    "no_value",
    "other_issuer",
    "code_refused: invalid_client",
    "no_mail",
  ]);
  provider.admit(service.url);
});

test("that the provider does not describe itself is told when somebody wants to go there", async () => {
  await using lost = await start({ issuer: "http://localhost:9" });
  const answer = await new Traveller(lost.url).post("/console/api/sso", { next: "/" });
  expect(answer.status).toBe(503);
  expect(await answer.text()).not.toContain("localhost:9");
  const line = lost
    .log()
    .split("\n")
    .find((text) => text.includes("single sign-on failed"))!;
  expect(JSON.parse(line)).toMatchObject({
    request_id: answer.headers.get("x-request-id"),
    cause: "provider_away",
    text: ssoCauses.provider_away.en,
  });
  provider.admit(service.url);
});

/** Somebody new who is signed in, in so many browsers. */
async function inside(browsers = 1): Promise<{ sub: string; travellers: Traveller[] }> {
  const sub = appear({ groups: ["helpers"] });
  const travellers = Array.from({ length: browsers }, () => new Traveller(service.url));
  for (const traveller of travellers) await traveller.signIn();
  return { sub, travellers };
}
const areIn = async (travellers: readonly Traveller[]) =>
  Promise.all(travellers.map(async (traveller) => (await traveller.me()) !== null));
const tell = (body: string | URLSearchParams, language = "en") =>
  fetch(`${service.url}/console/sso/logout`, {
    method: "POST",
    body,
    headers: { "content-type": "application/x-www-form-urlencoded", "accept-language": language },
  });

test("whoever leaves the provider is out here: of one browser by its session, of all by the person, and nobody else", async () => {
  const { sub, travellers } = await inside(3);
  const other = await inside();
  await travellers[1]!.leave(provider.issuer);
  expect(await areIn(travellers)).toEqual([true, false, true]);
  const token = await provider.logoutToken({ sub, aud: ["another", CLIENT.client_id] });
  const told = await tell(new URLSearchParams({ logout_token: token }));
  expect([told.status, told.headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect(await areIn(travellers)).toEqual([false, false, false]);
  expect(await areIn(other.travellers)).toEqual([true]);
  const lines = (await auditOf()).filter(({ action }) => action === "logout.sso");
  expect(lines.slice(0, 2)).toEqual([
    expect.objectContaining({ actor: "sso", after: { sessions: 2 } }),
    expect.objectContaining({ actor: "sso", after: { sessions: 1 } }),
  ]);
  // The same token again ends nothing, though they are back.
  provider.present = sub;
  await travellers[0]!.signIn();
  expect((await tell(new URLSearchParams({ logout_token: token }))).status).toBe(400);
  expect(await areIn([travellers[0]!])).toEqual([true]);
});

test("forged, old and foreign logout tokens end nothing", async () => {
  const { sub, travellers } = await inside();
  const now = Math.floor(Date.now() / 1000);
  const sign = (claims: object, header?: object, key?: "foreign" | "secret") =>
    provider.logoutToken({ sub, ...claims }, header, key);
  const good = await sign({});
  const [head, body, signature] = good.split(".") as [string, string, string];
  const none = Buffer.from('{"alg":"none","typ":"logout+jwt"}').toString("base64url");
  const changed = Buffer.from(JSON.stringify({ sub })).toString("base64url");
  const bad: (readonly [string, string])[] = [
    ["签名", await sign({}, {}, "foreign")],
    ["alg", await sign({}, {}, "secret")],
    ["没有公布", await sign({}, { kid: "two" })],
    ["类型", await sign({}, { typ: "at+jwt" })],
    ["iss", await sign({ iss: "https://evil.example" })],
    ["受众（aud）", await sign({ aud: "another" })],
    ["缺少 aud", await sign({ aud: undefined })],
    ["超过 5 分钟", await sign({ iat: now - 340, exp: undefined })],
    ["iat）晚于", await sign({ iat: now + 60 })],
    ["缺少 iat", await sign({ iat: undefined })],
    ["exp", await sign({ exp: now - 60 })],
    ["缺少 jti", await sign({ jti: undefined })],
    ["jti", await sign({ jti: "" })],
    ["jti", await sign({ jti: "j".repeat(256) })],
    ["sub", await sign({ sub: undefined })],
    ["sub", await sign({ sub: 7 })],
    ["sub", await sign({ sub: null })],
    ["sid", await sign({ sid: ["a"] })],
    ["nonce", await sign({ nonce: "n" })],
    ["events", await sign({ events: undefined })],
    ["events", await sign({ events: [LOGOUT_EVENT] })],
    ["events", await sign({ events: { [LOGOUT_EVENT]: true } })],
    ["events", await sign({ events: { "http://schemas.openid.net/event/other": {} } })],
    ["alg", `${none}.${body}.`],
    ["签名", `${head}.${body}.`],
    ["签名", `${head}.${changed}.${signature}`],
    ["JWT", `${good}.x`],
    ["JWT", "x"],
    ["", ""],
  ];
  for (const [reason, token] of bad)
    for (const language of ["zh-CN", "en"]) {
      const answer = await tell(new URLSearchParams({ logout_token: token }), language);
      const { code, detail } = (await answer.json()) as { code: string; detail: string };
      expect([answer.status, code], token).toEqual([400, "invalid_logout_token"]);
      if (language === "zh-CN") expect(detail, token).toContain(reason);
      // No reason is in the words of a library.
      expect(detail, reason).not.toMatch(/claim|JWS|JOSE|Header/);
    }
  const twice = `logout_token=${good}&logout_token=${good}`;
  for (const form of ["", twice, JSON.stringify({ logout_token: good })])
    expect((await tell(form)).status).toBe(400);
  expect((await tell(`logout_token=${"a".repeat(20_000)}`)).status).toBe(413);
  // Of a session that is not this person's, and of nobody here.
  for (const claims of [{ sid: "another" }, { sub: "nobody" }])
    expect((await tell(new URLSearchParams({ logout_token: await sign(claims) }))).status).toBe(200);
  expect(await areIn(travellers)).toEqual([true]);
  expect((await tell(new URLSearchParams({ logout_token: good }))).status).toBe(200);
  expect(await areIn(travellers)).toEqual([false]);
});

test("forged, foreign and replayed answers let nobody in", async () => {
  appear({ groups: ["bosses"] });
  const traveller = new Traveller(service.url);
  const refused = async (change: (link: URL) => void) => {
    const link = new URL(await traveller.goOut());
    change(link);
    return (await traveller.ask(link.href)).headers.get("location");
  };
  const expired = "/console/sign-in#sso=expired";
  const failed = "/console/sign-in#sso=failed";
  expect(await refused((link) => link.searchParams.set("state", "x".repeat(32)))).toBe(expired);
  expect(await refused((link) => link.searchParams.delete("state"))).toBe(expired);
  expect(await refused((link) => link.searchParams.set("iss", "https://other.example"))).toBe(failed);
  expect(await refused((link) => link.searchParams.set("code", "made-up"))).toBe(failed);
  // Somebody else's link: the browser that opens it did not begin this.
  const link = await traveller.goOut();
  expect((await new Traveller(service.url).ask(link)).headers.get("location")).toBe(expired);
  expect((await traveller.ask(link)).headers.get("location")).toBe("/console/");
  await traveller.post("/console/auth/sign-out");
  expect(await traveller.me()).toBeNull();
  expect((await traveller.ask(link)).headers.get("location")).toBe(expired);
  const used = new URL(link).searchParams.get("code")!;
  expect(await refused((next) => next.searchParams.set("code", used))).toBe(failed);

  const seconds = Math.floor(Date.now() / 1000);
  const forgeries = {
    "another client": { aud: "other" },
    "others too": { aud: ["dataq", "other"], azp: "other" },
    "another issuer": { iss: "https://other.example" },
    "another nonce": { nonce: "other" },
    "no nonce": { nonce: undefined },
    "the past": { iat: seconds - 7_200, exp: seconds - 3_600 },
    "another person": { sub: "person-0" },
  };
  for (const [name, change] of Object.entries(forgeries)) {
    provider.forge = (claims) => JSON.parse(JSON.stringify({ ...claims, ...change }));
    expect(await traveller.signIn(), name).toBe(failed);
  }
  provider.forge = (claims) => claims;
  provider.isForgedWithOtherKey = true;
  expect(await traveller.signIn()).toBe(failed);
  provider.isForgedWithOtherKey = false;
  expect(await traveller.me()).toBeNull();
  expect(await traveller.signIn()).toBe("/console/");

  // better-auth's own doors stay closed, and so do other pages.
  const token = { provider: "sso", idToken: { token: "x.y.z" } };
  expect((await traveller.post("/console/auth/sign-in/social", token)).status).toBe(404);
  expect((await traveller.ask("/console/auth/callback/sso?code=1")).status).toBe(404);
  const foreign = { method: "POST", body: "{}", headers: { "x-console": "0" } };
  expect((await traveller.ask("/console/api/sso", foreign)).status).toBe(403);
  for (const next of ["//evil.test", "https://evil.test", "/\\evil.test", "keys"])
    expect((await traveller.post("/console/api/sso", { next })).status, next).toBe(400);
});

test("who may go on as somebody who signed up here", async () => {
  const known = async (email: string, isVerified: boolean) => {
    const traveller = new Traveller(service.url);
    await traveller.post("/console/auth/sign-up/email", { name: "Known", email, password });
    await service.database.query(`update people."user" set "emailVerified" = $2 where "email" = $1`, [
      email,
      isVerified,
    ]);
    expect((await traveller.post("/console/auth/sign-in/email", { email, password })).status).toBe(200);
    return traveller;
  };
  // Whoever signed up with an address that was not theirs waits for its owner.
  await known("squatted@example.com", false);
  appear({ email: "squatted@example.com", groups: ["bosses"] });
  expect(await new Traveller(service.url).signIn()).toBe("/console/sign-in#sso=mail_taken");

  const here = await known("both@example.com", true);
  const account = (await here.me())!.account_id;
  appear({ email: "Both@example.com", groups: ["helpers"] });
  const traveller = new Traveller(service.url);
  expect(await traveller.signIn()).toBe("/console/");
  expect(await traveller.me()).toMatchObject({ member_role: "support", email: "both@example.com" });
  expect(await traveller.me()).toMatchObject({ accounts: [{ id: account }, { role: "support" }] });
  // The old session and the password do not carry the new role.
  expect(await here.me()).toBeNull();
  const again = await here.post("/console/auth/sign-in/email", { email: "both@example.com", password });
  expect([again.status, await again.json()]).toEqual([
    403,
    expect.objectContaining({ code: "SSO_REQUIRED" }),
  ]);
  expect(await here.me()).toBeNull();

  // At the provider, the address belongs to somebody else now.
  appear({ email: "both@example.com", groups: ["bosses"] });
  expect(await new Traveller(service.url).signIn()).toBe("/console/sign-in#sso=mail_taken");
  expect((await traveller.me())!.member_role).toBe("support");
});

test("a role that was given by hand stays", async () => {
  const id = appear({ groups: ["readers"] });
  const traveller = new Traveller(service.url);
  await traveller.signIn();
  const person = (await service.call("/v1/members")).body.data.find(
    ({ email }: { email: string }) => email === `${id}@example.com`,
  );
  await service.call(`/v1/members/${person.id}`, { method: "PATCH", body: { role: "developer" } });
  expect(await traveller.signIn()).toBe("/console/");
  expect((await traveller.me())!.member_role).toBe("developer");
});

test("a session ends at its time, and a role after an absence", async () => {
  const id = appear({ groups: ["helpers"] });
  const traveller = new Traveller(service.url);
  await traveller.signIn();
  const until = async () =>
    (
      await service.database.query<{ hours: number }>(
        `select extract(epoch from s."expiresAt" - now())::float / 3600 as hours from people."session" s
         join people."user" u on u."id" = s."userId" where u."email" = $1`,
        [`${id}@example.com`],
      )
    ).rows.map(({ hours }) => Math.round(hours * 10) / 10);
  expect(await until()).toEqual([8]);
  // better-auth would make it thirty days.
  expect((await traveller.ask("/console/auth/get-session")).status).toBe(200);
  await service.database.query(`update people."session" set "expiresAt" = now() + interval '30 days'`);
  expect(await until()).toEqual([8]);
  await service.database.query(
    `update people."session" set "ssoUntil" = now() - interval '1 second' where "ssoUntil" is not null`,
  );
  expect(await traveller.me()).toBeNull();

  await traveller.signIn();
  const setSeen = (days: number) =>
    service.database.query(
      `update people.member m set seen_at = now() - make_interval(days => $2) from people."user" u
       where u."id" = m.user_id and u."email" = $1`,
      [`${id}@example.com`, days],
    );
  await setSeen(29);
  await service.sweep();
  expect((await traveller.me())!.member_role).toBe("support");
  await setSeen(31);
  await service.sweep();
  expect(await traveller.me()).toBeNull();
  expect((await auditOf())[0]).toMatchObject({ action: "member.remove", actor: "system" });
});

test("customers come in only where they may, and under the rules for sign-ups", async () => {
  await using open = await start({ customers: true });
  appear();
  const customer = new Traveller(open.url);
  expect(await customer.signIn()).toBe("/console/");
  expect(await customer.me()).toMatchObject({
    member_role: "owner",
    scopes: expect.not.arrayContaining(["admin:read"]),
  });
  expect((await customer.ask("/v1/balance")).status).toBe(200);

  await using closed = await start({ customers: true }, { DATAQ_SIGNUP: "closed" });
  appear();
  expect(await new Traveller(closed.url).signIn()).toBe("/console/sign-in#sso=signup_closed");
  provider.present = "";
  expect(await new Traveller(closed.url).signIn()).toBe("/console/sign-in#sso=cancelled");

  // The provider calls itself by another name than the settings do.
  await using other = await start({ issuer: provider.otherAddress });
  appear({ groups: ["bosses"] });
  expect(await new Traveller(other.url).signIn()).toBe("/console/sign-in#sso=failed");
  provider.admit(service.url);
});

test.each([
  [{ issuer: "http://login.example.com" }, "issuer: must begin with https://"],
  [{ mail_domains: ["@example.com"] }, "mail_domains.0: must be a mail domain"],
  [{ operators: undefined }, "operators: must be set unless customers is true"],
  [{ operators: { claim: "groups", roles: { developer: ["x"] } } }, "operators.roles: "],
  [{ client_secret: "" }, "client_secret: "],
])("settings %j are refused by name", async (change, message) => {
  const path = join(folder, "wrong.json");
  writeFileSync(path, JSON.stringify({ ...base(), ...change }));
  await expect(readSsoSettings(path)).rejects.toThrow(`${path}: ${message}`);
});
