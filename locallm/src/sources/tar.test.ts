import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tarMembers } from "./tar.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tar-"));
});
afterAll(() => rm(folder, { recursive: true }));

const files: Record<string, string> = {
  "package/a.txt": "first",
  [`package/${"long-name/".repeat(20)}b.txt`]: "x".repeat(1500),
  "package/é.txt": "",
  "package/c.txt": "last",
};

async function archive(format: string): Promise<Buffer> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  const path = join(folder, `${format}.tar`);
  execFileSync("tar", ["-cf", path, `--format=${format}`, "-C", folder, ...Object.keys(files)]);
  return await readFile(path);
}

/** Splits the bytes into pieces of that size, so that boundaries fall at every position. */
async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(bytes: Buffer, size: number, skip = false): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name, content } of tarMembers(pieces(bytes, size))) {
    const chunks: Buffer[] = [];
    if (!skip) for await (const chunk of content) chunks.push(chunk);
    found[name] = Buffer.concat(chunks).toString();
  }
  return found;
}

describe.each(["gnu", "pax"])("an archive in the format %s", (format) => {
  test("yields its files, including long names, for any chunk size", async () => {
    const bytes = await archive(format);
    for (const size of [7, 512, 65_536]) expect(await read(bytes, size)).toEqual(files);
    expect(Object.keys(await read(bytes, 100, true))).toEqual(Object.keys(files));
  });

  test("is rejected if it is truncated or damaged", async () => {
    const bytes = await archive(format);
    for (const length of [1, 100, 513, 1024, 3000]) {
      await expect(read(bytes.subarray(0, length), 512)).rejects.toMatchObject({ code: "source_failed" });
    }
    for (const at of [0, 130, 150]) {
      const broken = Buffer.from(bytes);
      broken[at] = (broken[at] ?? 0) ^ 0x55;
      await expect(read(broken, 512)).rejects.toMatchObject({ code: "source_failed" });
    }
  });
});

test("rejects an excessively long name before reading it", async () => {
  const header = Buffer.alloc(512);
  header.write("x", 0);
  header.write("77777777777\0", 124, "latin1");
  header.write("L", 156);
  let sum = 8 * 32;
  for (const byte of header) sum += byte;
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  await expect(read(header, 512)).rejects.toMatchObject({ code: "source_failed" });
});
