import { createHash, createHmac } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { text as readAll } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";

/** A bucket of a store that speaks S3: where it is, and who may use it. */
export interface BucketAddress {
  /** `https://s3.example.com`, without a path. */
  readonly endpoint: string;
  readonly bucket: string;
  /** What the names of all objects begin with; empty or with a slash at its end. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Whether the bucket is the first part of the path, or of the host. */
  readonly style: "path" | "host";
}

export interface StoredObject {
  /** Without the prefix. */
  readonly name: string;
  readonly bytes: number;
}

interface Ask {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Without the prefix; undefined for the bucket itself. */
  readonly name?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
}

const PART_BYTES = 32 * 1_048_576;
const TRIES = 5;
/** The longest silence of a connection. A large object may take as long as bytes come. */
const WITHIN_MS = 300_000;

/**
 * Stores, lists, fetches and removes files. Requests are signed with AWS Signature Version 4, which all such stores know;
 * it is thirty lines, and an SDK for it has more code than this service.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export class Bucket {
  readonly #address: BucketAddress;
  readonly #clock: () => Date;
  readonly #pauseMs: number;
  readonly #partBytes: number;

  constructor(
    address: BucketAddress,
    { clock = () => new Date(), pauseMs = 1_000, partBytes = PART_BYTES } = {},
  ) {
    this.#address = address;
    this.#clock = clock;
    this.#pauseMs = pauseMs;
    this.#partBytes = partBytes;
  }

  /** Host, bucket and prefix, for messages. */
  get place(): string {
    const { endpoint, bucket, prefix } = this.#address;
    return `${new URL(endpoint).host}/${bucket}/${prefix}`;
  }

  /** Uploads a file in parts. The object appears when it is complete. */
  async put(name: string, path: string, progress: (bytes: number) => void): Promise<void> {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      const piece = async (start: number) => {
        const bytes = new Uint8Array(Math.min(this.#partBytes, size - start));
        for (let at = 0; at < bytes.length; ) {
          const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at);
          if (bytesRead === 0) throw new Error(`${path} became shorter while it was uploaded.`);
          at += bytesRead;
        }
        return bytes;
      };
      if (size <= this.#partBytes) {
        await this.#text({ method: "PUT", name, body: await piece(0) });
        progress(size);
        return;
      }
      const begun = await this.#text({ method: "POST", name, query: { uploads: "" } });
      const uploadId = valuesOf(begun, "UploadId")[0];
      if (uploadId === undefined) throw new Error(`${this.place} began no upload.`);
      try {
        const parts: string[] = [];
        for (let start = 0; start < size; start += this.#partBytes) {
          const query = { partNumber: String(parts.length + 1), uploadId };
          const answer = await this.#ask({ method: "PUT", name, query, body: await piece(start) });
          answer.resume();
          const tag = answer.headers.etag ?? "";
          parts.push(
            `<Part><PartNumber>${parts.length + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`,
          );
          progress(Math.min(size, start + this.#partBytes));
        }
        const body = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
        // A store may answer 200 before it is done, and send an error in the body.
        const ended = await this.#text({ method: "POST", name, query: { uploadId }, body: utf8(body) });
        if (!ended.includes("CompleteMultipartUploadResult"))
          throw refusal({ method: "POST", name }, 200, ended);
      } catch (error) {
        await this.#text({ method: "DELETE", name, query: { uploadId } }).catch(() => {});
        throw error;
      }
    } finally {
      await file.close();
    }
  }

  /** Objects below the prefix, by name. */
  async list(): Promise<StoredObject[]> {
    const { prefix } = this.#address;
    const found: StoredObject[] = [];
    let token: string | undefined;
    do {
      const query = { "list-type": "2", prefix, ...(token !== undefined && { "continuation-token": token }) };
      const text = await this.#text({ method: "GET", query });
      for (const one of text.split("<Contents>").slice(1)) {
        const key = valuesOf(one, "Key")[0] ?? "";
        if (key.startsWith(prefix))
          found.push({ name: key.slice(prefix.length), bytes: Number(valuesOf(one, "Size")[0]) });
      }
      token = valuesOf(text, "NextContinuationToken")[0];
    } while (token !== undefined);
    return found.sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** Downloads an object, and goes on where a lost connection left it. The file has its name only when it is complete. */
  async get(name: string, path: string): Promise<void> {
    const partial = `${path}.partial`;
    let have = 0;
    let version: string | undefined;
    try {
      for (let tries = 1; ; tries++) {
        const headers = { ...(have > 0 && { range: `bytes=${have}-`, "if-match": version! }) };
        const answer = await this.#ask({ method: "GET", name, headers });
        // A store that ignores ranges sends all of it.
        if (answer.statusCode === 200) have = 0;
        version = answer.headers.etag;
        const whole = have + Number(answer.headers["content-length"]);
        const target = createWriteStream(partial, { flags: have === 0 ? "w" : "a", mode: 0o600 });
        const lost = await pipeline(answer, target).then(
          () => undefined,
          (error: Error) => error,
        );
        have = (await stat(partial)).size;
        if (lost === undefined && have === whole) break;
        if (tries === TRIES || version === undefined)
          throw new Error(`${name} could not be downloaded from ${this.place}.`, { cause: lost });
      }
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    await this.#text({ method: "DELETE", name });
  }

  async #text(ask: Ask): Promise<string> {
    return readAll(await this.#ask(ask));
  }

  /** Asks again after a lost connection, and when the store is busy. */
  async #ask(ask: Ask): Promise<IncomingMessage> {
    for (let tries = 1; ; tries++) {
      let failure: Error;
      try {
        const answer = await send(sign(this.#address, ask, this.#clock()), ask);
        const status = answer.statusCode ?? 0;
        if (status >= 200 && status < 300) return answer;
        failure = refusal(ask, status, await readAll(answer));
        if (status < 500 && status !== 429) throw failure;
      } catch (error) {
        if (error instanceof Refused) throw error;
        failure = new Error(`${this.place} cannot be reached: ${(error as Error).message}`, { cause: error });
      }
      if (tries === TRIES) throw failure;
      await new Promise((resolve) => setTimeout(resolve, this.#pauseMs * 2 ** (tries - 1)));
    }
  }
}

/** Not `fetch`: its client ends the process if a connection breaks while a slow disk holds up the body. */
function send({ url, headers }: ReturnType<typeof sign>, { method, body }: Ask): Promise<IncomingMessage> {
  const request = url.startsWith("https:") ? requestSecure : requestPlain;
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": body.length };
    const sent = request(url, { method, headers: { ...headers, ...length } }, resolve);
    sent.setTimeout(WITHIN_MS, () => sent.destroy(new Error("it did not answer in time")));
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The store understood the request and did not do it. */
class Refused extends Error {}

function refusal({ method, name = "the bucket" }: Ask, status: number, text: string): Error {
  const [code = "", message = ""] = [valuesOf(text, "Code")[0], valuesOf(text, "Message")[0]];
  const said = [String(status), code, message].filter(Boolean).join(" ").slice(0, 300).replace(/\.$/, "");
  const fix = fixes[code];
  const region = valuesOf(text, "Region")[0];
  const hint = [fix, fix && region && `The store names ${region}.`].filter(Boolean).join(" ");
  return new Refused(`The store refused ${method} of ${name}: ${said}${hint && `. ${hint}`}`);
}

/** What to do about it, by the store's name of the error. */
const fixes: Readonly<Record<string, string>> = {
  SignatureDoesNotMatch:
    "The secret key in DATAQ_BACKUPS does not belong to the access key: copy it again, and write / as %2F, + as %2B and @ as %40.",
  InvalidAccessKeyId:
    "The store does not know the access key in DATAQ_BACKUPS: copy it again, or make a new one.",
  AccessDenied:
    "The access key in DATAQ_BACKUPS may not do this: let it list the bucket, and read, write and delete its objects.",
  NoSuchBucket: "Correct the bucket in DATAQ_BACKUPS, or make it at the store.",
  PermanentRedirect: "Correct region and host in DATAQ_BACKUPS.",
  AuthorizationHeaderMalformed: "Correct region and host in DATAQ_BACKUPS.",
  RequestTimeTooSkewed: "Set the clock of this machine.",
};

/** The address of a request and its headers, signed. */
export function sign(
  { endpoint, bucket, prefix, region, accessKey, secretKey, style }: BucketAddress,
  { method, name, query = {}, headers: more = {}, body }: Ask,
  now: Date,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  const base = new URL(endpoint);
  const host = style === "host" ? `${bucket}.${base.host}` : base.host;
  const path = `/${[...(style === "path" ? [bucket] : []), ...(name === undefined ? [] : `${prefix}${name}`.split("/"))].map(encode).join("/")}`;
  const sorted = Object.entries(query)
    .map(([key, value]) => `${encode(key)}=${encode(value)}`)
    .sort()
    .join("&");
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, "");
  const content = sha256(body ?? new Uint8Array());
  const headers: Record<string, string> = {
    ...more,
    host,
    "x-amz-content-sha256": content,
    "x-amz-date": time,
  };
  const names = Object.keys(headers).sort();
  const signed = names.join(";");
  const canonical = [
    method,
    path,
    sorted,
    ...names.map((key) => `${key}:${headers[key]}`),
    "",
    signed,
    content,
  ];
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical.join("\n"))].join("\n");
  const key = [time.slice(0, 8), region, "s3", "aws4_request"].reduce<Buffer | string>(
    hmac,
    `AWS4${secretKey}`,
  );
  const signature = hmac(key, text).toString("hex");
  const { host: _sentByFetch, ...sent } = headers;
  return {
    url: `${base.protocol}//${host}${path}${sorted === "" ? "" : `?${sorted}`}`,
    headers: {
      ...sent,
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope},SignedHeaders=${signed},Signature=${signature}`,
    },
  };
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function sha256(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex");
}

/** As RFC 3986 has it: `encodeURIComponent` leaves five signs that the signature encodes. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The texts of all elements of this name. The documents of a store are flat enough for it. */
function valuesOf(xml: string, name: string): string[] {
  const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text]) =>
    text!.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, named) => {
      if (named !== undefined) return entities[named] ?? whole;
      return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
    }),
  );
}

function escapeXml(text: string): string {
  return text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
