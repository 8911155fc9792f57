/**
 * The content of a slot's cache for a conversation, as stored in shared memory and in a file: a header, a
 * table of the parts, the tokens, and the parts as the engine wrote them. The first part is the whole state.
 * The others are checkpoints for kinds of memory that cannot be cut. Numbers are little-endian.
 */
export interface KeptState {
  /** Identifies weights, adapters, cache type and engine release with 64 hex digits. */
  readonly group: string;
  /** The hash of group, window and tokens as 64 hex digits. It is the name of the file. */
  readonly name: string;
  /** The window that the state belongs to, or 0 if it fits any window. */
  readonly window: number;
  readonly tokens: Int32Array;
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
export const headerBytes = 128;
const partBytes = 16;
const alignment = 64;
/** More tokens than any model supports. Protects against damaged headers. */
const mostTokens = 2 ** 26;
const mostParts = 64;
const mostPartBytes = 2 ** 44;

const at = { magic: 0, group: 8, name: 40, checksum: 72, tokens: 104, prompt: 108, window: 112, parts: 116 };

/** The checksum covers the header before it and everything after it. */
export const checksumAt = at.checksum;
export const checksumEnd = at.tokens;

/** The offsets of the parts, and the total size. */
export function layOut(
  tokens: number,
  parts: readonly { readonly tokens: number; readonly bytes: number }[],
): { readonly parts: readonly StatePart[]; readonly totalBytes: number } {
  let offset = aligned(headerBytes + parts.length * partBytes + tokens * 4);
  const placed = parts.map((part) => {
    const here = { tokens: part.tokens, offset, bytes: part.bytes };
    offset = aligned(offset + part.bytes);
    return here;
  });
  return { parts: placed, totalBytes: offset };
}

/** Encodes header, table and tokens, which is everything before the first part. */
export function encodeHead({ group, name, window, tokens, promptTokens, parts }: KeptState): Buffer {
  const head = Buffer.alloc(headerBytes + parts.length * partBytes + tokens.length * 4);
  magic.copy(head, at.magic);
  head.write(group, at.group, "hex");
  head.write(name, at.name, "hex");
  head.writeUInt32LE(tokens.length, at.tokens);
  head.writeUInt32LE(promptTokens, at.prompt);
  head.writeUInt32LE(window, at.window);
  head.writeUInt32LE(parts.length, at.parts);
  let next = headerBytes;
  for (const part of parts) {
    head.writeUInt32LE(part.tokens, next);
    head.writeDoubleLE(part.bytes, next + 8);
    next += partBytes;
  }
  for (const token of tokens) next = head.writeInt32LE(token, next);
  return head;
}

/** Returns how many bytes `decodeHead` needs, or null if this is not the beginning of a state. */
export function headBytes(header: Uint8Array): number | null {
  const bytes = Buffer.from(header.buffer, header.byteOffset, header.byteLength);
  if (bytes.length < headerBytes || !bytes.subarray(0, magic.length).equals(magic)) return null;
  const tokens = bytes.readUInt32LE(at.tokens);
  const parts = bytes.readUInt32LE(at.parts);
  if (tokens === 0 || tokens > mostTokens || parts === 0 || parts > mostParts) return null;
  return headerBytes + parts * partBytes + tokens * 4;
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
  const tokens = new Int32Array(count);
  const first = headerBytes + sizes.length * partBytes;
  for (let index = 0; index < count; index++) tokens[index] = bytes.readInt32LE(first + index * 4);
  return {
    group: bytes.toString("hex", at.group, at.group + 32),
    name: bytes.toString("hex", at.name, at.name + 32),
    window: bytes.readUInt32LE(at.window),
    tokens,
    promptTokens,
    parts: layOut(count, sizes).parts,
  };
}

export async function stateName(group: string, window: number, tokens: Int32Array): Promise<string> {
  // Imported here, because runners rarely need it at the start and loading it takes 5 ms.
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(`${group} ${window} `).update(tokens).digest("hex");
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}
