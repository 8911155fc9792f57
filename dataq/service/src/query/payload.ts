import { bytesOf, type Part } from "../sources/written-record.ts";

/**
 * The part of an answer that is the same for every caller: JSON in parts, of which the last ends with the closing
 * brace.
 */
export class Payload {
  readonly parts: readonly Part[];

  constructor(parts: readonly Part[]) {
    this.parts = parts;
  }

  /** The payload as UTF-8. */
  bytes(): Buffer {
    return Buffer.concat(this.parts.map(bytesOf));
  }
}
