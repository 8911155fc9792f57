import type { Stretch } from "../search/stored-body.ts";

/** JSON in parts. A part that is also in the index is stored as a reference instead of a copy. */
export type Part = Buffer | Stretch;

export function bytesOf(part: Part): Buffer {
  return Buffer.isBuffer(part) ? part : part.bytes;
}

/** A record that is already JSON. Code that needs its fields parses it. */
export class WrittenRecord {
  readonly parts: readonly Part[];

  constructor(parts: readonly Part[]) {
    this.parts = parts;
  }

  parse(): object {
    return JSON.parse(Buffer.concat(this.parts.map(bytesOf)).toString()) as object;
  }
}
