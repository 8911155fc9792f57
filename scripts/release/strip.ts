/**
 * An ELF program without what follows the parts that the system loads: names and lines for debuggers. Of Node for Linux
 * that is 18 MB. Other files are returned as they are.
 */
export function stripped(bytes: Buffer): Buffer {
  const isElf64 =
    bytes.length > 64 && bytes.readUInt32BE(0) === 0x7f454c46 && bytes[4] === 2 && bytes[5] === 1;
  if (!isElf64) return bytes;
  const table = Number(bytes.readBigUInt64LE(32));
  const [size, count] = [bytes.readUInt16LE(54), bytes.readUInt16LE(56)];
  let end = table + size * count;
  for (let at = table; at < table + size * count; at += size) {
    const [offset, length] = [bytes.readBigUInt64LE(at + 8), bytes.readBigUInt64LE(at + 32)];
    end = Math.max(end, Number(offset + length));
  }
  const short = Buffer.from(bytes.subarray(0, end));
  // There is no table of sections any more: its place, the number of its entries, and the entry with their names.
  short.writeBigUInt64LE(0n, 40);
  short.writeUInt32LE(0, 60);
  return short;
}
