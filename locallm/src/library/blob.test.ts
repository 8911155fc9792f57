import { existsSync, statSync } from "node:fs";
import { link, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Blobs } from "./blob.ts";
import { digestOf } from "./digest.ts";

const content = Buffer.from("weights");
const digest = digestOf(content);
/** A place on another disk than temporary files, which are in memory in most runs. */
const elsewhere = ["/dev/shm", "/var/tmp"].find(
  (place) => existsSync(place) && statSync(place).dev !== statSync(tmpdir()).dev,
);
let folders: string[] = [];
let blobs: Blobs;

async function newFolder(parent = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(parent, "locallm-blob-"));
  folders.push(folder);
  return folder;
}

beforeEach(async () => {
  blobs = new Blobs(await newFolder());
});
afterEach(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
  folders = [];
});

describe("importing a file", () => {
  test("on the same disk copies no bytes and returns the method", async () => {
    const path = join(await newFolder(), "a.gguf");
    await writeFile(path, content);
    const method = await blobs.importFile(path, digest);
    const isSameFile = (await stat(path)).ino === (await stat(blobs.path(digest))).ino;
    // The result depends on the file system: btrfs and XFS can share blocks, ext4 and tmpfs support only hard
    // links.
    expect([method, isSameFile]).toEqual(isSameFile ? ["hard link", true] : ["reflink", false]);
    expect(await readFile(blobs.path(digest))).toEqual(content);
    expect(await readdir(blobs.partialFolder)).toEqual([]);
  });

  test.skipIf(elsewhere === undefined)("on another disk copies it (needs /dev/shm or /var/tmp)", async () => {
    const path = join(await newFolder(elsewhere), "a.gguf");
    await writeFile(path, content);
    await expect(link(path, join(await newFolder(), "a.gguf"))).rejects.toThrow("EXDEV");
    expect(await blobs.importFile(path, digest)).toBe("copy");
    await writeFile(path, "something else");
    expect(await readFile(blobs.path(digest))).toEqual(content);
  });
});
