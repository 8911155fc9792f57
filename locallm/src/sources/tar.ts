import { LocallmError } from "../wire/errors.ts";

export interface TarMember {
  name: string;
  sizeBytes: number;
  /** Read it before requesting the next member; unread content is skipped. */
  content: AsyncIterable<Buffer>;
}

const blockBytes = 512;
const maxMembers = 100_000;
/** The limit for the extra members that carry long names and sizes. */
const noteLimitBytes = 1024 * 1024;

/**
 * The regular files of a tar stream in order. Supports the POSIX (pax) and GNU extensions for long names and large
 * sizes. Throws `source_failed` if the stream is not a valid archive.
 */
export async function* tarMembers(source: AsyncIterable<Buffer>): AsyncGenerator<TarMember> {
  const bytes = new Bytes(source);
  let notes: Notes = {};
  for (let count = 0; count < maxMembers; count++) {
    const header = await bytes.take(blockBytes);
    if (header.every((byte) => byte === 0)) return;
    const { type, ...member } = readHeader(header);
    const sizeBytes = notes.sizeBytes ?? member.sizeBytes;
    const padding = (blockBytes - (sizeBytes % blockBytes)) % blockBytes;
    if (type === "x" || type === "L") {
      if (sizeBytes > noteLimitBytes) throw damaged();
      const content = await bytes.take(sizeBytes);
      notes = type === "x" ? { ...notes, ...readNotes(content) } : { ...notes, name: untilZero(content) };
      await bytes.take(padding);
      continue;
    }
    const begin = bytes.taken;
    if (type === "0" || type === "\0") {
      yield { name: notes.name ?? member.name, sizeBytes, content: bytes.pass(sizeBytes) };
    }
    for await (const _ of bytes.pass(begin + sizeBytes + padding - bytes.taken));
    notes = {};
  }
  throw damaged();
}

interface Notes {
  name?: string;
  sizeBytes?: number;
}

function readHeader(header: Buffer) {
  let sum = 0;
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 32 : byte;
  if (sum !== octal(header.subarray(148, 156))) throw damaged();
  const isPosix = header.toString("latin1", 257, 262) === "ustar";
  const prefix = isPosix ? untilZero(header.subarray(345, 500)) : "";
  const name = untilZero(header.subarray(0, 100));
  return {
    type: header.toString("latin1", 156, 157),
    name: prefix === "" ? name : `${prefix}/${name}`,
    sizeBytes: readSize(header.subarray(124, 136)),
  };
}

/** Octal digits, or a big-endian number if the highest bit is set. */
function readSize(field: Buffer): number {
  const size = (field[0] ?? 0) & 0x80 ? Number(field.readBigUInt64BE(4)) : octal(field);
  if (!Number.isSafeInteger(size)) throw damaged();
  return size;
}

function octal(field: Buffer): number {
  const text = untilZero(field).trim();
  if (!/^[0-7]*$/.test(text)) throw damaged();
  return text === "" ? 0 : Number.parseInt(text, 8);
}

/** Parses lines of `length key=value`. */
function readNotes(content: Buffer): Notes {
  const notes: Notes = {};
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(32, at);
    if (space < 0) throw damaged();
    const length = Number(content.toString("latin1", at, space));
    if (!Number.isInteger(length) || length <= space - at || at + length > content.length) throw damaged();
    const [, key, value = ""] =
      /^([^=]+)=(.*)$/s.exec(content.toString("utf8", space + 1, at + length - 1)) ?? [];
    if (key === "path") notes.name = value;
    if (key === "size") notes.sizeBytes = Number(value);
    at += length;
  }
  if (notes.sizeBytes !== undefined && !(Number.isSafeInteger(notes.sizeBytes) && notes.sizeBytes >= 0)) {
    throw damaged();
  }
  return notes;
}

function untilZero(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end < 0 ? field.length : end);
}

/** Reads a stream in pieces of a requested size. */
class Bytes {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  taken = 0;

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async take(length: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.pass(length)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async *pass(length: number): AsyncGenerator<Buffer> {
    for (let left = length; left > 0; ) {
      if (this.#rest.length === 0) {
        const next = await this.#source.next();
        if (next.done) throw damaged();
        this.#rest = next.value;
      }
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      this.taken += piece.length;
      yield piece;
    }
  }
}

function damaged(): LocallmError {
  return new LocallmError("source_failed", { host: "the package", reason: "its archive is damaged" });
}
