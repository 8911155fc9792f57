import { createHmac } from "node:crypto";
import { signingKey } from "./secret.ts";

/**
 * The headers of a message as in Standard Webhooks (https://www.standardwebhooks.com): the signature covers id, time and
 * body, and there is one for each secret in force.
 */
export function signedHeaders(
  message: { readonly id: string; readonly body: string },
  secrets: readonly string[],
  now: Date,
): Record<string, string> {
  const timestamp = Math.floor(now.getTime() / 1000);
  const content = `${message.id}.${timestamp}.${message.body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac("sha256", signingKey(secret)).update(content).digest("base64")}`,
  );
  return {
    "webhook-id": message.id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}
