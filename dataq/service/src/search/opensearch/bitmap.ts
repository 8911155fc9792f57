import type { BitSet } from "../snapshots/bitset.ts";

/**
 * The numbers of a bit set as a Roaring bitmap in base64, which a `terms` query takes: a few bytes for each number, and
 * never more than a bit for each document. Format: https://github.com/RoaringBitmap/RoaringFormatSpec
 */
export function bitmapOf({ bytes }: BitSet): string {
  const containers: { key: number; count: number; content: Buffer }[] = [];
  for (let from = 0; from < bytes.length; from += containerBytes) {
    const part = bytes.subarray(from, from + containerBytes);
    const numbers: number[] = [];
    for (let at = 0; at < part.length; at++)
      for (let bit = 0; bit < 8; bit++) if ((part[at] as number) & (1 << bit)) numbers.push(8 * at + bit);
    if (numbers.length === 0) continue;
    containers.push({
      key: from / containerBytes,
      count: numbers.length,
      content: numbers.length <= mostInArray ? Buffer.from(Uint16Array.from(numbers).buffer) : whole(part),
    });
  }
  const head = Buffer.alloc(8 + 8 * containers.length);
  head.writeUInt32LE(cookie, 0);
  head.writeUInt32LE(containers.length, 4);
  let offset = head.length;
  for (const [place, { key, count, content }] of containers.entries()) {
    head.writeUInt16LE(key, 8 + 4 * place);
    head.writeUInt16LE(count - 1, 10 + 4 * place);
    head.writeUInt32LE(offset, 8 + 4 * containers.length + 4 * place);
    offset += content.length;
  }
  return Buffer.concat([head, ...containers.map(({ content }) => content)]).toString("base64");
}

/** A bitmap without run containers. */
const cookie = 12_346;
/** A container has the bits of 65,536 numbers. */
const containerBytes = 8_192;
const mostInArray = 4_096;

function whole(part: Uint8Array): Buffer {
  const content = Buffer.alloc(containerBytes);
  content.set(part);
  return content;
}
