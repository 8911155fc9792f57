import { createHash, createPrivateKey, createPublicKey, randomBytes, sign } from "node:crypto";

/** A secret key of minisign without a password. */
export interface SecretKey {
  /** 8 bytes, which signatures and the public key name. */
  readonly id: Buffer;
  /** 32 bytes, of which Ed25519 makes both keys. */
  readonly seed: Buffer;
}

/** Of DER: an Ed25519 private key follows. */
const prefix = Buffer.from("302e020100300506032b657004220420", "hex");

/**
 * Reads what `minisign -G -W` writes, the whole file or its second line. A key with a password is refused: it would
 * need the password beside it, where the release is made.
 */
export function readSecretKey(text: string): SecretKey {
  const bytes = Buffer.from(text.trim().split(/\r?\n/).at(-1) ?? "", "base64");
  if (bytes.length !== 158 || bytes.toString("latin1", 0, 2) !== "Ed")
    throw new Error("RELEASE_SIGNING_KEY is no secret key of minisign. Make one with minisign -G -W.");
  if (bytes.readUInt16LE(2) !== 0)
    throw new Error("RELEASE_SIGNING_KEY has a password. Make one without: minisign -G -W.");
  const [id, seed, stored] = [bytes.subarray(54, 62), bytes.subarray(62, 94), bytes.subarray(94, 126)];
  if (!publicBytes(seed).equals(stored)) throw new Error("RELEASE_SIGNING_KEY is damaged.");
  return { id, seed };
}

/** A key for a test or a proof. Keys that sign for others are made by minisign. */
export function newSecretKey(): SecretKey {
  return { id: randomBytes(8), seed: randomBytes(32) };
}

/** The line that users set as the key of releases. */
export function publicKeyOf({ id, seed }: SecretKey): string {
  return Buffer.concat([Buffer.from("Ed"), id, publicBytes(seed)]).toString("base64");
}

/** The text of a `.minisig`, as `minisign -S` writes it: of the file's BLAKE2b digest, and of a comment. */
export function signatureOf(file: Buffer, { id, seed }: SecretKey, comment: string): string {
  const key = privateKey(seed);
  const ofFile = sign(null, createHash("blake2b512").update(file).digest(), key);
  const ofComment = sign(null, Buffer.concat([ofFile, Buffer.from(comment)]), key);
  return [
    "untrusted comment: signature of a release of locallm and dataq",
    Buffer.concat([Buffer.from("ED"), id, ofFile]).toString("base64"),
    `trusted comment: ${comment}`,
    ofComment.toString("base64"),
    "",
  ].join("\n");
}

function privateKey(seed: Buffer) {
  return createPrivateKey({ key: Buffer.concat([prefix, seed]), format: "der", type: "pkcs8" });
}

function publicBytes(seed: Buffer): Buffer {
  return createPublicKey(privateKey(seed)).export({ format: "der", type: "spki" }).subarray(-32);
}
