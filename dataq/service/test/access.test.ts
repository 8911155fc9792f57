import { consoleRoutes, routes as contractRoutes, type Route } from "@dataq/contract/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isFullSize } from "../../../testing/test-size.ts";
import { type Action, actions } from "../src/accounts/principal.ts";
import { type Role, rights, roles, type Scope, scopes } from "../src/accounts/scope.ts";
import { mayDoTooMuch, type RouteAccess, routeAccess } from "../src/http/access.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";

const roleNames = Object.keys(rights.admin) as Role[];
const kinds = ["customer", "admin"] as const;
type Kind = (typeof kinds)[number];

/** Somebody who sends requests, with everything that decides what they may do. */
interface Actor {
  readonly name: string;
  /** Set if the scopes are those of a role. */
  readonly role?: Role;
  readonly kind: Kind | null;
  readonly scopes: readonly Scope[];
  readonly isTest: boolean;
  readonly isSignedIn: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly personId?: string;
}

let service: InProcessService;
const accounts = {} as Record<Kind, string>;
const actors: Actor[] = [];
const nobody: Actor = {
  name: "nobody",
  kind: null,
  scopes: [],
  isTest: false,
  isSignedIn: false,
  headers: { "x-console": "1" },
};

beforeAll(async () => {
  // Nothing listens on port 9, so requests to the model server fail at once.
  service = await startInProcess({ DATAQ_LOCALLM: "http://127.0.0.1:9" });
  for (const kind of kinds) {
    accounts[kind] = (await service.account(1_000_000, { keys: 0 })).id;
    await service.database.query("update account set role = $2 where id = $1", [accounts[kind], kind]);
  }
  actors.push(nobody, await visitor());
  for (const kind of kinds) {
    for (const role of roleNames) {
      actors.push(await member(kind, role));
      actors.push({ ...(await key(`${kind} ${role} key`, kind, rights[kind][role])), role });
    }
    for (const scope of scopes) actors.push(await key(`${kind} ${scope} key`, kind, [scope]));
    actors.push(await key(`${kind} test key`, kind, rights[kind].owner, "test"));
  }
}, 120_000);
afterAll(() => service?.[Symbol.asyncDispose]());

test("the table lists exactly the routes of the running service", () => {
  const running = service.routes.filter(({ method }) => method !== "HEAD");
  expect([...new Set(running.map(({ method, url }) => `${method} ${url}`))].sort()).toEqual(
    Object.keys(routeAccess).sort(),
  );
});

test("the contract lists every route and what it requires", () => {
  const known = new Map<string, Route["access"]>();
  for (const { method, path, access } of [
    ...Object.values<Route>(contractRoutes),
    ...Object.values<Route>(consoleRoutes),
  ])
    known.set(`${method} ${path.replace(/\{(\w+)\}/g, ":$1")}`, access);
  for (const [route, { access }] of Object.entries(routeAccess)) {
    // Pages, sign-in by better-auth, what the provider of single sign-on calls, and answers of the model server.
    if (
      / \/(?:docs\/\*|console(?:\/\*|\/auth\/\*|\/sso\/(?:return|logout)|\/api\/models\/\w+)?)?$/.test(route)
    )
      continue;
    const needs = access === "public" ? "public" : access === "visitor" ? "session" : "key";
    expect(known.get(route), route).toBe(needs);
    known.delete(route);
  }
  expect([...known.keys()]).toEqual([]);
});

test("the contract names the routes that maintenance refuses", () => {
  const told = Object.values<Route>(contractRoutes)
    .filter(({ errors }) => errors?.includes("maintenance"))
    .map(({ method, path }) => `${method} ${path}`);
  const paused = Object.entries(routeAccess).filter(([, { pauses }]) => pauses);
  expect(told.sort()).toEqual(paused.map(([route]) => route).sort());
});

test("routes that everybody may use only read, but for these, and none of them moves money", async () => {
  const open = Object.entries(routeAccess).filter(([, { access }]) => access === "public");
  expect(open.filter(([route]) => !route.startsWith("GET ")).map(([route]) => route)).toEqual([
    "POST /v1/try",
    "POST /v1/payments/:provider/notify",
    "POST /v1/keys/leak-report",
    "POST /console/auth/*",
    "POST /console/api/sso",
    "POST /console/sso/logout",
  ]);
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    expect(mayDoTooMuch(method, { access: "public", cost: 1 })).toBe(true);
    expect(mayDoTooMuch(method, { access: "account.pay", cost: 1 })).toBe(false);
  }
  const books = async () =>
    (
      await service.database.query(
        "select count(*), sum(abs(trial) + abs(paid) + abs(credit)) as moved from entry",
      )
    ).rows[0] as object;
  const before = await books();
  const bodies = [
    {},
    { tokens: 1_000, account_id: accounts.customer },
    { code: "x", email: "a@example.com" },
  ];
  for (const [route] of open) {
    const [method = "", url = ""] = route.split(" ");
    const path = url.replace(/:\w+/g, "none").replace("*", "none");
    for (const body of method === "GET" ? [undefined] : bodies) await codeOf(nobody, method, path, body);
  }
  expect(await books()).toEqual(before);
});

test("every actor can use exactly the routes that the table allows", async () => {
  const wrong: string[] = [];
  const walk = async ([route, { access }]: [string, RouteAccess], place: number) => {
    const [method = "", url = ""] = route.split(" ");
    // better-auth answers this one.
    if (url === "/console/auth/*") return;
    const check = async (actor: Actor) => {
      const expected = refusalOf(actor, access);
      // This route is skipped, because it would start a worker.
      if (url === "/admin/v1/index/refresh" && expected === undefined) return;
      const path = url.replace(/:\w+/g, "none").replace("*", "none");
      // Without scopes a key gets the default ones, which not every actor may grant.
      const body = route === "POST /v1/keys" ? { scopes: ["manage:keys"] } : {};
      const got = await codeOf(actor, method, path, method === "GET" ? undefined : body);
      if (got !== expected) wrong.push(`${route} by ${actor.name}: ${got}, not ${expected}`);
    };
    // A role is a set of scopes, and keys with one scope each try every route. So of the roles, one tries each route.
    const role = roleNames[place % roleNames.length];
    await Promise.all(
      actors.filter((actor) => isFullSize || actor.role === undefined || actor.role === role).map(check),
    );
  };
  const routes = Object.entries(routeAccess);
  for (let place = 0; place < routes.length; place += 4)
    await Promise.all(routes.slice(place, place + 4).map((route, n) => walk(route, place + n)));
  expect(wrong).toEqual([]);
}, 120_000);

test("a field of the body may need more than its route", async () => {
  const path = `/admin/v1/accounts/${accounts.customer}`;
  for (const actor of actors.filter(({ kind }) => kind === "admin")) {
    for (const [body, action] of [
      [{ tier: "pro" }, "service.support"],
      [{ frozen: false }, "service.support"],
      [{ credit_limit: 7 }, "service.finance"],
      [{ tier: "pro", credit_limit: 7 }, "service.finance"],
      // Refused for the field, whatever it holds.
      [{ credit_limit: null }, "service.finance"],
    ] as const) {
      const refusal =
        refusalOf(actor, "service.read") ??
        ("tier" in body ? refusalOf(actor, "service.support") : undefined) ??
        refusalOf(actor, action);
      expect(await codeOf(actor, "PATCH", path, body), `${actor.name} ${JSON.stringify(body)}`).toBe(refusal);
    }
  }
});

test("an operator's roles: each sees the business, and only some may change it", async () => {
  const wanted: Record<string, readonly [Role, "seen" | "refused"][]> = {
    "GET /admin/v1/accounts": [
      ["support", "seen"],
      ["finance", "seen"],
      ["read-only", "seen"],
      ["developer", "refused"],
    ],
    "POST /admin/v1/prices": [
      ["support", "refused"],
      ["finance", "seen"],
      ["read-only", "refused"],
    ],
    "POST /admin/v1/refunds": [
      ["support", "seen"],
      ["finance", "seen"],
      ["read-only", "refused"],
    ],
    "POST /admin/v1/imports": [
      ["support", "refused"],
      ["finance", "refused"],
      ["read-only", "refused"],
      ["owner", "seen"],
    ],
  };
  for (const [route, cells] of Object.entries(wanted))
    for (const [role, outcome] of cells) {
      const [method = "", path = ""] = route.split(" ");
      const actor = actors.find(({ name }) => name === `admin ${role}`)!;
      const code = await codeOf(actor, method, path, method === "GET" ? undefined : {});
      expect(code, `${role}: ${route}`).toBe(outcome === "seen" ? undefined : "scope_denied");
    }
});

test("a member without rights can leave, and nobody else can remove them", async () => {
  const leaver = await member("customer", "read-only");
  const path = `/v1/members/${leaver.personId}`;
  const other = actors.find(({ name }) => name === "customer read-only")!;
  expect(await codeOf(other, "DELETE", path)).toBe("scope_denied");
  expect(await codeOf(leaver, "DELETE", path)).toBeUndefined();
  expect(await codeOf(leaver, "GET", "/v1/balance")).toBe("missing_api_key");
});

test("metrics are open to this machine, and to operators behind a proxy", async () => {
  expect((await service.call("/metrics", { key: null })).status).toBe(200);
  for (const actor of actors) {
    const through = { ...actor, headers: { ...actor.headers, "x-forwarded-for": "203.0.113.9" } };
    expect(await codeOf(through, "GET", "/metrics"), actor.name).toBe(refusalOf(actor, "service.read"));
  }
});

describe("nobody can change somebody with more rights", () => {
  /** Whoever lacks the action is refused for every role alike, so each of them tries one role, in rotation. */
  function targetsOf(actor: Actor, action: Action): readonly Role[] {
    if (isFullSize || refusalOf(actor, action) === undefined) return roleNames;
    return [roleNames[actors.indexOf(actor) % roleNames.length]!];
  }

  test.each(kinds)(
    "members of a %s account",
    async (kind) => {
      const wrong: string[] = [];
      const walk = async (actor: Actor) => {
        const check = async (cell: string, method: string, path: string, body: unknown, touched: Role[]) => {
          const got = await codeOf(actor, method, path, body);
          const expected = refusalOf(actor, "members.manage") ?? excessOf(actor, touched);
          if (got !== expected) wrong.push(`${cell} by ${actor.name}: ${got}, not ${expected}`);
        };
        for (const target of targetsOf(actor, "members.manage")) {
          for (const role of roleNames)
            await check(`${target} becomes ${role}`, "PATCH", await memberOf(kind, target), { role }, [
              role,
              target,
            ]);
          await check(`removes ${target}`, "DELETE", await memberOf(kind, target), undefined, [target]);
          const invitation = await invitationOf(kind, target);
          await check(`withdraws ${target}`, "DELETE", invitation, undefined, [target]);
          await check(
            `invites ${target}`,
            "POST",
            "/v1/members/invitations",
            { email: `invited${++serial}@x.example`, role: target },
            [target],
          );
        }
      };
      await Promise.all(actors.filter((one) => one.kind === kind).map(walk));
      expect(wrong).toEqual([]);
    },
    120_000,
  );

  test.each(kinds)(
    "keys of a %s account",
    async (kind) => {
      const wrong: string[] = [];
      const untouched = new Map<string, Promise<string>>();
      const walk = async (actor: Actor) => {
        // A test key's mode counts for the caller, not for the scopes: one role tries it.
        for (const [target, mode] of [
          ...targetsOf(actor, "keys.manage").map((role) => [role, "live"] as const),
          ...(isFullSize ? roleNames : (["owner"] as const)).map((role) => [role, "test"] as const),
        ]) {
          const wanted = rights[kind][target];
          const needsLive = actor.isTest && mode === "live";
          const expected =
            refusalOf(actor, "keys.manage") ??
            excessOf(actor, [target]) ??
            (needsLive ? "grant_denied" : undefined);
          const check = async (cell: string, method: string, path: string, body?: unknown) => {
            const got = await codeOf(actor, method, path, body);
            if (got !== expected) wrong.push(`${cell} ${mode} ${target} by ${actor.name}: ${got}`);
          };
          await check("creates", "POST", "/v1/keys", { mode, scopes: wanted });
          // A refused request does not change its key, so all of these share one.
          const make = async () => `/v1/keys/${(await keyIn(accounts[kind], wanted, mode)).id}`;
          const shared = `${target} ${mode}`;
          if (!untouched.has(shared)) untouched.set(shared, make());
          const made = () => (expected === undefined ? make() : untouched.get(shared)!);
          await check("changes", "PATCH", await made(), { name: "new" });
          await check("rotates", "POST", `${await made()}/rotate`, {});
          await check("revokes", "DELETE", await made());
        }
      };
      await Promise.all(actors.filter((one) => one.kind === kind).map(walk));
      expect(wrong).toEqual([]);
    },
    120_000,
  );

  test("keys of other operators", async () => {
    for (const actor of actors) {
      for (const kind of kinds) {
        const path = `/admin/v1/accounts/${accounts[kind]}/keys`;
        const got = await codeOf(actor, "POST", path, { scopes: rights[kind].owner });
        const expected =
          refusalOf(actor, "service.operate") ?? (kind === "admin" ? excessOf(actor, ["owner"]) : undefined);
        expect(got, `${actor.name} gives a key to an account of kind ${kind}`).toBe(expected);
      }
    }
  });

  test("passwords of other operators", async () => {
    for (const actor of actors.filter((one) => one.kind === "admin"))
      for (const kind of kinds)
        for (const target of roleNames) {
          const { id } = (
            await service.database.query<{ id: string }>(
              "select user_id as id from people.member where account_id = $1 and role = $2 limit 1",
              [accounts[kind], target],
            )
          ).rows[0]!;
          const got = await codeOf(actor, "POST", `/console/api/people/${id}/reset-link`, {});
          const expected =
            refusalOf(actor, "service.support") ?? (kind === "admin" ? excessOf(actor, [target]) : undefined);
          expect(got, `${actor.name} resets ${kind} ${target}`).toBe(expected);
        }
  });

  test("a key that can only manage members cannot create an owner of an admin account", async () => {
    const scope = rights.customer.owner;
    const almost = await key("all but admin", "admin", scope);
    expect(
      await codeOf(almost, "POST", "/v1/members/invitations", { email: "me@x.example", role: "owner" }),
    ).toBe("scope_denied");
    const id = (await memberOf("admin", "developer")).split("/").at(-1);
    expect(await codeOf(almost, "PATCH", `/v1/members/${id}`, { role: "owner" })).toBe("scope_denied");
  });
});

describe("a key with a bound", () => {
  const bounds = {
    monthly_cap: [1_000, 1_001, 999],
    session_budget: [1_000, 1_001, 999],
    per_second: [5, 5.5, 4],
    ip_list: [
      ["127.0.0.0/8", "10.1.0.0/16"],
      ["127.0.0.1", "10.0.0.0/8"],
      ["127.0.0.1/32", "10.1.2.0/24"],
    ],
    expires_at: ["2026-04-01T00:00:00Z", "2026-04-01T00:00:01Z", "2026-03-31T00:00:00Z"],
  } as const;
  const unbounded = {
    monthly_cap: null,
    session_budget: null,
    per_second: null,
    ip_list: [],
    expires_at: null,
  } as const;

  test.each(Object.keys(bounds) as (keyof typeof bounds)[])(
    "keeps its %s, and passes it on to new keys",
    async (bound) => {
      const [own, wider, narrower] = bounds[bound];
      const { keys } = await service.account(1_000_000);
      const body = { scopes: ["manage:keys", "manage:members", "data:query"], [bound]: own };
      const admin = await keyOfOwner(keys[0]!);
      const bounded = (await service.call("/v1/keys", { key: admin, body })).body;
      const call = (path: string, method: string, sent: unknown) =>
        service.call(path, { key: bounded.key, method, body: sent });

      const self = `/v1/keys/${bounded.id}`;
      for (const value of [wider, unbounded[bound]]) {
        expect((await call(self, "PATCH", { [bound]: value })).body.code).toBe("grant_denied");
        const made = await call("/v1/keys", "POST", { scopes: ["data:query"], [bound]: value });
        expect(made.body.code).toBe("grant_denied");
        expect(made.status).toBe(403);
      }
      const heir = await call("/v1/keys", "POST", { scopes: ["data:query"] });
      expect(heir.body[bound]).toEqual(bound === "expires_at" ? new Date(own as string).toISOString() : own);
      expect((await call("/v1/keys", "POST", { scopes: ["data:query"], [bound]: narrower })).status).toBe(
        201,
      );

      const free = (await service.call("/v1/keys", { key: admin, body: { scopes: ["data:query"] } })).body;
      const other = `/v1/keys/${free.id}`;
      expect((await call(other, "PATCH", { name: "mine" })).body.code).toBe("grant_denied");
      expect((await call(`${other}/rotate`, "POST", {})).body.code).toBe("grant_denied");
      expect((await call(other, "DELETE", undefined)).body.code).toBe("grant_denied");
      const invited = await call("/v1/members/invitations", "POST", {
        email: "a@x.example",
        role: "read-only",
      });
      expect(invited.body.code).toMatch(/grant_denied|scope_denied/);
      expect((await call(self, "PATCH", { [bound]: narrower })).status).toBe(200);
    },
  );

  test("shares its cap with the keys that it creates", async () => {
    const { keys } = await service.account(1_000_000);
    const admin = await keyOfOwner(keys[0]!);
    const body = { scopes: ["manage:keys", "data:query"], monthly_cap: 7_000 };
    const bounded = (await service.call("/v1/keys", { key: admin, body })).body.key;
    const spend = async (key: string, query: string) =>
      (
        await service.call("/v1/data/query", {
          key,
          body: { operation: "legal_laws", params: { query: `found ${query}` } },
        })
      ).body.code;
    expect(await spend(bounded, "one")).toBeUndefined();
    const heir = (await service.call("/v1/keys", { key: bounded, body: { scopes: ["data:query"] } })).body
      .key;
    expect(await spend(heir, "two")).toBe("spend_limit_reached");
  });
});

/** A key of the account of `ownKey` with all scopes of an owner. */
async function keyOfOwner(ownKey: string): Promise<string> {
  const { id } = (await service.call("/v1/account", { key: ownKey })).body;
  return (await keyIn(id, roles.owner, "live")).key;
}

async function keyIn(
  account: string,
  wanted: readonly Scope[],
  mode: "live" | "test",
): Promise<{ id: string; key: string }> {
  // The local key has every scope and no bounds.
  const made = await service.call(`/admin/v1/accounts/${account}/keys`, { body: { scopes: wanted, mode } });
  return made.body.data[0];
}

async function key(
  name: string,
  kind: Kind,
  wanted: readonly Scope[],
  mode: "live" | "test" = "live",
): Promise<Actor> {
  const made = await keyIn(accounts[kind], wanted, mode);
  return {
    name,
    kind,
    scopes: wanted,
    isTest: mode === "test",
    isSignedIn: false,
    headers: { authorization: `Bearer ${made.key}`, "x-console": "1" },
  };
}

let serial = 0;

async function visitor(): Promise<Actor> {
  const { id, cookie } = await signUp();
  await service.database.query("delete from people.member where user_id = $1", [id]);
  await service.database.query(`update people."user" set "accountId" = null where "id" = $1`, [id]);
  return { ...nobody, name: "visitor", isSignedIn: true, headers: { cookie, "x-console": "1" } };
}

async function member(kind: Kind, role: Role): Promise<Actor> {
  const { id, cookie } = await signUp();
  await service.database.query("update people.member set account_id = $2, role = $3 where user_id = $1", [
    id,
    accounts[kind],
    role,
  ]);
  await service.database.query(`update people."user" set "accountId" = $2 where "id" = $1`, [
    id,
    accounts[kind],
  ]);
  return {
    name: `${kind} ${role}`,
    role,
    kind,
    personId: id,
    scopes: rights[kind][role],
    isTest: false,
    isSignedIn: true,
    headers: { cookie, "x-console": "1" },
  };
}

async function signUp(): Promise<{ id: string; cookie: string }> {
  const email = `person${++serial}@x.example`;
  const password = "correct horse battery";
  const send = (path: string, body: object) =>
    fetch(`${service.url}/console/auth/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-console": "1" },
      body: JSON.stringify(body),
    });
  // This file signs up more people from one address than the service allows.
  await service.database.query(`delete from people."rateLimit"`);
  await send("sign-up/email", { email, password, name: email });
  const answer = await send("sign-in/email", { email, password });
  const found = await service.database.query<{ id: string }>(
    `select "id" from people."user" where "email" = $1`,
    [email],
  );
  const cookie = answer.headers.getSetCookie().map((line) => line.split(";", 1)[0]);
  return { id: found.rows[0]!.id, cookie: cookie.join("; ") };
}

/** A new member, created without the service. */
async function memberOf(kind: Kind, role: Role): Promise<string> {
  const id = `target_${++serial}`;
  await service.database.query(
    `with made as (insert into people."user" ("id", "name", "email", "emailVerified", "accountId")
       values ($1, $1, $1 || '@x.example', true, $2))
     insert into people.member (user_id, account_id, role, created_at) values ($1, $2, $3, now())`,
    [id, accounts[kind], role],
  );
  return `/v1/members/${id}`;
}

async function invitationOf(kind: Kind, role: Role): Promise<string> {
  const id = `inv_${++serial}`;
  await service.database.query(
    "insert into people.invitation values ($1::text, sha256(convert_to($1, 'UTF8')), $2, $1 || '@x.example', $3, '2030-01-01')",
    [id, accounts[kind], role],
  );
  return `/v1/members/invitations/${id}`;
}

/** The error that the table requires for an actor and an action; undefined if it is allowed. */
function refusalOf(actor: Actor, access: (typeof routeAccess)[string]["access"]): string | undefined {
  if (access === "public" || access === "local or operator") return undefined;
  if (access === "visitor") return actor.isSignedIn ? undefined : "missing_api_key";
  if (actor.kind === null) return "missing_api_key";
  const action: { scope: Scope; or?: Scope; allowsTestKeys: boolean } = actions[access as Action];
  const { scope, or, allowsTestKeys } = action;
  if (![scope, or].some((one) => one !== undefined && has(actor, one))) return "scope_denied";
  if (scope.startsWith("admin") && actor.kind !== "admin") return "scope_denied";
  return actor.isTest && !allowsTestKeys ? "live_key_required" : undefined;
}

function excessOf(actor: Actor, touched: readonly Role[]): string | undefined {
  const needed = touched.flatMap((role) => rights[actor.kind!][role]);
  return needed.every((scope) => has(actor, scope)) ? undefined : "scope_denied";
}

/** `admin` has three parts. */
function has({ scopes: own }: Actor, scope: Scope): boolean {
  return own.includes(scope) || (/^admin:(?:read|support|finance)$/.test(scope) && own.includes("admin"));
}

/** The code of a refusal; undefined for every other answer, including 400 and 404. */
async function codeOf(
  actor: Actor,
  method: string,
  path: string,
  body?: unknown,
): Promise<string | undefined> {
  const response = await fetch(service.url + path, {
    method,
    redirect: "manual",
    headers: { ...actor.headers, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status >= 500 && response.status !== 503)
    throw new Error(`${method} ${path} is ${response.status} for ${actor.name}: ${text}`);
  return response.status === 401 || response.status === 403 ? JSON.parse(text).code : undefined;
}
