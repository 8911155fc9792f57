import { ImportError } from "../import-error.ts";

export type Encoding = "UTF-8" | "GB18030" | "UTF-16LE" | "UTF-16BE";

/**
 * The text of a file as UTF-8 bytes, whatever its encoding. Pure ASCII counts as UTF-8; the first other characters
 * decide. If they fit no encoding used for Chinese, this throws, or leaves the bad lines to the line reader, which
 * rejects them one by one.
 */
export async function* utf8Of(
  chunks: AsyncIterable<Uint8Array>,
  {
    onEncoding = () => {},
    unknown = "refuse",
  }: { readonly onEncoding?: (encoding: Encoding) => void; readonly unknown?: "refuse" | "keep" } = {},
): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  const waiting: Uint8Array[] = [];
  let size = 0;
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let isDecided = false;
  const decide = () => {
    const sample = Buffer.concat(waiting.splice(0));
    size = 0;
    const encoding = encodingOf(sample) ?? (unknown === "keep" ? "UTF-8" : undefined);
    if (encoding === undefined) throw new ImportError("unknown_encoding");
    onEncoding(encoding);
    isDecided = true;
    if (encoding !== "UTF-8") decoder = new TextDecoder(encoding.toLowerCase());
    return sample;
  };
  const out = (bytes: Uint8Array) =>
    decoder === undefined ? bytes : Buffer.from(decoder.decode(bytes, { stream: true }));
  let isFirst = true;
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    const chunk = next.value;
    if (isDecided) yield out(chunk);
    else if (
      waiting.length === 0 &&
      !(isFirst && wideEncodingOf(chunk) !== undefined) &&
      chunk.every((byte) => byte < 0x80)
    )
      yield chunk;
    else {
      // Copied, because a stream may reuse its buffer.
      waiting.push(Uint8Array.from(chunk));
      size += chunk.length;
      if (size >= sampleBytes) yield out(decide());
    }
    isFirst = false;
  }
  if (waiting.length > 0) yield out(decide());
  if (decoder !== undefined) yield Buffer.from(decoder.decode());
}

const sampleBytes = 256 << 10;

/** A text with a UTF-16 byte order mark. */
export function wideEncodingOf(bytes: Uint8Array): "UTF-16LE" | "UTF-16BE" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "UTF-16LE";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "UTF-16BE" : undefined;
}

function encodingOf(sample: Uint8Array): Encoding | undefined {
  const wide = wideEncodingOf(sample);
  if (wide !== undefined) return wide;
  if (isText("utf-8", sample)) return "UTF-8";
  if (isText("gb18030", sample) && commonShare(sample) >= leastCommonShare) return "GB18030";
  // In a UTF-8 file, a bad line is rejected by itself.
  return wellFormedShare(sample) >= leastCommonShare ? "UTF-8" : undefined;
}

function isText(encoding: string, sample: Uint8Array): boolean {
  try {
    // The last character may be incomplete.
    new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * The share of two-byte characters that are in the first level of GB 2312 (3,755 characters) or its punctuation and
 * letters. In Chinese text nearly all are; in Big5 or Latin-1 read as GB 18030 few are.
 */
function commonShare(bytes: Uint8Array): number {
  let all = 0;
  let common = 0;
  for (let at = 0; at + 1 < bytes.length; at++) {
    const lead = bytes[at] as number;
    if (lead < 0x81) continue;
    const trail = bytes[++at] as number;
    all++;
    const isCommonLead = (lead >= 0xb0 && lead <= 0xd7) || (lead >= 0xa1 && lead <= 0xa3);
    if (isCommonLead && trail >= 0xa1) common++;
  }
  return all === 0 ? 0 : common / all;
}

const leastCommonShare = 0.75;

/** The share of bytes beyond ASCII that are part of well-formed UTF-8. */
function wellFormedShare(bytes: Uint8Array): number {
  let bad = 0;
  let all = 0;
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at] as number;
    if (lead < 0x80) continue;
    const length = lead >= 0xf0 && lead < 0xf5 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
    const follows = bytes.subarray(at + 1, at + length);
    all++;
    if (length > 1 && lead < 0xf5 && follows.every((byte) => byte >> 6 === 2)) at += length - 1;
    else bad++;
  }
  return all === 0 ? 1 : 1 - bad / all;
}
