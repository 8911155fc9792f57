import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const PREFIX = "whsec_";

/** The secret of a webhook as its owner sees it, in the form of Standard Webhooks. */
export function makeSecret(): string {
  return PREFIX + randomBytes(32).toString("base64");
}

/** The decoded signing key. HMAC-SHA256 uses these bytes, not the text. */
export function signingKey(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), "base64");
}

/**
 * Encrypts secrets for the database, because the service must sign with them and a copy of the database must not. The
 * key is derived from the service's secret (DATAQ_SECRET or the file `secret`), which is not in the database. A sealed
 * secret belongs to its webhook: in another row it cannot be opened.
 */
export class SecretBox {
  readonly #key: Buffer;

  constructor(serviceSecret: string) {
    this.#key = Buffer.from(hkdfSync("sha256", serviceSecret, "", "dataq webhook secrets", 32));
  }

  seal(secret: string, webhookId: string): Buffer {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce).setAAD(Buffer.from(webhookId));
    const sealed = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  open(sealed: Buffer, webhookId: string): string {
    const decipher = createDecipheriv("aes-256-gcm", this.#key, sealed.subarray(0, 12))
      .setAAD(Buffer.from(webhookId))
      .setAuthTag(sealed.subarray(12, 28));
    return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString("utf8");
  }
}
