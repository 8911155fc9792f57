import { createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { Webhook as Standard } from "standardwebhooks";
import { expect, test } from "vitest";
import { verifyWebhook } from "./webhook.ts";

interface Case {
  readonly name: string;
  readonly secret: string | readonly string[];
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Seconds since 1970. */
  readonly now: number;
  readonly tolerance?: number;
  /** The code of the error; absent for a message that is accepted. */
  readonly code?: string;
}

const cases = JSON.parse(
  readFileSync(new URL("../../cases/webhooks.json", import.meta.url), "utf8"),
) as Case[];

test.each(cases)("$name", async ({ body, headers, secret, now, tolerance, code }) => {
  const options = { now: now * 1000, ...(tolerance !== undefined && { tolerance }) };
  for (const one of [headers, new Headers(ascii(headers))]) {
    const verified = verifyWebhook(body, one, secret, options);
    if (code === undefined) expect(await verified).toEqual(JSON.parse(body));
    else await expect(verified).rejects.toMatchObject({ code });
  }
});

test("accepts every message that the standard's library signs, and its bytes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 100 }), fc.jsonValue(), async (key, data) => {
      const secret = `whsec_${Buffer.from(key).toString("base64")}`;
      const body = JSON.stringify({ type: "balance.low", data });
      const now = new Date();
      const signature = new Standard(secret).sign("msg_x", now, body);
      const headers = {
        "webhook-id": "msg_x",
        "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
        "webhook-signature": signature,
      };
      const expected = JSON.parse(body);
      expect(await verifyWebhook(body, headers, secret)).toEqual(expected);
      expect(await verifyWebhook(new TextEncoder().encode(body), headers, secret)).toEqual(expected);
    }),
    { numRuns: 50 },
  );
});

test("the key is the decoded secret, as with openssl", async () => {
  const key = randomBytes(32);
  const now = Math.floor(Date.now() / 1000);
  const signature = createHmac("sha256", key).update(`msg_y.${now}.{}`).digest("base64");
  const headers = {
    "webhook-id": "msg_y",
    "webhook-timestamp": String(now),
    "webhook-signature": `v1,${signature}`,
  };
  expect(await verifyWebhook("{}", headers, `whsec_${key.toString("base64")}`)).toEqual({});
});

/** `Headers` takes only Latin-1. */
function ascii(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace(/[^\x20-\x7e]/g, "?")]),
  );
}
