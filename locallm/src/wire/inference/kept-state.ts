import type { Picture } from "./picture.ts";

/**
 * The content of a slot's cache for a conversation, as stored in shared memory and in a file: a header, a
 * table of the parts, a table of the pictures, the tokens, and the parts as the engine wrote them. The first part is the
 * whole state. The others are checkpoints for kinds of memory that cannot be cut. Numbers are little-endian.
 */
export interface KeptState {
  /** Identifies weights, adapters, cache type and engine release with 64 hex digits. */
  readonly group: string;
  /** The hash of group, window, tokens and pictures as 64 hex digits. It is the name of the file. */
  readonly name: string;
  /** The window that the state belongs to, or 0 if it fits any window. */
  readonly window: number;
  /** A negative number stands for a cell of a picture: −1 for those of the first one in `pictures`. */
  readonly tokens: Int32Array;
  readonly pictures: readonly Picture[];
  /** How many of the tokens were the last request's prompt. The other tokens are its answer. */
  readonly promptTokens: number;
  readonly parts: readonly StatePart[];
}

export interface StatePart {
  /** The number of tokens that the part covers. */
  readonly tokens: number;
  readonly offset: number;
  readonly bytes: number;
}

/** A state that a runner can restore. */
export interface KeptEntry {
  readonly id: number;
  readonly path: string;
  /** Whether the state comes from disk, so that its checksum must be verified. */
  readonly isOnDisk: boolean;
}

const magic = Buffer.from("LCLLMKV1", "latin1");
/** States with pictures. Releases that know none drop them. */
const magicWithPictures = Buffer.from("LCLLMKV2", "latin1");
export const headerBytes = 128;
const partBytes = 16;
/** The identity, four numbers, and whether the picture is causal. */
const pictureBytes = 32 + 5 * 4;
const alignment = 64;
/** More tokens than any model supports. Protects against damaged headers. */
const mostTokens = 2 ** 26;
const mostParts = 64;
const mostPictures = 2 ** 16;
const mostPartBytes = 2 ** 44;

const at = {
  ...{ magic: 0, group: 8, name: 40, checksum: 72 },
  ...{ tokens: 104, prompt: 108, window: 112, parts: 116, pictures: 120 },
};

/** The checksum covers the header before it and everything after it. */
export const checksumAt = at.checksum;
export const checksumEnd = at.tokens;

/** The offsets of the parts, and the total size. */
export function layOut(
  tokens: number,
  pictures: number,
  parts: readonly { readonly tokens: number; readonly bytes: number }[],
): { readonly parts: readonly StatePart[]; readonly totalBytes: number } {
  let offset = aligned(headBytesOf(tokens, pictures, parts.length));
  const placed = parts.map((part) => {
    const here = { tokens: part.tokens, offset, bytes: part.bytes };
    offset = aligned(offset + part.bytes);
    return here;
  });
  return { parts: placed, totalBytes: offset };
}

function headBytesOf(tokens: number, pictures: number, parts: number): number {
  return headerBytes + parts * partBytes + pictures * pictureBytes + tokens * 4;
}

/** Encodes header, tables and tokens, which is everything before the first part. */
export function encodeHead(state: KeptState): Buffer {
  const { group, name, window, tokens, pictures, promptTokens, parts } = state;
  const head = Buffer.alloc(headBytesOf(tokens.length, pictures.length, parts.length));
  (pictures.length === 0 ? magic : magicWithPictures).copy(head, at.magic);
  head.write(group, at.group, "hex");
  head.write(name, at.name, "hex");
  head.writeUInt32LE(tokens.length, at.tokens);
  head.writeUInt32LE(promptTokens, at.prompt);
  head.writeUInt32LE(window, at.window);
  head.writeUInt32LE(parts.length, at.parts);
  head.writeUInt32LE(pictures.length, at.pictures);
  let next = headerBytes;
  for (const part of parts) {
    head.writeUInt32LE(part.tokens, next);
    head.writeDoubleLE(part.bytes, next + 8);
    next += partBytes;
  }
  for (const picture of pictures) next += encodePicture(picture).copy(head, next);
  for (const token of tokens) next = head.writeInt32LE(token, next);
  return head;
}

function encodePicture({ identity, cells, positions, layout, causal }: Picture): Buffer {
  const bytes = Buffer.alloc(pictureBytes);
  bytes.write(identity, 0, "hex");
  const { width, height } = layout === "line" ? { width: 0, height: 0 } : layout;
  const numbers = [cells, positions, width, height, causal ? 1 : 0];
  for (const [index, number] of numbers.entries()) bytes.writeUInt32LE(number, 32 + index * 4);
  return bytes;
}

/** Reads what `encodePicture` wrote. Returns null if it is damaged. */
function decodePicture(bytes: Buffer): Picture | null {
  const [cells, positions, width, height, causal] = [0, 1, 2, 3, 4].map((index) =>
    bytes.readUInt32LE(32 + index * 4),
  ) as [number, number, number, number, number];
  const isLine = width === 0 && height === 0;
  const isSound = isLine
    ? positions === cells
    : width * height === cells && positions === Math.max(width, height);
  if (cells === 0 || !isSound || causal > 1) return null;
  const layout = isLine ? "line" : { width, height };
  return { identity: bytes.toString("hex", 0, 32), cells, positions, layout, causal: causal === 1 };
}

/** Returns how many bytes `decodeHead` needs, or null if this is not the beginning of a state. */
export function headBytes(header: Uint8Array): number | null {
  const bytes = Buffer.from(header.buffer, header.byteOffset, header.byteLength);
  if (bytes.length < headerBytes) return null;
  const tokens = bytes.readUInt32LE(at.tokens);
  const parts = bytes.readUInt32LE(at.parts);
  const pictures = bytes.readUInt32LE(at.pictures);
  const known = pictures === 0 ? magic : magicWithPictures;
  if (!bytes.subarray(0, known.length).equals(known) || pictures > mostPictures) return null;
  if (tokens === 0 || tokens > mostTokens || parts === 0 || parts > mostParts) return null;
  return headBytesOf(tokens, pictures, parts);
}

/** Reads what `encodeHead` wrote. Returns null if it is damaged. */
export function decodeHead(head: Uint8Array): KeptState | null {
  const needed = headBytes(head);
  if (needed === null || head.length < needed) return null;
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const count = bytes.readUInt32LE(at.tokens);
  const promptTokens = bytes.readUInt32LE(at.prompt);
  const sizes = Array.from({ length: bytes.readUInt32LE(at.parts) }, (_, index) => ({
    tokens: bytes.readUInt32LE(headerBytes + index * partBytes),
    bytes: bytes.readDoubleLE(headerBytes + index * partBytes + 8),
  }));
  const isSound = (part: { tokens: number; bytes: number }) =>
    part.tokens <= count && Number.isSafeInteger(part.bytes) && part.bytes > 0 && part.bytes <= mostPartBytes;
  if (promptTokens > count || !sizes.every(isSound)) return null;
  const pictures: Picture[] = [];
  let next = headerBytes + sizes.length * partBytes;
  for (const end = next + bytes.readUInt32LE(at.pictures) * pictureBytes; next < end; next += pictureBytes) {
    const picture = decodePicture(bytes.subarray(next, next + pictureBytes));
    if (picture === null) return null;
    pictures.push(picture);
  }
  const tokens = new Int32Array(count);
  for (let index = 0; index < count; index++) tokens[index] = bytes.readInt32LE(next + index * 4);
  if (!areWhole(tokens, pictures)) return null;
  return {
    group: bytes.toString("hex", at.group, at.group + 32),
    name: bytes.toString("hex", at.name, at.name + 32),
    window: bytes.readUInt32LE(at.window),
    tokens,
    pictures,
    promptTokens,
    parts: layOut(count, pictures.length, sizes).parts,
  };
}

/** Whether each picture's cells are all there. */
function areWhole(tokens: Int32Array, pictures: readonly Picture[]): boolean {
  for (let index = 0; index < tokens.length; ) {
    const token = tokens[index]!;
    const cells = token >= 0 ? 1 : (pictures[-1 - token]?.cells ?? 0);
    if (cells === 0 || index + cells > tokens.length) return false;
    for (const end = index + cells; index < end; index++) if (tokens[index] !== token) return false;
  }
  return true;
}

export async function stateName(
  state: Pick<KeptState, "group" | "window" | "tokens" | "pictures">,
): Promise<string> {
  const { group, window, tokens, pictures } = state;
  // Imported here, because runners rarely need it at the start and loading it takes 5 ms.
  const { createHash } = await import("node:crypto");
  const hash = createHash("sha256").update(`${group} ${window} `).update(tokens);
  for (const picture of pictures) hash.update(encodePicture(picture));
  return hash.digest("hex");
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}
