import { ConfigurationError, WebhookVerificationError } from "./errors.ts";

/** A message to a webhook. `data` depends on the type. */
export interface WebhookMessage {
  readonly type: string;
  /** When it happened, RFC 3339. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface VerifyOptions {
  /** How far the message's time may be from now, in seconds; 300 by default. It stops replays of old messages. */
  readonly tolerance?: number;
  /** The current time in milliseconds since 1970, for tests. */
  readonly now?: number;
}

/** Headers as `Headers`, or as an object such as `request.headers` of Node. */
type MessageHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Checks that a message is from the service and unchanged, and returns it. `body` must be the body as received, not
 * parsed and written again. `secret` begins with `whsec_`. During a rotation, pass both secrets. Throws
 * `WebhookVerificationError`. Standard Webhooks: https://www.standardwebhooks.com
 */
export async function verifyWebhook(
  body: string | Uint8Array<ArrayBuffer>,
  headers: MessageHeaders,
  secret: string | readonly string[],
  { tolerance = 300, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookMessage> {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
    headerOf(headers, `webhook-${name}`),
  ) as [string, string, string];
  if (!/^\d{1,12}$/.test(timestamp))
    throw refusal("invalid_header", "The header webhook-timestamp is invalid.");
  if (Math.abs(now / 1000 - Number(timestamp)) > tolerance)
    throw refusal("outside_tolerance", "The message is too old, or its time is in the future.");
  const start = new TextEncoder().encode(`${id}.${timestamp}.`);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const content = new Uint8Array(start.length + bytes.length);
  content.set(start);
  content.set(bytes, start.length);
  const keys = await Promise.all([secret].flat().map((one) => keyOf(one)));
  for (const [version, text = ""] of signatures.split(" ").map((one) => one.split(",", 2))) {
    const signature = version === "v1" ? readBase64(text) : undefined;
    if (signature === undefined) continue;
    // `verify` compares in constant time.
    for (const key of keys)
      if (await crypto.subtle.verify("HMAC", key, signature, content))
        return JSON.parse(new TextDecoder().decode(bytes));
  }
  throw refusal("wrong_signature", "No signature of the message matches the secret.");
}

function headerOf(headers: MessageHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value !== "string" || value === "")
    throw refusal("invalid_header", `The header ${name} is missing.`);
  return value;
}

async function keyOf(secret: string) {
  const bytes = secret.startsWith("whsec_") ? readBase64(secret.slice(6)) : undefined;
  if (bytes === undefined || bytes.length === 0)
    throw new ConfigurationError("The webhook secret must begin with whsec_ and continue in Base64.", {
      code: "invalid_secret",
    });
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function readBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function refusal(code: string, message: string): WebhookVerificationError {
  return new WebhookVerificationError(message, { code });
}
