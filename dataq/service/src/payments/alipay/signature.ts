import { type KeyObject, sign, verify } from "node:crypto";

/** Parameters in the order in which Alipay signs them: by name, without empty ones and without the signature. */
function signedText(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .filter(([name, value]) => value !== "" && name !== "sign")
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** RSA2 is RSASSA-PKCS1-v1_5 with SHA-256, in Base64. */
export function signParameters(parameters: Readonly<Record<string, string>>, key: KeyObject): string {
  return sign("sha256", Buffer.from(signedText(parameters)), key).toString("base64");
}

/** Whether Alipay signed a notification. Its `sign_type` is not part of what is signed, unlike in a request. */
export function isSignedNotification(parameters: Readonly<Record<string, string>>, key: KeyObject): boolean {
  const { sign_type, ...signed } = parameters;
  if (sign_type !== "RSA2") return false;
  return isSigned(signedText(signed), parameters["sign"] ?? "", key);
}

/** Whether Alipay signed this text, which is a part of an answer as it was received. */
export function isSigned(text: string, signature: string, key: KeyObject): boolean {
  return verify("sha256", Buffer.from(text), key, Buffer.from(signature, "base64"));
}
