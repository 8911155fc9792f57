import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import yauzl from "yauzl";
import { ImportError } from "../import-error.ts";

/** Extracts the first file that `wanted` accepts to `target`. Returns its name, or undefined. */
export async function extractFromZip(
  path: string,
  wanted: (name: string) => boolean,
  target: string,
): Promise<string | undefined> {
  const zip = await yauzl.openPromise(path);
  try {
    for await (const entry of zip.eachEntry()) {
      if (!wanted(entry.fileName)) continue;
      if (entry.uncompressedSize > largestBytes) {
        throw new ImportError("too_large_unpacked", { file: entry.fileName, bytes: entry.uncompressedSize });
      }
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target));
      return entry.fileName;
    }
    return undefined;
  } finally {
    zip.close();
  }
}

const largestBytes = 8 * 2 ** 30;
