import { createDecipheriv, type KeyObject, randomBytes, sign, verify } from "node:crypto";
import type { WechatSettings } from "../settings.ts";

/** Signatures and texts of WeChat Pay may be this old. */
const TOLERANCE_S = 300;

/** The header Authorization of a request (https://pay.weixin.qq.com/doc/v3/merchant/4012365342). */
export function authorizationOf(
  request: { readonly method: string; readonly path: string; readonly body: string },
  { merchant_id, certificate_serial, privateKey }: WechatSettings,
  now: Date,
): string {
  const time = Math.floor(now.getTime() / 1000);
  const nonce = randomBytes(16).toString("hex");
  const text = `${request.method}\n${request.path}\n${time}\n${nonce}\n${request.body}\n`;
  const signature = sign("sha256", Buffer.from(text), privateKey).toString("base64");
  return `WECHATPAY2-SHA256-RSA2048 mchid="${merchant_id}",nonce_str="${nonce}",signature="${signature}",timestamp="${time}",serial_no="${certificate_serial}"`;
}

type Fault = readonly [en: string, zh: string];

/**
 * What is wrong with the signature of an answer or a notification, over its time, nonce and body; undefined if nothing
 * is. `header` gets a header by its name.
 */
export function faultOfSignature(
  header: (name: string) => string,
  body: string,
  keys: ReadonlyMap<string, KeyObject>,
  now: Date,
): Fault | undefined {
  const [time, nonce, serial, signature] = ["timestamp", "nonce", "serial", "signature"].map((name) =>
    header(`wechatpay-${name}`),
  ) as [string, string, string, string];
  const key = keys.get(serial);
  if (key === undefined) {
    const name = serial.slice(0, 80);
    return [
      `platform_keys has no key ${name || "without a name"}`,
      `platform_keys 中没有密钥 ${name || "（未写名称）"}`,
    ];
  }
  const text = Buffer.from(`${time}\n${nonce}\n${body}\n`);
  if (!verify("sha256", text, key, Buffer.from(signature, "base64")))
    return ["its signature is wrong", "签名不对"];
  if (!/^\d{1,12}$/.test(time) || Math.abs(now.getTime() / 1000 - Number(time)) > TOLERANCE_S)
    return ["it was signed more than five minutes ago, or in the future", "签名时间早于五分钟前，或在将来"];
  return undefined;
}

/** A part of a notification that is encrypted with AEAD_AES_256_GCM; the last 16 bytes are the tag. */
export interface Sealed {
  readonly algorithm: string;
  readonly ciphertext: string;
  readonly associated_data?: string;
  readonly nonce: string;
}

/** Decrypts a part of a notification. Throws if it was changed or the key is another one. */
export function open({ algorithm, ciphertext, associated_data, nonce }: Sealed, key: string): string {
  if (algorithm !== "AEAD_AES_256_GCM") throw new Error(`the algorithm ${algorithm} is unknown`);
  const bytes = Buffer.from(ciphertext, "base64");
  if (bytes.length < 16) throw new Error("it is too short");
  const decipher = createDecipheriv("aes-256-gcm", Buffer.from(key), Buffer.from(nonce), {
    authTagLength: 16,
  });
  decipher.setAuthTag(bytes.subarray(-16));
  decipher.setAAD(Buffer.from(associated_data ?? ""));
  return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString();
}
