import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type InProcessService, startInProcess } from "./in-process.ts";

let service: InProcessService;
beforeAll(async () => {
  service = await startInProcess({
    DATAQ_MODE: "hosted",
    DATAQ_SIGNUP: "open",
    DATAQ_TRUSTED_PROXIES: "127.0.0.1",
  });
});
afterAll(() => service?.[Symbol.asyncDispose]());

/** With a short password better-auth answers 400 and hashes nothing; what is limited does not reach it. */
const signUp = (email: string, from: string, password = "short") =>
  service.call("/console/auth/sign-up/email", {
    key: null,
    headers: { "x-forwarded-for": from, "x-console": "1", origin: service.url },
    body: { name: "n", email, password },
  });
const statusesOf = async (mails: readonly string[], from: (place: number) => string) => {
  const statuses: number[] = [];
  for (const [place, mail] of mails.entries()) statuses.push((await signUp(mail, from(place))).status);
  return statuses;
};

test("sign-ups are limited by mailbox, address and mail domain, and refused for disposable mail and domains in the operator's file", async () => {
  const other = (place: number) => `203.0.${Math.floor(place / 200)}.${place % 200}`;
  // Gmail sees one mailbox in all of these.
  const same = [
    "An.n+1@gmail.com",
    "ann+2@GMAIL.com",
    "a.n.n@gmail.com",
    "ann+3@gmail.com",
    "anna@gmail.com",
  ];
  expect(await statusesOf(same, (place) => `198.51.100.${place}`)).toEqual([400, 400, 400, 429, 400]);

  const mails = Array.from({ length: 12 }, (_, n) => `from-here-${n}@shop${n}.example`);
  // An address of IPv6 is as good as its neighbours.
  const here = await statusesOf(mails, (place) => `2001:db8:7:7::${place + 1}`);
  expect(here).toEqual([...Array<number>(10).fill(400), 429, 429]);

  // Disposable mail is refused without the operator, who has the last word.
  const paramOf = async (mail: string) =>
    (await signUp(mail, "192.0.2.1", "a long password")).body.error?.param;
  expect(await paramOf("x@eu.yopmail.com")).toBe("email");
  expect(await paramOf("x@10minutemail.com")).toBe("email");
  writeFileSync(
    join(service.folder, "refused-mail.txt"),
    "# list\n\nMailinator.example \r\nthrow.example\n! good.throw.example\n!YOPmail.com\n",
  );
  expect(await paramOf("x@sub.mailinator.example")).toBe("email");
  expect(await paramOf("x@throw.example")).toBe("email");
  expect(await paramOf("x@10minutemail.com")).toBe("email");
  for (const mail of ["x@eu.yopmail.com", "x@a.good.throw.example"])
    expect((await signUp(mail, "192.0.2.1", "a long password")).status).toBe(200);
  expect((await signUp("x@notmailinator.example", "192.0.2.1", "a long password")).status).toBe(200);

  // Signed up, and no account with trial tokens before the address is proven.
  const people = await service.database.query(
    `select from people."user" where "accountId" is not null and not "isLocal"`,
  );
  expect(people.rowCount).toBe(0);
  const many = Array.from({ length: 31 }, (_, n) => `u${n}@farm.example`);
  const last = (await statusesOf(many, (place) => other(place + 1))).slice(-2);
  expect(last).toEqual([400, 429]);
});

test("every metric that the alert rules and the board name is at /metrics", async () => {
  await service.call("/v1/data/query", { body: { operation: "legal_laws", params: { query: "found 1" } } });
  await service.call("/v1/status");
  const text = await (
    await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${service.key}` } })
  ).text();
  const known = new Set([...text.matchAll(/^(\w+)(?:\{|\s)/gm)].map(([, name]) => name));
  const folder = fileURLToPath(new URL("../../hosting/", import.meta.url));
  const named = ["alerts.yaml", "grafana.json"].flatMap((file) => [
    ...readFileSync(join(folder, file), "utf8").matchAll(/\bdataq_[a-z0-9_]+/g),
  ]);
  expect(named.length).toBeGreaterThan(20);
  expect(named.map(([name]) => name).filter((name) => !known.has(name))).toEqual([]);
  const { panels } = JSON.parse(readFileSync(join(folder, "grafana.json"), "utf8")) as {
    panels: { id: number; gridPos: { x: number; w: number } }[];
  };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
});
