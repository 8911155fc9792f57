import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { readRows } from "./read-rows.ts";

const folder = mkdtempSync(join(tmpdir(), "dataq-bytes-"));
afterAll(() => rmSync(folder, { recursive: true }));

test.skipIf(process.platform !== "linux").each([
  ["gzip", gzipSync],
  ["zstd", zstdCompressSync],
] as const)("a reader of %s who stops early leaves no file open", async (name, compress) => {
  const path = join(folder, name);
  // More than is read ahead.
  const rows = Array.from({ length: 20_000 }, () => JSON.stringify({ a: randomBytes(30).toString("hex") }));
  writeFileSync(path, compress(Buffer.from(rows.join("\n"))));
  for (let count = 0; count < 3; count += 1) for await (const _ of readRows(path)) break;
  await expect.poll(() => openFiles().filter((each) => each === path)).toEqual([]);
});

function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return [];
    }
  });
}
