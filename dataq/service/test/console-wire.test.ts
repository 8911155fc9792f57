import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { callUrl } from "./service-process.ts";

let service: InProcessService;

beforeAll(async () => {
  // Each visitor has an address of their own, because sign-ups and sign-ins are limited per address.
  service = await startInProcess({ DATAQ_TRUSTED_PROXIES: "127.0.0.1" }, { isScripted: false });
});
afterAll(() => service[Symbol.asyncDispose]());

const own = { "x-console": "1", "content-type": "application/json" };

/** The session of a browser: it sends the cookies that it received. */
class Visitor {
  static #count = 0;
  readonly address = `203.0.113.${++Visitor.#count}`;
  cookie = "";

  async call(path: string, body?: unknown, headers: Record<string, string> = own, method?: string) {
    const answer = await callUrl(service.url + path, {
      ...(method !== undefined && { method }),
      body,
      headers: { "x-forwarded-for": this.address, ...headers, ...(this.cookie && { cookie: this.cookie }) },
    });
    for (const line of answer.headers.getSetCookie()) this.cookie = line.split(";", 1)[0]!;
    return { ...answer, body: answer.body ?? answer.text };
  }

  /** Signs up, then signs in, as the console does. */
  async signUp(email: string, name = "Li Wei") {
    const password = "correct horse battery";
    await this.call("/console/auth/sign-up/email", { name, email, password });
    return this.call("/console/auth/sign-in/email", { email, password });
  }
}

describe("pages", () => {
  test("serves one page with a strict content security policy for every path", async () => {
    for (const path of ["/console", "/console/", "/console/keys", "/console/requests/req_1"]) {
      const { status, headers, body } = await new Visitor().call(path, undefined, {});
      expect(status).toBe(200);
      expect(body).toContain('<div id="root">');
      const policy = headers.get("content-security-policy")!;
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      // The page itself must not contain what the policy forbids.
      expect(body).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/);
    }
  });

  test("serves files compressed and immutable, and 404 for a missing file", async () => {
    const { body } = await new Visitor().call("/console/", undefined, {});
    const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(body)![1]!;
    const answer = await new Visitor().call(script, undefined, { "accept-encoding": "br" });
    expect(answer.headers.get("cache-control")).toContain("immutable");
    expect(answer.headers.get("content-encoding")).toBe("br");
    const again = await new Visitor().call(script, undefined, {
      "if-none-match": answer.headers.get("etag")!,
    });
    expect(again.status).toBe(304);
    for (const path of ["/console/assets/none.js", "/console/assets/..%2f..%2fpackage.json"])
      expect((await new Visitor().call(path, undefined, {})).status, path).toBe(404);
  });

  test("renders the theme and language of the cookie and ignores anything else in it", async () => {
    const dark = await new Visitor().call("/console/", undefined, { cookie: "a=b; dataq_look=dark.zh" });
    expect(dark.body).toContain('<html lang="zh-CN" data-theme="dark">');
    const evil = await new Visitor().call("/console/", undefined, { cookie: 'dataq_look=dark"><script>.zh' });
    expect(evil.body).toContain('<html lang="en" data-theme="system">');
  });

  test("uses the browser's language by default and preloads only its texts", async () => {
    for (const [accepted, lang, own, other] of [
      ["zh-CN,zh;q=0.9,en;q=0.8", "zh-CN", "zh", "en"],
      ["de,en;q=0.5", "en", "en", "zh"],
    ] as const) {
      const { body } = await new Visitor().call("/console/", undefined, { "accept-language": accepted });
      expect(body).toContain(`<html lang="${lang}" data-theme="system">`);
      const [, text] = new RegExp(`hreflang="${own}"[^>]* href="([^"]+)"`).exec(body)!;
      expect((await new Visitor().call(text!, undefined, {})).status).toBe(200);
      expect(body).not.toContain(`hreflang="${other}"`);
    }
    const chosen = { "accept-language": "zh", cookie: "dataq_look=light.en" };
    expect((await new Visitor().call("/console/", undefined, chosen)).body).toContain('<html lang="en"');
  });
});

describe("the startup link", () => {
  test("signs the owner in as operator, once", async () => {
    const token = new URL(service.console).hash.slice("#token=".length);
    const owner = new Visitor();
    expect((await owner.call("/console/auth/local-link/enter", { token })).status).toBe(200);
    const { body } = await owner.call("/console/api/session");
    expect(body.user).toMatchObject({ is_local: true, role: "admin" });
    expect((await owner.call("/admin/v1/accounts")).status).toBe(200);

    const second = await new Visitor().call("/console/auth/local-link/enter", { token });
    expect(second).toMatchObject({ status: 401, body: { code: "LINK_USED" } });
    const wrong = await new Visitor().call("/console/auth/local-link/enter", { token: "x".repeat(32) });
    expect(wrong.status).toBe(401);
  });

  test("does not appear in the log", () => {
    expect(service.log()).not.toContain(new URL(service.console).hash.slice("#token=".length));
  });
});

describe("sessions", () => {
  test("a sign-up on loopback gets its trial at once and can call the API", async () => {
    const visitor = new Visitor();
    expect((await visitor.signUp("li@example.com")).status).toBe(200);
    expect((await visitor.call("/v1/balance")).body).toMatchObject({ balance: 2_000_000 });
    const made = await visitor.call("/v1/keys", { name: "first" });
    expect(made.status).toBe(201);
    const byKey = await service.call("/v1/balance", { key: made.body.key });
    expect(byKey.body.balance).toBe(2_000_000);
    expect((await visitor.call("/admin/v1/accounts")).status).toBe(403);
    expect((await visitor.call("/console/api/people")).status).toBe(403);
  });

  test("an API key takes precedence over a cookie", async () => {
    const visitor = new Visitor();
    await visitor.signUp("mei@example.com");
    const answer = await visitor.call("/v1/balance", undefined, { authorization: "Bearer dq_live_wrong" });
    expect(answer.status).toBe(401);
  });

  test("the cookie is HttpOnly and SameSite", async () => {
    const { headers } = await new Visitor().signUp("cookie@example.com");
    const cookie = headers.getSetCookie().join("\n");
    expect(cookie).toMatch(/^dataq\.session_token=.*HttpOnly; SameSite=Strict$/);
    expect(cookie).not.toContain("Secure");
    const overHttps = await new Visitor().call(
      "/console/auth/sign-in/email",
      { email: "cookie@example.com", password: "correct horse battery" },
      { ...own, "x-forwarded-proto": "https" },
    );
    expect(overHttps.headers.getSetCookie().join("\n")).toMatch(/; Secure$/);
  });

  test("sign-in creates a new session (fixation)", async () => {
    const attacker = new Visitor();
    await attacker.signUp("attacker@example.com");
    const planted = attacker.cookie;
    const victim = new Visitor();
    await victim.signUp("victim@example.com");
    const victimLater = new Visitor();
    victimLater.cookie = planted;
    await victimLater.call("/console/auth/sign-in/email", {
      email: "victim@example.com",
      password: "correct horse battery",
    });
    expect(victimLater.cookie).not.toBe(planted);
    expect((await victimLater.call("/console/api/session")).body.user.email).toBe("victim@example.com");
    expect((await attacker.call("/console/api/session")).body.user?.email).not.toBe("victim@example.com");
  });

  test("rejects forged and modified cookies", async () => {
    const visitor = new Visitor();
    await visitor.signUp("changed@example.com");
    for (const cookie of ["dataq.session_token=abc.def", visitor.cookie.slice(0, -3), `${visitor.cookie}x`]) {
      const other = new Visitor();
      other.cookie = cookie;
      expect((await other.call("/console/api/session")).body.user).toBeNull();
      expect((await other.call("/v1/balance")).status).toBe(401);
    }
  });

  test("lists and ends only the user's own sessions", async () => {
    const here = new Visitor();
    await here.signUp("two@example.com");
    const there = new Visitor();
    await there.call("/console/auth/sign-in/email", {
      email: "two@example.com",
      password: "correct horse battery",
    });
    const { data: list } = (await here.call("/console/api/sessions")).body;
    expect(list).toHaveLength(2);
    expect(JSON.stringify(list)).not.toContain(there.cookie.split("=")[1]!.slice(0, 20));
    const other = list.find((session: { is_current: boolean }) => !session.is_current);
    const stranger = new Visitor();
    await stranger.signUp("stranger@example.com");
    const path = `/console/api/sessions/${other.id}`;
    expect((await stranger.call(path, undefined, { "x-console": "1" }, "DELETE")).status).toBe(404);
    expect((await here.call(path, undefined, { "x-console": "1" }, "DELETE")).status).toBe(204);
    expect((await there.call("/console/api/session")).body.user).toBeNull();
    expect((await here.call("/console/api/session")).body.user).not.toBeNull();
  });
});

describe("pages of other sites", () => {
  test("rejects requests with a visitor's cookie from other sites (request forgery)", async () => {
    const visitor = new Visitor();
    await visitor.signUp("forged@example.com");
    const foreign: Record<string, string>[] = [
      { "content-type": "application/json" },
      { "content-type": "text/plain" },
      { ...own, origin: "https://evil.example" },
      { ...own, origin: "null" },
      { ...own, "sec-fetch-site": "cross-site" },
      { ...own, "sec-fetch-site": "same-site" },
    ];
    for (const headers of foreign) {
      for (const path of ["/v1/keys", "/v1/data/query", "/v1/vouchers/redeem", "/console/auth/sign-out"]) {
        const answer = await visitor.call(path, { name: "forged" }, headers);
        expect(answer, `${path} ${JSON.stringify(headers)}`).toMatchObject({
          status: 403,
          body: { code: "foreign_page" },
        });
      }
    }
    expect((await visitor.call("/v1/keys")).body.data).toEqual([]);
    const allowed = await visitor.call("/v1/keys", { name: "own" }, { ...own, origin: service.url });
    expect(allowed.status).toBe(201);
  });

  test("sends no CORS headers to other sites", async () => {
    const visitor = new Visitor();
    await visitor.signUp("cors@example.com");
    const answer = await visitor.call("/v1/balance", undefined, { origin: "https://evil.example" });
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });
});

test("limits sign-ups from one address, whether or not they name a known address", async () => {
  const visitor = new Visitor();
  const statuses: number[] = [];
  for (let i = 0; i < 12; i++) {
    const email = i % 2 === 0 ? "li@example.com" : `new${i}@example.com`;
    const wish = { name: "Li", email, password: "another long password" };
    statuses.push((await visitor.call("/console/auth/sign-up/email", wish)).status);
  }
  expect(statuses).toEqual([...Array<number>(10).fill(200), 429, 429]);
});

describe("passwords", () => {
  test("limits password guesses", async () => {
    const visitor = new Visitor();
    const statuses: number[] = [];
    for (let i = 0; i < 11; i++) {
      const { status } = await visitor.call("/console/auth/sign-in/email", {
        email: "li@example.com",
        password: `wrong password ${i}`,
      });
      statuses.push(status);
    }
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThan(0);
    expect(statuses.at(-1)).toBe(429);
  });

  test("an operator's reset link works once and ends every session", async () => {
    const forgetful = new Visitor();
    const { body: before } = await forgetful.call("/console/api/session");
    expect(before.user).toBeNull();
    const people = await service.call("/console/api/people");
    const person = people.body.data.find((one: { email: string }) => one.email === "li@example.com");
    const made = await service.call(`/console/api/people/${person.id}/reset-link`, { body: {} });
    const token = new URL(made.body.link).hash.slice("#token=".length);
    const set = () =>
      forgetful.call("/console/auth/reset-password", { token, newPassword: "another long one" });
    expect((await set()).status).toBe(200);
    expect((await set()).status).toBe(400);
  });
});
