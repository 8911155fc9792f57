import { createHash } from "node:crypto";
import { access } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ImportError } from "../import-error.ts";
import { say } from "../message.ts";
import { fetchSetFile } from "../open-data/fetch-set.ts";
import { publishersBeside } from "../publisher.ts";
import { digestOf, download } from "./download.ts";
import type { FetchOptions, LocalFile } from "./local-file.ts";
import { findPackage } from "./pip.ts";
import { licenceOfWheel } from "./wheel-licence.ts";

/** Whether the same origin may return a different file later. */
export function isRemote(origin: string): boolean {
  return /^(?:pypi:|https?:|data:)/.test(origin);
}

/** Downloads an origin, or finds it on this machine. */
export async function fetchOrigin(origin: string, options: FetchOptions): Promise<LocalFile> {
  if (origin.startsWith("data:")) return fetchSetFile(origin, options);
  if (origin.startsWith("pypi:")) return fetchWheel(origin, options);
  if (/^https?:\/\//.test(origin)) return fetchAddress(origin, options);
  const path = resolve(origin);
  try {
    await access(path);
  } catch (error) {
    throw new ImportError("no_file", { origin }, error);
  }
  const sha256 = await digestOf(path);
  if (sha256 === undefined) throw new ImportError("empty_file", { origin });
  return { path, origin, name: basename(path), sha256, publishers: await publishersBeside(path) };
}

/** A readable name that is unique for the address: host and path, and a digest of its query. */
export function nameOfAddress(address: string): string {
  const { host, pathname, search } = new URL(address);
  const path = `${host}${pathname}`.replace(/\/+$/, "");
  return search === "" ? path : `${path}-${createHash("sha256").update(search).digest("hex").slice(0, 6)}`;
}

async function fetchWheel(origin: string, options: FetchOptions): Promise<LocalFile> {
  const name = origin.slice("pypi:".length);
  const wheel = await findPackage(name, options.signal);
  const { sha256, version } = wheel;
  const path = wheel.url.startsWith("file:")
    ? fileURLToPath(wheel.url)
    : join(options.folder, `${name}-${version}-${sha256.slice(0, 12)}.whl`);
  if (!wheel.url.startsWith("file:"))
    await download(wheel.url, path, {
      sha256,
      certificates: wheel.certificates,
      ...(options.signal && { signal: options.signal }),
      progress: percentages(name, options.progress),
    });
  const licence = wheel.licence ?? (await licenceOfWheel(path));
  const publisher = {
    name: `PyPI ${name} ${version}`,
    url: `https://pypi.org/project/${name}/`,
    licence,
    retrievedAt: null,
  };
  return { path, origin, name: `${name} ${version}`, sha256, publishers: [publisher] };
}

async function fetchAddress(origin: string, options: FetchOptions): Promise<LocalFile> {
  if (!URL.canParse(origin)) throw new ImportError("not_an_address", { origin });
  const name = basename(new URL(origin).pathname) || "download";
  // Two addresses with the same last part must not share a file or a partial download.
  const digest = createHash("sha256").update(origin).digest("hex").slice(0, 12);
  const path = join(options.folder, `${digest}-${name.replace(/[^A-Za-z0-9._-]/g, "_").slice(0, 120)}`);
  await download(origin, path, {
    ...(options.signal && { signal: options.signal }),
    progress: percentages(name, options.progress),
  });
  const sha256 = await digestOf(path);
  if (sha256 === undefined) throw new ImportError("empty_file", { origin });
  const publishers = [{ name: new URL(origin).host, url: origin, licence: null, retrievedAt: null }];
  return { path, origin, name, sha256, publishers };
}

/** Reports each quarter of a download. */
function percentages(name: string, print: FetchOptions["progress"]) {
  let told = 0;
  return (doneBytes: number, totalBytes: number | null) => {
    if (totalBytes === null) return;
    const quarter = Math.floor((4 * doneBytes) / totalBytes);
    if (quarter <= told) return;
    told = quarter;
    print?.(say("fetching", { name, percent: quarter * 25, megabytes: (totalBytes / 1e6).toFixed(1) }));
  };
}
