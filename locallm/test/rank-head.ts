import { readGguf } from "../src/library/gguf/header.ts";

interface Head {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Buffer;
}

/**
 * Adds a rank head to the bytes of an embedding model: its pooling becomes the head's, and F32 tensors are appended.
 * The head's numbers are random, so its scores mean nothing; but two engines must give the same ones.
 */
export async function withRankHead(path: string, bytes: Buffer, heads: readonly Head[]): Promise<Buffer> {
  const { metadata, tensors, dataOffset } = await readGguf(path);
  const key = `${String(metadata.get("general.architecture"))}.pooling_type`;
  const last = tensors.at(-1)!;
  // The table ends with the last tensor: its name, the number of dimensions, the lengths, the type and the offset.
  const end = bytes.lastIndexOf(last.name, dataOffset) + last.name.length + 4 + 8 * last.shape.length + 4 + 8;
  const head = Buffer.from(bytes.subarray(0, end));
  head.writeBigUInt64LE(BigInt(tensors.length + heads.length), 8);
  // The key's text is followed by its type, u32, and the value.
  head.writeUInt32LE(4, head.indexOf(key) + key.length + 4);
  let size = aligned(bytes.length - dataOffset);
  const infos: Buffer[] = [];
  for (const { name, shape, data } of heads) {
    infos.push(numbers(8, name.length), Buffer.from(name), numbers(4, shape.length));
    infos.push(numbers(8, ...shape), numbers(4, 0), numbers(8, size));
    size = aligned(size + data.length);
  }
  const table = Buffer.concat([head, ...infos]);
  return Buffer.concat([
    padded(table),
    padded(bytes.subarray(dataOffset)),
    ...heads.map(({ data }) => padded(data)),
  ]);
}

const alignment = 32;

function aligned(size: number): number {
  return Math.ceil(size / alignment) * alignment;
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(aligned(bytes.length) - bytes.length)]);
}

function numbers(size: 4 | 8, ...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(size * values.length);
  for (const [index, value] of values.entries()) {
    if (size === 4) bytes.writeUInt32LE(value, index * 4);
    else bytes.writeBigUInt64LE(BigInt(value), index * 8);
  }
  return bytes;
}
