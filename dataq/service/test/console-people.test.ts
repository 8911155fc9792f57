import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServiceProcess, startService } from "./service-process.ts";

let service: ServiceProcess;

beforeAll(async () => {
  service = await startService({ env: { DATAQ_MODE: "hosted", DATAQ_SIGNUP: "approve" } });
});
afterAll(() => service[Symbol.asyncDispose]());

/** The cookies of one browser. */
class Visitor {
  readonly #cookies = new Map<string, string>();

  async call(path: string, body?: unknown) {
    const cookie = [...this.#cookies].map((pair) => pair.join("=")).join("; ");
    const response = await fetch(service.url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { "x-console": "1", "content-type": "application/json", cookie },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === "") this.#cookies.delete(name!);
      else this.#cookies.set(name!, value!);
    }
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    return { status: response.status, body: (await response.json()) as any };
  }
}

const password = "correct horse battery";

test("in hosted mode nobody has an account before the operator's yes, then a trial, once", async () => {
  const visitor = new Visitor();
  expect(
    (await visitor.call("/console/auth/sign-up/email", { name: "Zhao", email: "zhao@example.com", password }))
      .status,
  ).toBe(200);
  expect((await visitor.call("/console/api/session")).body.user).toMatchObject({ accountId: null });
  expect((await visitor.call("/v1/balance")).status).toBe(401);

  const { body } = await service.call("/console/api/people");
  const [person] = body.data;
  expect(person).toMatchObject({ email: "zhao@example.com", isApproved: false });
  for (let i = 0; i < 2; i++)
    expect((await service.call(`/console/api/people/${person.id}/approve`, { body: {} })).status).toBe(200);
  expect((await visitor.call("/v1/balance")).body.balance).toBe(2_000_000);
  const accounts = (await service.call("/admin/v1/accounts")).body.data;
  expect(accounts.filter(({ email }: { email: string }) => email === "zhao@example.com")).toHaveLength(1);
});

test("a visitor cannot let themselves in by what they send", async () => {
  const visitor = new Visitor();
  const wish = {
    name: "Sly",
    email: "sly@example.com",
    password,
    isApproved: true,
    accountId: "acc_1",
    isLocal: true,
  };
  await visitor.call("/console/auth/sign-up/email", wish);
  await visitor.call("/console/auth/update-user", { isApproved: true, accountId: "acc_1", isLocal: true });
  const { user } = (await visitor.call("/console/api/session")).body;
  if (user) expect(user).toMatchObject({ accountId: null, isApproved: false, isLocal: false });
  expect((await visitor.call("/v1/balance")).status).toBe(401);
});

test("a second factor: no session without its code, and a wrong code is none", async () => {
  const email = "two.factor@example.com";
  const visitor = new Visitor();
  await visitor.call("/console/auth/sign-up/email", { name: "Two", email, password });
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
  expect((await later.call("/console/api/session")).body.user).toMatchObject({ email, twoFactor: true });
});

/** RFC 6238 with SHA-1, six digits and 30 seconds, as the apps do. */
function codeOf(secret: string, nowMs = Date.now()): string {
  let bits = "";
  for (const letter of secret.replaceAll("=", ""))
    bits += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0");
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(nowMs / 30_000)));
  const digest = createHmac("sha1", key).update(counter).digest();
  const number = digest.readUInt32BE(digest[19]! & 15) & 0x7fff_ffff;
  return String(number % 1_000_000).padStart(6, "0");
}
