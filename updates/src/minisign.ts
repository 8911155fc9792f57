import { createHash, createPublicKey, verify } from "node:crypto";
import { UpdateError } from "./update-error.ts";

/** A public key of minisign: Ed25519, with a number that signatures name. */
export interface PublicKey {
  /** 8 bytes. */
  readonly id: Buffer;
  /** 32 bytes. */
  readonly bytes: Buffer;
}

/** Reads the line `RW…`, or the file that `minisign -G` writes. Throws `UpdateError`. */
export function readPublicKey(text: string): PublicKey {
  const line = text.trim().split(/\r?\n/).at(-1) ?? "";
  const bytes = Buffer.from(line, "base64");
  if (bytes.length !== 42 || bytes.toString("latin1", 0, 2) !== "Ed")
    throw new UpdateError("the key is not a public key of minisign: it begins with RW and has 56 characters");
  return { id: bytes.subarray(2, 10), bytes: bytes.subarray(10) };
}

/** Of DER: an Ed25519 key follows. */
const prefix = Buffer.from("302a300506032b6570032100", "hex");

/**
 * Checks a file against the text of its `.minisig`. Returns the comment that is signed with it. Throws `UpdateError`.
 */
export function checkSignature(file: Buffer, signature: string, key: PublicKey): string {
  const [, first = "", comment = "", second = ""] = signature.split(/\r?\n/);
  const bytes = Buffer.from(first, "base64");
  const method = bytes.toString("latin1", 0, 2);
  const trusted = /^trusted comment: (.*)$/.exec(comment)?.[1];
  if (bytes.length !== 74 || !["Ed", "ED"].includes(method) || trusted === undefined)
    throw new UpdateError("the signature is not one of minisign");
  if (!bytes.subarray(2, 10).equals(key.id))
    throw new UpdateError("the release is signed by another key than the one that is set");
  const signed = method === "ED" ? createHash("blake2b512").update(file).digest() : file;
  const ofFile = bytes.subarray(10);
  const ofComment = Buffer.concat([ofFile, Buffer.from(trusted)]);
  const publicKey = createPublicKey({
    key: Buffer.concat([prefix, key.bytes]),
    format: "der",
    type: "spki",
  });
  if (
    !verify(null, signed, publicKey, ofFile) ||
    !verify(null, ofComment, publicKey, Buffer.from(second, "base64"))
  )
    throw new UpdateError("the signature of the release is wrong: somebody changed it, or it is cut");
  return trusted;
}
