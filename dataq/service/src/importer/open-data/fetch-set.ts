import { access } from "node:fs/promises";
import { join } from "node:path";
import { chinaDate } from "@dataq/contract";
import { ImportError } from "../import-error.ts";
import { say } from "../message.ts";
import { digestOf, download } from "../origin/download.ts";
import type { FetchOptions, LocalFile } from "../origin/local-file.ts";
import {
  type AddressSet,
  type FileSet,
  findSet,
  isOfAddress,
  isOfFiles,
  type OpenSetFile,
  publishersOf,
} from "./sets.ts";

/** How runs name a file of the catalogue: `data:<set>/<file>`. A refresh finds it again by this name. */
export function originOf(set: FileSet, file: OpenSetFile): string {
  return `data:${set.name}/${file.name}`;
}

/**
 * A file of the catalogue from the mirror. What has another digest than the catalogue states is never read. A download that
 * was cut off continues, and a file that is here already is not fetched again.
 */
export async function fetchSetFile(origin: string, options: FetchOptions): Promise<LocalFile> {
  const [name = "", fileName] = origin.slice("data:".length).split("/");
  const set = findSet(name);
  if (isOfAddress(set)) return fetchAddressSet(set, options);
  const file = isOfFiles(set) ? set.files.find((each) => each.name === fileName) : undefined;
  if (!isOfFiles(set) || file === undefined) throw new ImportError("no_file", { origin });
  const path = await locate(set, file, options);
  return {
    path,
    origin,
    name: set.name,
    sha256: file.sha256,
    publishers: publishersOf(set, set.taken),
    ...(file.rows && { rows: file.rows }),
  };
}

/** How runs name the file of such a set. */
export function originOfAddress({ name, file }: AddressSet): string {
  return `data:${name}/${file}`;
}

/** The newest file of its publisher, or the one that the mirror has under its name. */
async function fetchAddressSet(set: AddressSet, options: FetchOptions): Promise<LocalFile> {
  const { mirror, folder, signal, progress } = options;
  const own = mirror === undefined || isAddress(mirror) ? undefined : join(mirror, set.file);
  const path = own !== undefined && (await exists(own)) ? own : join(folder, set.file);
  if (path !== own) {
    const fetched = {
      ...(signal && { signal }),
      progress: teller({ name: set.file, bytes: set.bytes }, progress),
    };
    const inMirror =
      mirror !== undefined && isAddress(mirror) ? `${mirror.replace(/\/+$/, "")}/${set.file}` : undefined;
    if (inMirror === undefined || !(await isFetched(inMirror, path, fetched)))
      await download(set.address, path, fetched);
  }
  const sha256 = await digestOf(path);
  if (sha256 === undefined) throw new ImportError("empty_file", { origin: set.address });
  const publishers = publishersOf(set, chinaDate(new Date()));
  return { path, origin: originOfAddress(set), name: set.name, sha256, publishers, rows: set.rows };
}

async function isFetched(
  url: string,
  path: string,
  options: Parameters<typeof download>[2],
): Promise<boolean> {
  try {
    await download(url, path, options);
    return true;
  } catch (error) {
    const isAbsent = error instanceof ImportError && error.said.code === "fetch_refused";
    if (!isAbsent) throw error;
    return false;
  }
}

async function locate(set: FileSet, file: OpenSetFile, options: FetchOptions): Promise<string> {
  const { mirror, folder } = options;
  const here = join(folder, `${file.sha256.slice(0, 12)}-${file.name}`);
  if ((await digestOf(here)) === file.sha256) return here;
  const publishers = set.publishers.map(({ url }) => url).join(" ");
  if (mirror === undefined) throw new ImportError("set_needs_mirror", { file: file.name, publishers });
  if (!isAddress(mirror)) return inFolder(mirror, file, publishers);
  for (const place of placesOf(file)) {
    const found = await fetchFrom(`${mirror.replace(/\/+$/, "")}/${place}`, here, file, options);
    if (found) return here;
  }
  throw new ImportError("set_not_in_mirror", { file: file.name, mirror, publishers });
}

/** Where a mirror may have a file: by digest, or under its name. */
export function placesOf({ sha256, name }: OpenSetFile): readonly [string, string] {
  return [`sha256/${sha256}`, name];
}

export function isAddress(mirror: string): boolean {
  return /^https?:/.test(mirror);
}

async function inFolder(mirror: string, file: OpenSetFile, publishers: string): Promise<string> {
  for (const place of placesOf(file)) {
    const path = join(mirror, place);
    if (!(await exists(path))) continue;
    if ((await digestOf(path)) !== file.sha256)
      throw new ImportError("set_other_digest", { file: file.name, place: path });
    return path;
  }
  throw new ImportError("set_not_in_mirror", { file: file.name, mirror, publishers });
}

/** False if the mirror does not have it there. */
async function fetchFrom(
  url: string,
  path: string,
  file: OpenSetFile,
  { signal, progress }: FetchOptions,
): Promise<boolean> {
  try {
    await download(url, path, {
      sha256: file.sha256,
      mostBytes: file.bytes,
      ...(signal && { signal }),
      progress: teller(file, progress),
    });
    return true;
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    const { code, values } = error.said;
    if (code === "fetch_refused" && (values["status"] === 404 || values["status"] === 410)) return false;
    if (code === "other_digest" || code === "too_large")
      throw new ImportError("set_other_digest", { file: file.name, place: url }, error);
    throw error;
  }
}

/** Says every two seconds how much is here, and when the rest will be. */
function teller({ name, bytes }: Pick<OpenSetFile, "name" | "bytes">, print: FetchOptions["progress"]) {
  const begun = performance.now();
  let told = begun;
  let before: number | undefined;
  return (done: number) => {
    const now = performance.now();
    before ??= done;
    if (now - told < tellEveryMs) return;
    told = now;
    const left = ((bytes - done) * (now - begun)) / Math.max(1, done - before);
    print?.(
      say("fetching_set", {
        name,
        done: megabytes(done),
        total: megabytes(bytes),
        seconds: Math.ceil(left / 1_000),
      }),
    );
  };
}

const tellEveryMs = 2_000;

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
