import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";

/** Reads a private key of the operator. Throws an error that says what the file must be. */
export async function readPrivateKey(file: string): Promise<KeyObject> {
  const content = await contentOf(file);
  if (/-----BEGIN (CERTIFICATE|(RSA )?PUBLIC KEY)-----/.test(content))
    throw new Error(`${file} has a public key or a certificate. ${wanted.private}`);
  if (/ENCRYPTED/.test(content))
    throw new Error(
      `${file} has a private key with a password. Write it without: openssl pkey -in ${file} -out <new file>`,
    );
  return rsa(file, "private", () => {
    if (isPem(content)) return createPrivateKey(content);
    const der = derOf(content);
    try {
      return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    } catch {
      return createPrivateKey({ key: der, format: "der", type: "pkcs1" });
    }
  });
}

/** Reads a public key of a provider, or a certificate that contains one. Throws an error that says what the file must be. */
export async function readPublicKey(file: string): Promise<KeyObject> {
  const content = await contentOf(file);
  // The public key could be computed from it, but it would be the operator's own.
  if (/-----BEGIN (\w+ )?PRIVATE KEY-----/.test(content))
    throw new Error(`${file} has a private key. ${wanted.public}`);
  return rsa(file, "public", () =>
    isPem(content)
      ? createPublicKey(content)
      : createPublicKey({ key: derOf(content), format: "der", type: "spki" }),
  );
}

const wanted = {
  private: "It must be an RSA private key: PEM (PKCS#8 or PKCS#1), or the bare Base64 of Alipay's tools.",
  public:
    "It must be the provider's RSA public key, not your own: PEM, a certificate, or the bare Base64 that Alipay shows.",
} as const;

const troubles: Readonly<Record<string, string>> = {
  ENOENT: "does not exist. Paths count from the folder of payments.json",
  EACCES: "may not be read by the user that the service runs as. Change its owner or mode",
  EISDIR: "is a folder",
};

async function contentOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    const { code = "", message } = cause as NodeJS.ErrnoException;
    throw new Error(`${file} ${troubles[code] ?? `cannot be read: ${message}`}.`, { cause });
  }
}

function rsa(file: string, kind: keyof typeof wanted, make: () => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = make();
  } catch (cause) {
    throw new Error(`${file} has no ${kind} key that can be read. ${wanted[kind]}`, { cause });
  }
  if (key.asymmetricKeyType === "rsa") return key;
  throw new Error(`${file} has a key of type ${key.asymmetricKeyType}. ${wanted[kind]}`);
}

function isPem(content: string): boolean {
  return content.includes("-----");
}

/** Alipay's tools save keys as bare Base64, without the lines around it. */
function derOf(content: string): Buffer {
  return Buffer.from(content, "base64");
}
