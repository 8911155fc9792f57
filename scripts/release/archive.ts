import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { gzip } from "libdeflate";
import { packTar } from "modern-tar";
import { ZipFile } from "yazl";
import { NotAvailable } from "./registry.ts";
import { foldersOf, sorted, type Tree } from "./tree.ts";

/**
 * The same tree and time give the same bytes: entries are sorted, belong to nobody of the machine that packs them, and
 * carry one time. gzip's header has no time and no name. libdeflate's best level takes half a minute where zlib's takes
 * ten seconds, and is smaller by a sixteenth; it is WebAssembly, so every machine gives the same bytes.
 */
export async function tarGz(tree: Tree, time: Date): Promise<Buffer> {
  return Buffer.from(gzip(await tar(tree, time), 12));
}

/**
 * The same, smaller by a quarter, for systems that have xz. It takes a minute and a half, beside what this process does
 * meanwhile, so it returns once xz has started. `packed` throws `NotAvailable` without xz. One thread, because more would
 * give other bytes.
 */
export async function tarXz(tree: Tree, time: Date): Promise<{ readonly packed: Promise<Buffer> }> {
  const folder = mkdtempSync(join(tmpdir(), "xz-"));
  const [from, to] = [join(folder, "tar"), join(folder, "xz")];
  writeFileSync(from, await tar(tree, time));
  const xz = spawn("xz", ["-6", "--threads=1", "--stdout"], {
    stdio: [openSync(from, "r"), openSync(to, "w"), "pipe"],
  });
  const said = text(xz.stderr!);
  const packed = once(xz, "close")
    .catch((error: Error) => {
      throw new NotAvailable(`xz cannot run (${error.message})`);
    })
    .then(async ([status]) => {
      if (status !== 0) throw new Error(`xz failed: ${await said}`);
      return readFileSync(to);
    })
    .finally(() => rmSync(folder, { recursive: true }));
  // Whoever waits for it hears of it.
  packed.catch(() => {});
  return { packed };
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
