import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { checkSignature, readPublicKey } from "./minisign.ts";
import { UpdateError } from "./update-error.ts";
import { compareVersions } from "./version-order.ts";

/** Gets an address over the product's own network, with its rules for proxies, certificates and redirects. */
export type Get = (address: URL) => Promise<{
  readonly status: number;
  readonly bytes: number | null;
  readonly body: AsyncIterable<Buffer>;
}>;

/** Where releases are: an address of a web server or a folder, as the release script writes it. */
export interface Source {
  readonly from: string;
  /** A public key of minisign. Null accepts a release without a signature. */
  readonly key: string | null;
  readonly get: Get;
}

/** An archive of a release for one platform. */
export interface Offer {
  readonly version: string;
  readonly archive: string;
  /** 64 hexadecimal digits. */
  readonly sha256: string;
  /** What the signature says of the release; null without one. */
  readonly signed: string | null;
}

/** Lists of digests and signatures are small. */
const longestList = 2 ** 20;

/** The newest archive of the product for the platform. Throws `UpdateError`. */
export async function findOffer(source: Source, product: string, platform: string): Promise<Offer> {
  const key = source.key === null ? null : readPublicKey(source.key);
  const sums = await readSmall(source, "SHA256SUMS");
  const signed =
    key === null
      ? null
      : checkSignature(sums, (await readSmall(source, "SHA256SUMS.minisig")).toString(), key);
  const pattern = new RegExp(
    `^([0-9a-f]{64}) [ *](${product}-(\\d[\\w.+-]*)-${platform}\\.(?:tar\\.gz|zip))$`,
  );
  const offers = sums
    .toString()
    .split(/\r?\n/)
    .flatMap((line) => {
      const [, sha256, archive, version] = pattern.exec(line) ?? [];
      return sha256 === undefined
        ? []
        : [{ sha256, archive: archive as string, version: version as string, signed }];
    });
  const newest = offers.sort((a, b) => compareVersions(b.version, a.version))[0];
  if (newest === undefined)
    throw new UpdateError(`the release at ${shown(source)} has no ${product} for ${platform}`);
  return newest;
}

/** The parts of CHANGELOG.md about versions after `since`; empty if the release has none. */
export async function newsSince(source: Source, since: string): Promise<string> {
  const text = await readSmall(source, "CHANGELOG.md").then(String, () => "");
  return text
    .split(/^(?=## )/m)
    .filter((part) => {
      const [, version] = /^## (\d[\w.+-]*)/.exec(part) ?? [];
      return version !== undefined && compareVersions(version, since) > 0;
    })
    .join("")
    .trim();
}

/** Opens a file of a release. Throws `UpdateError`. */
export async function openFile(
  { from, get, key }: Source,
  name: string,
): Promise<{ bytes: number | null; body: AsyncIterable<Buffer> }> {
  try {
    if (!/^https?:\/\//.test(from)) {
      const path = join(from, name);
      return { bytes: (await stat(path)).size, body: createReadStream(path) };
    }
    const { status, bytes, body } = await get(
      new URL(`${from.replace(/\/+$/, "")}/${encodeURIComponent(name)}`),
    );
    if (status === 200) return { bytes, body };
    for await (const _ of body) break;
    throw new Error(`the server answered ${status}`);
  } catch (error) {
    const reason = (error as Error).message || (error as NodeJS.ErrnoException).code;
    throw new UpdateError(`cannot get ${name} from ${shown({ from, get, key })}: ${reason}`, {
      cause: error,
    });
  }
}

async function readSmall(source: Source, name: string): Promise<Buffer> {
  if (!/^https?:\/\//.test(source.from))
    return await readFile(join(source.from, name)).catch((error: Error) => {
      throw new UpdateError(`cannot get ${name} from ${shown(source)}: ${error.message}`, { cause: error });
    });
  const chunks: Buffer[] = [];
  let size = 0;
  const { body } = await openFile(source, name);
  for await (const chunk of body) {
    size += chunk.length;
    if (size > longestList)
      throw new UpdateError(`${name} of ${shown(source)} is longer than such a list is`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Without a password that the address may hold. */
function shown({ from }: Source): string {
  return from.replace(/^(\w+:\/\/)[^/@]*@/, "$1");
}
