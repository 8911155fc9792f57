import { generateKeyPairSync } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readPaymentSettings } from "./settings.ts";

const folder = mkdtempSync(join(tmpdir(), "dataq-payment-settings-"));
const own = generateKeyPairSync("rsa", { modulusLength: 2048 });
const alipays = generateKeyPairSync("rsa", { modulusLength: 2048 });
const curve = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pem = { format: "pem" } as const;
const bare = (pemText: string | Buffer) => String(pemText).replaceAll(/-----.*-----|\n/g, "");
const ownPkcs8 = own.privateKey.export({ ...pem, type: "pkcs8" });
const ownPkcs1 = own.privateKey.export({ ...pem, type: "pkcs1" });
const alipaysPublic = alipays.publicKey.export({ ...pem, type: "spki" });

beforeAll(() => {
  const files: Record<string, string | Buffer> = {
    "app.pem": ownPkcs8,
    "app-pkcs1.pem": ownPkcs1,
    "app-bare.txt": bare(ownPkcs8),
    "app-bare-pkcs1.txt": bare(ownPkcs1),
    "app-public.pem": own.publicKey.export({ ...pem, type: "spki" }),
    "app-locked.pem": own.privateKey.export({
      ...pem,
      type: "pkcs8",
      cipher: "aes-256-cbc",
      passphrase: "x",
    }),
    "app-curve.pem": curve.privateKey.export({ ...pem, type: "pkcs8" }),
    "alipay.pem": alipaysPublic,
    "alipay-bare.txt": bare(alipaysPublic),
    "curve-public.pem": curve.publicKey.export({ ...pem, type: "spki" }),
    "torn.pem": String(ownPkcs8).slice(0, 200),
    "words.txt": "the key is in the safe",
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  mkdirSync(join(folder, "keys"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const path = join(folder, "payments.json");
function reading(settings: unknown) {
  writeFileSync(path, typeof settings === "string" ? settings : JSON.stringify(settings));
  return readPaymentSettings(path);
}
const alipay = (change: object) => ({
  alipay: {
    ...{ app_id: "2021000000000001", private_key_file: "app.pem", alipay_public_key_file: "alipay.pem" },
    ...change,
  },
});
const stripe = (change: object) => ({
  stripe: { secret_key: "sk_test_1", webhook_secret: "whsec_1", ...change },
});

test.each(["app.pem", "app-pkcs1.pem", "app-bare.txt", "app-bare-pkcs1.txt"])(
  "the private key in %s is read",
  async (private_key_file) => {
    const read = await reading(alipay({ private_key_file, alipay_public_key_file: "alipay-bare.txt" }));
    expect(read.alipay!.privateKey.equals(own.privateKey)).toBe(true);
    expect(read.alipay!.alipayPublicKey.equals(alipays.publicKey)).toBe(true);
  },
);

test.each([
  ["private", "app-public.pem", "has a public key or a certificate. It must be an RSA private key: PEM"],
  ["private", "app-locked.pem", "has a private key with a password. Write it without: openssl pkey -in"],
  ["private", "app-curve.pem", "has a key of type ec. It must be an RSA private key: PEM (PKCS#8 or PKCS#1)"],
  ["private", "torn.pem", "has no private key that can be read. It must be an RSA private key"],
  ["private", "words.txt", "has no private key that can be read. It must be an RSA private key"],
  ["private", "none.pem", "does not exist. Paths count from the folder of payments.json."],
  ["private", "keys", "is a folder."],
  ["alipay_public", "app.pem", "has a private key. It must be the provider's RSA public key, not your own"],
  ["alipay_public", "app-pkcs1.pem", "has a private key. It must be the provider's RSA public key"],
  ["alipay_public", "curve-public.pem", "has a key of type ec. It must be the provider's RSA public key"],
  [
    "alipay_public",
    "words.txt",
    "has no public key that can be read. It must be the provider's RSA public key",
  ],
])("the %s key in %s is refused by its field, with what it must be", async (which, file, words) => {
  const field = `${which}_key_file`;
  const error: Error = await reading(alipay({ [field]: file })).then(
    () => expect.unreachable(),
    (refused) => refused,
  );
  expect(error.message).toContain(`${path}: alipay.${field}: ${join(folder, file)} ${words}`);
  // Neither OpenSSL's words nor a part of the key.
  expect(error.message).not.toMatch(/error:|DECODER|asn1|unsupported|MII|safe/i);
});

test.skipIf(process.getuid?.() === 0)("a key that may not be read is told so", async () => {
  const file = join(folder, "shut.pem");
  writeFileSync(file, ownPkcs8);
  chmodSync(file, 0);
  await expect(reading(alipay({ private_key_file: "shut.pem" }))).rejects.toThrow(
    "may not be read by the user",
  );
});

test.each([
  [stripe({ secret_key: undefined }), "stripe.secret_key: must be set"],
  [stripe({ secret_key: 7 }), "stripe.secret_key: must be a text in quotes"],
  [stripe({ secret_key: "pk_live_1" }), "stripe.secret_key: must begin with sk_live_, rk_live_ or sk_test_"],
  [stripe({ secert_key: "x" }), "stripe: does not know secert_key: correct the name, or remove it"],
  [stripe({ address: "api.stripe.com" }), "stripe.address: must be an address that begins with https://"],
  [alipay({ product: "app" }), "alipay.product: must be page or qr"],
  [alipay({ private_key_file: "" }), "alipay.private_key_file: must not be empty"],
  [{ bank: [] }, "bank: must be an object"],
  [{ offers_cny: 20 }, "offers_cny: must be a list"],
  [{ offers_cny: [] }, "offers_cny: must not be empty"],
  [{ least_cny: 0 }, "least_cny: must be more than 0"],
  [{ least_cny: 0.015 }, "least_cny: must be a multiple of 0.01"],
  [{ most_cny: 1e9 }, "most_cny: must be at most 100000000"],
  [{ freeze_on_chargeback: "no" }, "freeze_on_chargeback: must be true or false"],
  [{ seller: { name: "x", tax_number: "y", tax_rate: 0.5 } }, "seller.tax_rate: must be at most 0.13"],
  [
    { bank: { payee: "x".repeat(501), account: "1", bank: "b" } },
    "bank.payee: must be at most 500 characters",
  ],
  [[], "the file: must be an object"],
])("settings %j are refused by name", async (settings, message) => {
  await expect(reading(settings)).rejects.toThrow(`${path}: ${message}`);
});

test("a file that is not JSON is told without a part of it", async () => {
  const error: Error = await reading('{"stripe": {"secret_key": sk_live_secret}}').then(
    () => expect.unreachable(),
    (refused) => refused,
  );
  expect(error.message).toMatch(/payments\.json is not JSON.*: check its quotes, commas and braces\.$/);
  expect(error.message).not.toContain("sk_live");
});
