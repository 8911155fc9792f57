import { spawnSync } from "node:child_process";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { ZipFile } from "yazl";
import { NotAvailable } from "./registry.ts";
import { foldersOf, sorted, type Tree } from "./tree.ts";

/**
 * The same tree and time give the same bytes: entries are sorted, belong to nobody of the machine that packs them, and
 * carry one time. gzip's header has no time and no name.
 */
export async function tarGz(tree: Tree, time: Date): Promise<Buffer> {
  return gzipSync(await tar(tree, time), { level: 9 });
}

/**
 * The same, smaller by a third, for systems that have xz. One thread, because more would give other bytes. Throws
 * `NotAvailable` without xz.
 */
export async function tarXz(tree: Tree, time: Date): Promise<Buffer> {
  const input = await tar(tree, time);
  const xz = spawnSync("xz", ["-6", "--threads=1", "--stdout"], { input, maxBuffer: 2 ** 30 });
  if (xz.error !== undefined) throw new NotAvailable(`xz cannot run (${xz.error.message})`);
  if (xz.status !== 0) throw new Error(`xz failed: ${xz.stderr}`);
  return xz.stdout;
}

async function tar(tree: Tree, time: Date): Promise<Uint8Array> {
  const owner = { mtime: time, uid: 0, gid: 0, uname: "root", gname: "root" };
  const folders = foldersOf(tree.keys()).map((name) => ({
    header: { ...owner, name: `${name}/`, type: "directory", mode: 0o755, size: 0 } as const,
  }));
  const files = sorted(tree).map(([name, entry]) =>
    "link" in entry
      ? {
          header: { ...owner, name, type: "symlink", mode: 0o777, size: 0, linkname: entry.link } as const,
        }
      : {
          header: { ...owner, name, mode: entry.isProgram ? 0o755 : 0o644, size: entry.bytes.length },
          body: entry.bytes,
        },
  );
  return await packTar([...folders, ...files]);
}

/** Windows makes no links, so a tree with links cannot be zipped. */
export async function zip(tree: Tree, time: Date): Promise<Buffer> {
  const file = new ZipFile();
  for (const [name, entry] of sorted(tree)) {
    if ("link" in entry) throw new Error(`${name} is a link, which a zip for Windows cannot hold.`);
    file.addBuffer(entry.bytes, name, {
      mtime: asLocal(time),
      mode: entry.isProgram ? 0o100755 : 0o100644,
      forceDosTimestamp: true,
      compressionLevel: 9,
    });
  }
  file.end();
  return await buffer(file.outputStream);
}

/** A zip stores a time without its zone, and yazl takes that of this machine. */
function asLocal(time: Date): Date {
  return new Date(
    time.getUTCFullYear(),
    time.getUTCMonth(),
    time.getUTCDate(),
    time.getUTCHours(),
    time.getUTCMinutes(),
    time.getUTCSeconds(),
  );
}
