import { chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findOwner } from "./owner.ts";

it.skipIf(process.getuid?.() !== 0)("root uses an existing database as its owner (needs root)", () => {
  const folder = mkdtempSync(join(tmpdir(), "owner-"));
  try {
    const cluster = join(folder, "postgres", "cluster");
    mkdirSync(cluster, { recursive: true });
    chownSync(cluster, 4711, 4712);
    expect(findOwner(folder, () => {})).toEqual({ ids: { uid: 4711, gid: 4712 } });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
