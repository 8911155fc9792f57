import { createReadStream } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { CommandConfig } from "../config.ts";
import { Blobs, hashFile } from "../library/blob.ts";
import { splitFileNames } from "../sources/reference.ts";
import { modelsFolderHeader } from "../wire/api/library.ts";
import { LocallmError } from "../wire/errors.ts";
import type { Client } from "./client.ts";
import type { ProgressView } from "./progress.ts";

/**
 * The model files at a path from a Modelfile; null if there is no such file or folder. Rejects names that the server
 * would reject, before anything is sent.
 */
export async function modelFiles(path: string, folder: string): Promise<string[] | null> {
  const full = resolve(folder, path.replace(/^~(?=[\\/]|$)/, homedir()));
  const found = await stat(full).catch(() => null);
  if (found === null) return null;
  if (found.isFile()) return await splitFiles(requireGguf(full), path);
  if (!found.isDirectory()) throw unusable(path, "it is neither a file nor a folder");
  const inside: string[] = [];
  const root = await realpath(full);
  for (const name of (await readdir(full)).toSorted()) {
    if (!/\.(gguf|safetensors)$/i.test(name)) continue;
    const member = requireGguf(join(full, name));
    const target = await realpath(member).catch(() => "");
    if (!target.startsWith(root + sep)) throw unusable(name, "it is a symbolic link that leaves the folder");
    if ((await lstat(target)).isFile()) inside.push(member);
  }
  if (inside.length === 0) throw unusable(path, "the folder contains no .gguf file");
  return inside;
}

function requireGguf(path: string): string {
  if (!/\.safetensors$/i.test(path)) return path;
  throw new LocallmError("not_built_yet", {
    what: "safetensors",
    instead: "convert it to a GGUF file first",
  });
}

/** The file, or all parts if it is part of a split model. */
async function splitFiles(full: string, typed: string): Promise<string[]> {
  const names = splitFileNames(basename(full));
  if (names === null) throw unusable(typed, "the part numbers in its name are not consistent");
  const files = names.map((name) => join(dirname(full), name));
  for (const file of files) {
    const isThere = (await stat(file).catch(() => null))?.isFile() ?? false;
    if (!isThere) throw unusable(typed, `it is split, and ${basename(file)} is not in the same folder`);
  }
  return files;
}

export type Brought = { digest: string; how: "already there" | "reflink" | "hard link" | "copy" | "upload" };

/**
 * Gives a file to the server. If the server uses the same models folder as we do, puts the file there, without copying
 * its bytes if the file system supports that; otherwise uploads it and writes nothing locally.
 */
export async function bringFile(
  path: string,
  client: Client,
  config: CommandConfig,
  view: ProgressView,
): Promise<Brought> {
  const { size } = await stat(path);
  const report = (status: string) => (completed: number) =>
    view.show({ status, digest: `${status} ${path}`, total: size, completed });
  const digest = await hashFile(path, undefined, report(`reading ${basename(path)}`));
  const route = `/api/blobs/${digest}`;
  const { exists, headers } = await client.head(route);
  if (exists) return { digest, how: "already there" };
  const blobs = new Blobs(config.modelsFolder);
  const identity = await blobs.identity();
  if (identity !== null && headers[modelsFolderHeader] === identity) {
    const how = await blobs.importFile(await realpath(path), digest).catch(() => null);
    if (how !== null) return { digest, how };
  }
  const source = counted(createReadStream(path), report(`sending ${basename(path)}`));
  await client.done(route, { method: "POST", stream: { source, sizeBytes: size } });
  return { digest, how: "upload" };
}

async function* counted(source: AsyncIterable<Buffer>, onProgress: (bytes: number) => void) {
  let bytes = 0;
  for await (const chunk of source) {
    yield chunk;
    bytes += chunk.length;
    onProgress(bytes);
  }
}

/** A distinct name for each path. */
export function uploadNames(paths: readonly string[]): string[] {
  return paths.map((path, index) =>
    paths.findIndex((one) => basename(one) === basename(path)) === index
      ? basename(path)
      : `${index}-${basename(path)}`,
  );
}

function unusable(path: string, reason: string): LocallmError {
  return new LocallmError("file_unusable", { path, reason });
}
