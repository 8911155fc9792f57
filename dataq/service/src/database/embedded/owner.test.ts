import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { canReach, findOwner, modesAllow } from "./owner.ts";

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

it.skipIf(process.getuid?.() !== 0)("the modes of all folders decide who reaches a path (needs root)", () => {
  const top = mkdtempSync(join(tmpdir(), "owner-"));
  try {
    const [middle, home] = [join(top, "middle"), join(top, "middle", "home")];
    mkdirSync(home, { recursive: true });
    chownSync(middle, 4711, 4712);
    for (const [modes, ids] of [
      [
        [0o711, 0o711, 0o711],
        [
          [4711, 4712, true],
          [5000, 4712, true],
          [5000, 5000, true],
        ],
      ],
      [
        [0o711, 0o700, 0o711],
        [
          [4711, 5000, true],
          [5000, 4712, false],
          [5000, 5000, false],
        ],
      ],
      [
        [0o711, 0o617, 0o711],
        [
          [4711, 4712, false],
          [5000, 4712, true],
          [5000, 5000, true],
        ],
      ],
      [
        [0o711, 0o701, 0o711],
        [
          [4711, 4712, true],
          [5000, 4712, false],
          [5000, 5000, true],
        ],
      ],
      [
        [0o700, 0o777, 0o777],
        [
          [4711, 4712, false],
          [5000, 5000, false],
        ],
      ],
      [
        [0o777, 0o777, 0o766],
        [
          [4711, 4712, false],
          [5000, 5000, false],
        ],
      ],
    ] as const) {
      for (const [index, path] of [top, middle, home].entries()) chmodSync(path, modes[index]!);
      for (const [uid, gid, reaches] of ids) {
        const owner = { ids: { uid, gid } };
        const shown = `${modes.map((mode) => mode.toString(8))} ${uid}:${gid}`;
        expect([shown, modesAllow(owner, home), canReach(owner, home)]).toEqual([shown, reaches, reaches]);
      }
    }
  } finally {
    rmSync(top, { recursive: true });
  }
});
