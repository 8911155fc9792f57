import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { get as httpsGet } from "node:https";
import type { LookupFunction } from "node:net";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { rootCertificates } from "node:tls";
import { isPrivateAddress } from "../../network/private-address.ts";
import { ImportError } from "../import-error.ts";
import { assertSafeRedirect, publicLookup } from "./redirect.ts";

/** An `import` would also load Node's `fetch`, which takes 9 MiB. */
const http = process.getBuiltinModule("node:http");

export interface DownloadOptions {
  readonly sha256?: string;
  /** No more than this is read. By default 20 GiB. */
  readonly mostBytes?: number;
  /** Certificates to trust in addition to the built-in ones. */
  readonly certificates?: string | undefined;
  readonly signal?: AbortSignal;
  readonly progress?: (doneBytes: number, totalBytes: number | null) => void;
}

/**
 * Downloads a file and continues where an earlier attempt stopped. A file that already exists with the right digest
 * is not downloaded again. The digest decides whether a resumed file is complete, because many servers send no ETag.
 */
export async function download(url: string, path: string, options: DownloadOptions): Promise<void> {
  if (options.sha256 !== undefined && (await digestOf(path)) === options.sha256) return;
  await mkdir(dirname(path), { recursive: true });
  const partial = `${path}.partial`;
  const isWhole = await fetchInto(url, partial, options);
  let digest = await digestOf(partial);
  if (!isWhole && options.sha256 !== undefined && digest !== options.sha256) {
    // The part that was here may have been of another file.
    await rm(partial, { force: true });
    await fetchInto(url, partial, options);
    digest = await digestOf(partial);
  }
  if (options.sha256 !== undefined && digest !== options.sha256) {
    await rm(partial, { force: true });
    throw new ImportError("other_digest", { file: fileName(url) });
  }
  await rename(partial, path);
}

/** Opens an address, after redirects. Any status is returned. */
export async function openDownload(address: URL): Promise<IncomingMessage> {
  return (await open(address.href, 0, {}, 5)).response;
}

/** Fetches a page of an index. Throws an Error for any status but 200, and for more than `mostBytes`. */
export async function fetchText(
  address: URL,
  options: Pick<DownloadOptions, "certificates" | "signal"> & {
    readonly headers: Readonly<Record<string, string>>;
    readonly mostBytes: number;
  },
): Promise<{ body: string; contentType: string; address: URL }> {
  const { response, address: from } = await open(address.href, 0, options, 5);
  if (response.statusCode !== 200) {
    response.resume();
    throw new Error(`it answered ${response.statusCode}`);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > options.mostBytes) throw new Error(`its answer is longer than ${options.mostBytes} bytes`);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks).toString();
  return { body, contentType: response.headers["content-type"] ?? "", address: from };
}

/** Whether all of it was fetched now; false if a part was here. */
async function fetchInto(url: string, partial: string, options: DownloadOptions): Promise<boolean> {
  const largestBytes = options.mostBytes ?? 20 * 2 ** 30;
  // Without a digest, parts of two different files could not be told apart.
  const have = options.sha256 === undefined ? 0 : await sizeOf(partial);
  const { response } = await open(url, have, options, 5);
  if (response.statusCode === 416 && have > 0) {
    response.resume();
    return false;
  }
  const isResumed = response.statusCode === 206;
  if (!isResumed && response.statusCode !== 200) {
    response.resume();
    throw new ImportError("fetch_refused", { file: fileName(url), status: response.statusCode ?? 0 });
  }
  const start = isResumed ? have : 0;
  const length = Number(response.headers["content-length"]);
  const total = Number.isSafeInteger(length) ? start + length : null;
  if ((total ?? 0) > largestBytes)
    throw new ImportError("too_large", { file: fileName(url), bytes: largestBytes });
  let done = start;
  response.on("data", (chunk: Buffer) => {
    done += chunk.length;
    if (done > largestBytes)
      response.destroy(new ImportError("too_large", { file: fileName(url), bytes: largestBytes }));
    options.progress?.(done, total);
  });
  try {
    await pipeline(response, createWriteStream(partial, { flags: isResumed ? "a" : "w", flush: true }));
  } catch (error) {
    throw error instanceof ImportError
      ? error
      : new ImportError("broke_off", { file: fileName(url), bytes: done }, error);
  }
  return !isResumed;
}

const idleMs = 30_000;

function open(
  url: string,
  from: number,
  options: Pick<DownloadOptions, "certificates" | "signal"> & {
    /** Only `accept` is also sent to other hosts. */
    readonly headers?: Readonly<Record<string, string>>;
  },
  redirects: number,
  lookup?: LookupFunction,
): Promise<{ response: IncomingMessage; address: URL }> {
  const target = new URL(url);
  if (target.protocol !== "https:" && target.protocol !== "http:") {
    throw new ImportError("not_https", { protocol: target.protocol });
  }
  const get = target.protocol === "https:" ? httpsGet : http.get;
  return new Promise((resolve, reject) => {
    const request = get(
      target,
      {
        headers: { "user-agent": "dataq", ...options.headers, ...(from > 0 && { range: `bytes=${from}-` }) },
        ...(options.certificates && { ca: [...rootCertificates, options.certificates] }),
        ...(options.signal && { signal: options.signal }),
        ...(lookup && { lookup }),
        timeout: idleMs,
      },
      (response) => {
        const { location } = response.headers;
        if ([301, 302, 303, 307, 308].includes(response.statusCode ?? 0) && location !== undefined) {
          response.resume();
          if (redirects === 0) return reject(new ImportError("redirected", { file: fileName(url) }));
          const address = response.socket.remoteAddress ?? "";
          const next = new URL(location, target);
          try {
            assertSafeRedirect(target, next, address);
          } catch (error) {
            return reject(error);
          }
          const guard = lookup ?? (isPrivateAddress(address) ? undefined : publicLookup);
          const { headers, ...others } = options;
          const sent = next.origin === target.origin ? options : { ...others, ...acceptOf(headers) };
          return resolve(open(next.href, from, sent, redirects - 1, guard));
        }
        resolve({ response, address: target });
      },
    );
    request.on("timeout", () => request.destroy(new Error(`no data received for ${idleMs / 1000} s`)));
    request.on("error", (error) =>
      reject(
        error instanceof ImportError
          ? error
          : new ImportError("not_fetched", { file: fileName(url), reason: reasonOf(error) }, error),
      ),
    );
  });
}

/** Another host does not get the login. */
function acceptOf(headers: Readonly<Record<string, string>> | undefined) {
  return headers?.["accept"] === undefined ? {} : { headers: { accept: headers["accept"] } };
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}

/** Node's error about a name with several addresses has no text. */
function reasonOf({ message, code }: NodeJS.ErrnoException): string {
  return message || (code ?? "unknown error");
}

/** Returns the SHA-256 of a file, or undefined if the file is missing or empty. */
export async function digestOf(path: string): Promise<string | undefined> {
  if ((await sizeOf(path)) === 0) return undefined;
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

function fileName(url: string): string {
  return new URL(url).pathname.split("/").pop() || "the file";
}
