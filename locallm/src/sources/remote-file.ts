import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Digest, digestHex, digestOf, parseDigest } from "../library/digest.ts";
import { writeDurably } from "../library/durable.ts";
import { LocallmError } from "../wire/errors.ts";
import { authorizationOf } from "./credentials.ts";
import type { NetworkResponse } from "./network.ts";
import type { PullContext } from "./pull-context.ts";
import { percentDecoded } from "./reference.ts";
import { withRetries } from "./retry.ts";
import type { ByteRange } from "./transfer-request.ts";

/** A remote file, before its download. */
export interface RemoteFile {
  host: string;
  sizeBytes: number;
  /** The digest of the content, if known. */
  digest: Digest | null;
  /** Identifies the content: its digest, or a digest of URL, size and the server's version (ETag or the like). */
  key: Digest;
  open(range: ByteRange | null, signal: AbortSignal): Promise<NetworkResponse>;
}

export interface FileAddress {
  url: URL;
  digest: Digest | null;
  /** A file of additional PEM certificates to trust. */
  certificateFile?: string | null;
}

/**
 * Requests the first byte of a file to learn its size, because signed URLs do not answer HEAD. Throws `file_unknown`,
 * `registry_unauthorized`, `source_failed` and the errors of `Network`.
 */
export async function findFile(address: FileAddress, context: PullContext): Promise<RemoteFile> {
  const { network, insecure, signal } = context;
  const url = new URL(address.url);
  const headers = { "accept-encoding": "identity", ...(await authorization(url, context)) };
  url.username = "";
  url.password = "";
  url.hash = "";
  context.requireAllowed(url.host);
  const base = { insecure, certificateFile: address.certificateFile ?? null };
  const asked = { ...base, headers: { ...headers, range: "bytes=0-0" }, signal };
  const first = await withRetries(() => network.request(url, asked), signal);
  first.body.destroy();
  const sizeBytes = sizeOf(first, url.host);
  const version = versionOf(first);
  const isStrong = version?.startsWith('"') ?? false;
  return {
    host: url.host,
    sizeBytes,
    digest: address.digest,
    key: address.digest ?? digestOf([url.origin, url.pathname, version, sizeBytes].join("\n")),
    open: async (range, partSignal) => {
      const response = await network.request(url, {
        ...base,
        headers: {
          ...headers,
          ...(range === null ? {} : { range: `bytes=${range.start}-${range.end - 1}` }),
          ...(range !== null && isStrong && version !== null ? { "if-range": version } : {}),
        },
        signal: partSignal,
      });
      if (response.status < 300 && versionOf(response) !== version) {
        response.body.destroy();
        throw failed(url.host, "the file changed during the download; pull it again");
      }
      return response;
    },
  };
}

/**
 * Downloads the file into the store as a blob. If its digest was not known, writes a note next to the unfinished
 * downloads that names the blob, so that an interrupted pull of several files does not download it again.
 */
export async function fetchBlob(
  file: RemoteFile,
  context: PullContext,
): Promise<{ digest: Digest; sizeBytes: number }> {
  const { store, onProgress, signal } = context;
  const { sizeBytes, key } = file;
  const status = `pulling ${key.slice(7, 19)}`;
  const report = (completed: number) =>
    onProgress({ status, digest: file.digest ?? key, total: sizeBytes, completed });
  const present = async () => {
    const digest = file.digest ?? (await readNote(file, context));
    return digest !== null && (await store.blobs.size(digest)) === sizeBytes ? digest : null;
  };
  if ((await present()) === null) {
    await context.transfers.fetch({
      host: file.host,
      key,
      expected: file.digest,
      sizeBytes,
      signal,
      open: file.open,
      onProgress: report,
      isDone: async () => (await present()) !== null,
      finish: async (path, digest) => {
        await store.blobs.adopt(path, digest);
        if (file.digest === null)
          await writeDurably(notePath(file, context), digest, store.blobs.partialFolder);
      },
    });
  }
  report(sizeBytes);
  const digest = await present();
  if (digest === null) throw new LocallmError("blob_missing", { digest: file.digest ?? key });
  return { digest, sizeBytes };
}

/** Removes the note of `fetchBlob`, once the model exists or its files are removed. */
export async function forgetFile(file: RemoteFile, context: PullContext): Promise<void> {
  await rm(notePath(file, context), { force: true });
}

function notePath(file: RemoteFile, { store }: PullContext): string {
  return join(store.blobs.partialFolder, `blob-of-${digestHex(file.key)}`);
}

async function readNote(file: RemoteFile, context: PullContext): Promise<Digest | null> {
  return parseDigest(await readFile(notePath(file, context), "utf8").catch(() => null));
}

/** A username and password in the URL override the credentials file. */
async function authorization(url: URL, context: PullContext): Promise<Record<string, string>> {
  const credentials =
    url.username === ""
      ? await context.credentialsOf(url)
      : { username: percentDecoded(url.username), password: percentDecoded(url.password) };
  return credentials === null ? {} : { authorization: authorizationOf(credentials) };
}

function sizeOf(response: NetworkResponse, host: string): number {
  const { status, headers } = response;
  if (status === 404 || status === 410) throw new LocallmError("file_unknown", { host });
  if (status === 401 || status === 403) throw new LocallmError("registry_unauthorized", { host });
  if (status !== 200 && status !== 206) throw failed(host, `it answered ${status}`);
  const [, total] = /^bytes 0-0\/(\d+)$/.exec(headers["content-range"] ?? "") ?? [];
  const size = Number(status === 206 ? total : headers["content-length"]);
  if (!Number.isSafeInteger(size) || size <= 0) throw failed(host, "it does not report the file's size");
  return size;
}

function versionOf({ headers }: NetworkResponse): string | null {
  return headers.etag ?? headers["last-modified"] ?? null;
}

function failed(host: string, reason: string): LocallmError {
  return new LocallmError("source_failed", { host, reason });
}
