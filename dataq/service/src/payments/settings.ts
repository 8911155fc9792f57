import type { KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { readPrivateKey, readPublicKey } from "./key-file.ts";

const text = z.string().trim().min(1).max(500);
const yuan = z.number().positive().max(1e8).multipleOf(0.01);
/** Another address of the provider, such as its sandbox. Plain http only on this machine, for tests. */
const address = z
  .url()
  .refine((url) => /^https:\/\/|^http:\/\/127\.0\.0\.1:\d+/.test(url), { error: "must begin with https://" })
  .transform((url) => url.replace(/\/+$/, ""));

const stripe = z.strictObject({
  secret_key: text.regex(/^(sk|rk)_(test|live)_\w+$/, {
    error: "must begin with sk_live_, rk_live_ or sk_test_",
  }),
  webhook_secret: text.regex(/^whsec_/, { error: "must begin with whsec_" }),
  address: address.default("https://api.stripe.com"),
});
const alipay = z.strictObject({
  app_id: text.regex(/^\d{10,32}$/, { error: "must be digits" }),
  /** A file with the private key of the app. */
  private_key_file: text,
  /** A file with Alipay's public key for the app, which is not the app's own. */
  alipay_public_key_file: text,
  /** `page`: a page of Alipay; `qr`: a QR code in the console. Each is a product of its own at Alipay. */
  product: z.enum(["page", "qr"]).default("page"),
  address: address.default("https://openapi.alipay.com/gateway.do"),
});
const wechat = z.strictObject({
  merchant_id: text.regex(/^\d{6,32}$/, { error: "must be digits" }),
  app_id: text,
  certificate_serial: text.regex(/^[0-9A-Fa-f]{8,64}$/, { error: "must be hexadecimal digits" }),
  private_key_file: text,
  api_v3_key: text.refine((key) => Buffer.byteLength(key) === 32, { error: "must be 32 bytes" }),
  /** The keys that WeChat Pay signs with: the ID of a public key or the serial of a certificate, and its file. */
  platform_keys: z
    .record(text, text)
    .refine((keys) => Object.keys(keys).length > 0, { error: "must not be empty" }),
  address: address.default("https://api.mch.weixin.qq.com"),
});
const bank = z.strictObject({ payee: text, account: text, bank: text });

/** The operator's company, for receipts and invoices. */
const seller = z.strictObject({
  name: text,
  tax_number: text,
  /** What invoices name, with the code and the rate of the tax office. */
  item: text.default("*信息技术服务*数据查询服务"),
  tax_code: text.regex(/^\d{19}$/, { error: "must be 19 digits" }).default("3040203000000000000"),
  tax_rate: z.number().min(0).max(0.13).default(0.06),
});

const settingsFile = z.strictObject({
  offers_cny: z.array(yuan).min(1).max(12).default([20, 100, 500, 2_000]),
  least_cny: yuan.default(1),
  most_cny: yuan.default(50_000),
  /** Stops spending when a bank takes a payment back. */
  freeze_on_chargeback: z.boolean().default(true),
  seller: seller.optional(),
  stripe: stripe.optional(),
  alipay: alipay.optional(),
  wechat: wechat.optional(),
  bank: bank.optional(),
});

export type StripeSettings = z.infer<typeof stripe>;
export type Seller = z.infer<typeof seller>;
export type BankSettings = z.infer<typeof bank>;
export interface AlipaySettings extends z.infer<typeof alipay> {
  readonly privateKey: KeyObject;
  readonly alipayPublicKey: KeyObject;
}
export interface WechatSettings extends z.infer<typeof wechat> {
  readonly privateKey: KeyObject;
  readonly platformKeys: ReadonlyMap<string, KeyObject>;
}

export interface PaymentSettings extends Omit<z.infer<typeof settingsFile>, "alipay" | "wechat"> {
  readonly alipay?: AlipaySettings;
  readonly wechat?: WechatSettings;
  /** What must never be in a log. */
  readonly secrets: readonly string[];
}

/** Reads payments.json. Without the file no way to pay is on. Throws an error that names the field and what to write. */
export async function readPaymentSettings(path: string): Promise<PaymentSettings> {
  let json: unknown = {};
  try {
    json = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    // The parser's own words can contain a part of the file, which has secrets.
    if (error instanceof SyntaxError)
      throw new Error(`${path} is not JSON${placeIn(error)}: check its quotes, commas and braces.`);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const read = settingsFile.safeParse(json, { error: remedyOf });
  if (!read.success) {
    const { path: place, message } = read.error.issues[0]!;
    throw new Error(`${path}: ${place.join(".") || "the file"}: ${message}`);
  }
  const { alipay: ofAlipay, wechat: ofWechat, ...rest } = read.data;
  const key = async (name: string, field: string, readKey: (file: string) => Promise<KeyObject>) => {
    try {
      return await readKey(resolve(dirname(path), name));
    } catch (cause) {
      throw new Error(`${path}: ${field}: ${(cause as Error).message}`, { cause });
    }
  };
  return {
    ...rest,
    ...(ofAlipay && {
      alipay: {
        ...ofAlipay,
        privateKey: await key(ofAlipay.private_key_file, "alipay.private_key_file", readPrivateKey),
        alipayPublicKey: await key(
          ofAlipay.alipay_public_key_file,
          "alipay.alipay_public_key_file",
          readPublicKey,
        ),
      },
    }),
    ...(ofWechat && {
      wechat: {
        ...ofWechat,
        privateKey: await key(ofWechat.private_key_file, "wechat.private_key_file", readPrivateKey),
        platformKeys: new Map(
          await Promise.all(
            Object.entries(ofWechat.platform_keys).map(
              async ([id, name]) =>
                [id, await key(name, `wechat.platform_keys.${id}`, readPublicKey)] as const,
            ),
          ),
        ),
      },
    }),
    secrets: [rest.stripe?.secret_key, rest.stripe?.webhook_secret, ofWechat?.api_v3_key].flatMap(
      (secret) => secret ?? [],
    ),
  };
}

const kinds: Readonly<Record<string, string>> = {
  string: "a text in quotes",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** What to write instead of a value that does not fit, where the schema says nothing of its own. */
function remedyOf(issue: z.core.$ZodRawIssue): string | undefined {
  const size = (value: number | bigint) =>
    issue["origin"] === "string" ? `${value} characters` : `${value}`;
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "must be set";
      return `must be ${kinds[issue.expected] ?? issue.expected}`;
    case "unrecognized_keys":
      return `does not know ${issue.keys.join(", ")}: correct the name, or remove it`;
    case "invalid_value":
      return `must be ${issue.values.join(" or ")}`;
    case "too_small":
      if (issue.origin === "string" || issue.origin === "array") return "must not be empty";
      return issue.inclusive === false
        ? `must be more than ${issue.minimum}`
        : `must be at least ${issue.minimum}`;
    case "too_big":
      return issue.origin === "array"
        ? `must have at most ${issue.maximum} entries`
        : `must be at most ${size(issue.maximum)}`;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_format":
      return issue.format === "url" ? "must be an address that begins with https://" : undefined;
    default:
      return undefined;
  }
}

function placeIn({ message }: SyntaxError): string {
  const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? [];
  return line === undefined ? "" : ` (line ${line}, column ${column})`;
}
