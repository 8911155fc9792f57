import { buffer } from "node:stream/consumers";
import yauzl from "yauzl";

const largestBytes = 4 * 2 ** 20;

/** The licence that a wheel's own description names; null if it names none, or is no wheel that can be read. */
export async function licenceOfWheel(path: string): Promise<string | null> {
  const description = await descriptionIn(path).catch(() => "");
  const [fields = ""] = description.split(/\r?\n\r?\n/, 1);
  const [, expression] = /^License-Expression:[ \t]*(.+)$/im.exec(fields) ?? [];
  const [, licence] = /^License:[ \t]*(.+)$/im.exec(fields) ?? [];
  return (expression ?? licence)?.trim() || null;
}

async function descriptionIn(path: string): Promise<string> {
  const zip = await yauzl.openPromise(path);
  try {
    for await (const entry of zip.eachEntry())
      if (/^[^/]+\.dist-info\/METADATA$/.test(entry.fileName) && entry.uncompressedSize <= largestBytes)
        return (await buffer(await zip.openReadStreamPromise(entry))).toString();
    return "";
  } finally {
    zip.close();
  }
}
