import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { callUrl } from "./service-process.ts";
import { codeOf } from "./totp.ts";

let service: InProcessService;

beforeAll(async () => {
  // Each visitor has an address of their own, because sign-ups and sign-ins are limited per address.
  const env = {
    DATAQ_MODE: "hosted",
    DATAQ_SIGNUP: "approve",
    DATAQ_TRUSTED_PROXIES: "127.0.0.1",
    DATAQ_TERMS: "2026-11 https://data.example/terms",
  };
  service = await startInProcess(env, { isScripted: false });
});
afterAll(() => service[Symbol.asyncDispose]());

/** The cookies of one browser. */
class Visitor {
  static #count = 0;
  readonly #cookies = new Map<string, string>();
  readonly address = `203.0.113.${++Visitor.#count}`;

  async call(
    path: string,
    body?: unknown,
    method = body === undefined ? "GET" : "POST",
    language: "en" | "zh" = "en",
  ) {
    const cookie = [...this.#cookies].map((pair) => pair.join("=")).join("; ");
    const answer = await callUrl(service.url + path, {
      method,
      body,
      headers: { "x-console": "1", cookie, "accept-language": language, "x-forwarded-for": this.address },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === "") this.#cookies.delete(name!);
      else this.#cookies.set(name!, value!);
    }
    return answer;
  }

  /** Signs up, then signs in, as the console does. */
  async signUp(name: string, email: string) {
    const answer = await this.call("/console/auth/sign-up/email", { name, email, password });
    expect(answer.status).toBe(200);
    return this.call("/console/auth/sign-in/email", { email, password });
  }
}

const password = "correct horse battery";

test("in hosted mode an account and its trial exist only after approval, once", async () => {
  const visitor = new Visitor();
  await visitor.signUp("Zhao", "zhao@example.com");
  expect((await visitor.call("/console/api/session")).body.user).toMatchObject({ account_id: null });
  expect((await visitor.call("/v1/balance")).status).toBe(401);

  const { body } = await service.call("/console/api/people");
  const [person] = body.data;
  expect(person).toMatchObject({ email: "zhao@example.com", is_approved: false });
  for (let i = 0; i < 2; i++)
    expect((await service.call(`/console/api/people/${person.id}/approve`, { body: {} })).status).toBe(200);
  expect((await visitor.call("/v1/balance")).body.balance).toBe(2_000_000);
  const again = new Visitor();
  const door = "/console/auth/sign-in/email";
  expect((await again.call(door, { email: "zhao@example.com", password: "not it at all" })).status).toBe(401);
  expect((await again.call(door, { email: "zhao@example.com", password })).status).toBe(200);
  const audit = await service.call("/admin/v1/audit?limit=20");
  expect(audit.text).not.toContain("not it at all");
  const doors = audit.body.data.filter(({ action }: { action: string }) => action.startsWith("login."));
  expect(doors).toMatchObject([
    { action: "login.success", actor: `user_${person.id}`, target: `user_${person.id}` },
    { action: "login.failure", actor: "nobody", target: "sign-in/email", ip: again.address },
    { action: "login.success", actor: `user_${person.id}`, ip: visitor.address },
  ]);
  const accounts = (await service.call("/admin/v1/accounts")).body.data;
  expect(accounts.filter(({ email }: { email: string }) => email === "zhao@example.com")).toHaveLength(1);
  const found = async (search: string) =>
    (await service.call(`/admin/v1/accounts?${new URLSearchParams({ search })}`)).body.data;
  const own = accounts.find(({ email }: { email: string }) => email === "zhao@example.com");
  for (const search of ["ZHAO@ex", "zha", own.id]) expect(await found(search), search).toEqual([own]);
  for (const search of ["%", "zhao_example", own.id.slice(0, -1)]) expect(await found(search)).toEqual([]);
});

test.each([{ isApproved: true }, { accountId: "acc_1" }, { isLocal: true }])(
  "a visitor cannot give themselves %j",
  async (extra) => {
    const visitor = new Visitor();
    const email = `${Object.keys(extra)[0]?.toLowerCase()}@example.com`;
    await visitor.call("/console/auth/sign-up/email", { name: "Sly", email, password, ...extra });
    await visitor.signUp("Sly", email);
    await visitor.call("/console/auth/update-user", extra);
    await visitor.call("/console/auth/update-user", { name: "Sly", ...extra });
    const { user } = (await visitor.call("/console/api/session")).body;
    expect(user).toMatchObject({ email, account_id: null, is_approved: false, is_local: false });
    expect((await visitor.call("/v1/balance")).status).toBe(401);
  },
);

test("a sign-up does not say whether the address is known", async () => {
  const wish = { name: "Known", email: "known@example.com", password };
  const signUp = async (body: object) => {
    const { status, headers, body: answer } = await new Visitor().call("/console/auth/sign-up/email", body);
    const stable = [...headers].filter(
      ([name]) => !["date", "x-request-id", "content-length"].includes(name),
    );
    const { id, createdAt, updatedAt, ...user } = answer.user;
    const given = [id, createdAt, updatedAt].map((value: string) => value.replace(/\w/g, "x"));
    return { status, headers: stable, answer: { ...answer, user, given } };
  };
  const first = await signUp(wish);
  expect(first.status).toBe(200);
  expect(first.headers.map(([name]) => name)).not.toContain("set-cookie");
  // With the same password, and with another one.
  expect(await signUp(wish)).toEqual(first);
  expect(await signUp({ ...wish, password: "another long password" })).toEqual(first);
  const signIn = async (sent: string) =>
    (await new Visitor().call("/console/auth/sign-in/email", { email: wish.email, password: sent })).status;
  expect(await signIn("another long password")).toBe(401);
  expect(await signIn(password)).toBe(200);
  const { data } = (await service.call("/console/api/people")).body;
  expect(data.filter(({ email }: { email: string }) => email === wish.email)).toHaveLength(1);
});

test("a closed sign-up accepts only invited addresses", async () => {
  await using closed = await startInProcess({ DATAQ_SIGNUP: "closed" });
  const page = (path: string, body: object, headers: object = {}) =>
    closed.call(path, { key: null, body, headers: { "x-console": "1", ...headers } });
  const signUp = (email: string) => page("/console/auth/sign-up/email", { name: "Zhou", email, password });
  const refused = { status: 403, body: { code: "SIGNUP_CLOSED" } };
  expect(await signUp("zhou@example.com")).toMatchObject(refused);
  expect((await closed.call("/console/api/session", { key: null })).body).toMatchObject({ signup: "closed" });
  const invitation = { email: "zhou@example.com", role: "read-only" };
  const invited = (await closed.call("/v1/members/invitations", { body: invitation })).body;
  expect(await signUp("other@example.com")).toMatchObject(refused);
  expect((await signUp("ZHOU@example.com")).status).toBe(200);
  const email = "zhou@example.com";
  const { headers } = await page("/console/auth/sign-in/email", { email, password });
  const cookie = headers.getSetCookie().map((line) => line.split(";", 1)[0]);
  const token = new URL(invited.link).hash.slice("#token=".length);
  const joined = await page("/console/api/join", { token }, { cookie: cookie.join("; ") });
  expect(joined.status).toBe(200);
});

describe("members of an account", () => {
  const owner = new Visitor();
  const guest = new Visitor();
  const idOf = async (visitor: Visitor) => (await visitor.call("/console/api/session")).body.user.id;

  test("only the invited address can join, once, with the scopes of the role", async () => {
    await owner.signUp("Sun", "sun@example.com");
    await service.call(`/console/api/people/${await idOf(owner)}/approve`, { body: {} });
    const wanted = { email: "Li@Example.com", role: "read-only" };
    const invited = (await owner.call("/v1/members/invitations", wanted)).body;
    const token = new URL(invited.link).hash.slice("#token=".length);
    const sly = new Visitor();
    await sly.signUp("Sly 2", "sly2@example.com");
    expect(await sly.call("/console/api/join", { token })).toMatchObject({
      status: 422,
      body: { code: "invalid_invitation" },
    });
    await guest.signUp("Li", "li@example.com");
    expect((await guest.call("/v1/balance")).status).toBe(401);
    expect((await guest.call("/console/api/join", { token })).status).toBe(200);
    expect((await guest.call("/console/api/join", { token })).status).toBe(422);
    expect((await guest.call("/v1/balance")).body.balance).toBe(2_000_000);
    const question = { operation: "legal_laws", params: { query: "民法典577" } };
    for (const [path, body, scope] of [
      ["/v1/data/query", question, "data:query"],
      ["/v1/keys", {}, "manage:keys"],
      ["/v1/members/invitations", wanted, "manage:members"],
      ["/v1/vouchers/redeem", { code: "DQ" }, "manage:billing"],
    ] as const)
      expect(await guest.call(path, body)).toMatchObject({
        status: 403,
        body: { code: "scope_denied", detail: expect.stringContaining(scope) },
      });
    expect((await guest.call("/console/api/session")).body.user).toMatchObject({
      role: "customer",
      member_role: "read-only",
    });
  });

  test("only an owner changes and removes members, and the last owner stays", async () => {
    const [ownerId, guestId] = [await idOf(owner), await idOf(guest)];
    const setRole = (visitor: Visitor, id: string, role: string) =>
      visitor.call(`/v1/members/${id}`, { role }, "PATCH");
    expect((await setRole(guest, guestId, "owner")).status).toBe(403);
    expect(await setRole(owner, ownerId, "finance")).toMatchObject({
      status: 409,
      body: { code: "last_owner" },
    });
    expect((await setRole(owner, guestId, "owner")).status).toBe(200);
    // Two owners who give up the role at the same moment: one of them stays owner.
    const both = await Promise.all([setRole(owner, ownerId, "finance"), setRole(guest, guestId, "finance")]);
    expect(both.map(({ status }) => status).sort()).not.toEqual([200, 200]);
    const { data } = (await owner.call("/v1/members")).body;
    const roles = data.map(({ role }: { role: string }) => role);
    expect(roles.filter((role: string) => role === "owner")).toHaveLength(1);
    const [boss, other, otherId] = roles[0] === "owner" ? [owner, guest, guestId] : [guest, owner, ownerId];
    expect((await boss.call(`/v1/members/${otherId}`, undefined, "DELETE")).status).toBe(204);
    expect((await other.call("/v1/balance")).status).toBe(401);
    expect((await boss.call("/v1/members")).body.data).toHaveLength(1);
    // In the reader's language, including what to send instead.
    expect((await boss.call("/v1/keys", { name: 5, days: 1 }, "POST", "zh")).body.error).toMatchObject({
      message: expect.stringMatching(/参数有误/),
      details: expect.arrayContaining([
        { param: "name", code: "invalid_type", message: "name 的类型不对或缺失", fix: "请发送字符串" },
        {
          param: "days",
          code: "unrecognized_keys",
          message: "days 不存在",
          fix: expect.stringMatching(/\p{Script=Han}/u),
        },
      ]),
    });
  });

  test("a member of two accounts acts for one at a time and for no other account", async () => {
    const person = new Visitor();
    await person.signUp("Wu", "wu@example.com");
    await service.call(`/console/api/people/${await idOf(person)}/approve`, { body: {} });
    const own = (await person.call("/v1/account")).body.id;
    const { link } = (
      await service.call("/v1/members/invitations", { body: { email: "wu@example.com", role: "finance" } })
    ).body;
    const { account_id } = (await person.call("/console/api/join", { token: new URL(link).hash.slice(7) }))
      .body;
    expect((await person.call("/v1/account")).body).toMatchObject({ id: account_id, role: "admin" });
    // A member of the operator's account does what their role allows: finance reads, and admits nobody.
    expect((await person.call("/admin/v1/accounts")).status).toBe(200);
    expect((await person.call("/admin/v1/accounts", { name: "more" })).status).toBe(403);
    expect((await person.call(`/console/api/people/${await idOf(person)}/approve`, {})).status).toBe(403);
    await person.call("/console/api/account", { account_id: own });
    expect((await person.call("/v1/account")).body.id).toBe(own);
    const foreign = (await service.call("/admin/v1/accounts", { body: { name: "foreign" } })).body.account_id;
    expect((await person.call("/console/api/account", { account_id: foreign })).status).toBe(404);
  });
});

test("the operator's terms are accepted in their present version, once, with time and address", async () => {
  const visitor = new Visitor();
  await visitor.signUp("Tian", "tian@example.com");
  const session = async () => (await visitor.call("/console/api/session")).body;
  const terms = { version: "2026-11", url: "https://data.example/terms" };
  expect(await session()).toMatchObject({ terms, user: { must_accept_terms: true } });
  const accept = (version: string) => visitor.call("/console/api/terms", { version });
  expect((await accept("2025-01")).body.error.param).toBe("version");
  expect((await session()).user.must_accept_terms).toBe(true);
  for (let i = 0; i < 2; i++) expect((await accept("2026-11")).status).toBe(204);
  const { user } = await session();
  expect(user.must_accept_terms).toBe(false);
  const kept = await service.database.query(
    "select version, ip from people.terms_accepted where user_id = $1",
    [user.id],
  );
  expect(kept.rows).toEqual([{ version: "2026-11", ip: visitor.address }]);
  const { data } = (await service.call("/admin/v1/audit?limit=500")).body;
  const lines = data.filter((line: { action: string; target: string }) => line.target === user.id);
  expect(lines.filter(({ action }: { action: string }) => action === "terms.accept")).toHaveLength(1);
});

test("two-factor authentication: no session without a correct code", async () => {
  const email = "two.factor@example.com";
  const visitor = new Visitor();
  await visitor.signUp("Two", email);
  const { body } = await visitor.call("/console/auth/two-factor/enable", { password });
  expect(body.backupCodes).toHaveLength(10);
  const secret = new URL(body.totpURI).searchParams.get("secret")!;
  expect((await visitor.call("/console/auth/two-factor/verify-totp", { code: codeOf(secret) })).status).toBe(
    200,
  );

  const later = new Visitor();
  const signIn = () => later.call("/console/auth/sign-in/email", { email, password });
  expect((await signIn()).body.twoFactorRedirect).toBe(true);
  expect((await later.call("/console/api/session")).body.user).toBeNull();
  const wrong = String((Number(codeOf(secret)) + 1) % 1_000_000).padStart(6, "0");
  expect((await later.call("/console/auth/two-factor/verify-totp", { code: wrong })).status).toBe(401);
  expect((await later.call("/console/auth/two-factor/verify-totp", { code: codeOf(secret) })).status).toBe(
    200,
  );
  expect((await later.call("/console/api/session")).body.user).toMatchObject({ email, two_factor: true });
});
