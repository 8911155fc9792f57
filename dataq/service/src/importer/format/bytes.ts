import { createReadStream, type ReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";

/** The container format. It is detected from the first bytes, because file names are often wrong. */
export type Container = "gzip" | "zstd" | "zip" | "sqlite" | "plain";

export async function containerOf(path: string): Promise<Container> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(16), 0, 16, 0);
    if (buffer.readUInt16BE(0) === 0x1f8b) return "gzip";
    if (buffer.readUInt32LE(0) === 0xfd2fb528) return "zstd";
    if (buffer.readUInt32LE(0) === 0x04034b50) return "zip";
    return buffer.toString("latin1").startsWith("SQLite format 3") ? "sqlite" : "plain";
  } finally {
    await file.close();
  }
}

/**
 * The content of the file, decompressed. `onShare` receives the share of the file that was read, from 0 to 1.
 */
export async function* contentOf(
  path: string,
  container: Container,
  onShare: (share: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const { size } = await stat(path);
  const stream = createReadStream(path);
  for await (const chunk of inflated(stream, container)) {
    onShare(stream.bytesRead / size);
    yield chunk;
  }
}

function inflated(stream: ReadStream, container: Container): AsyncIterable<Uint8Array> {
  if (container !== "gzip" && container !== "zstd") return stream;
  const inflater = container === "gzip" ? createGunzip() : createZstdDecompress();
  // Whoever reads gets the error. A reader who stops early closes both, and an error after that has nobody to tell.
  return pipeline(stream, inflater, () => {});
}
