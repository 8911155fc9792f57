import { bytesOf, type Part } from "../sources/written-record.ts";

/** The part of an answer that is the same for everybody: JSON in parts, the last of which ends with its brace. */
export class Payload {
  readonly parts: readonly Part[];

  constructor(parts: readonly Part[]) {
    this.parts = parts;
  }

  /** UTF-8. */
  bytes(): Buffer {
    return Buffer.concat(this.parts.map(bytesOf));
  }
}
