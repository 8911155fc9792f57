import { type MarkedText, markable } from "./highlight.ts";

/** Where a document stands. What stands there never changes. */
export interface DocumentPlace {
  readonly segment: number;
  readonly ordinal: number;
}

/** A stretch of the JSON of a stored body. */
export interface Stretch extends DocumentPlace {
  readonly from: number;
  readonly to: number;
  readonly bytes: Buffer;
}

/** A record as the index keeps it: JSON that is parsed only for whoever needs its fields. */
export class StoredBody {
  readonly place: DocumentPlace;
  readonly json: Buffer;
  #text: MarkedText | undefined;
  #sourceAt: number | undefined;

  constructor(place: DocumentPlace, json: Buffer) {
    this.place = place;
    this.json = json;
  }

  /** Anew at each call: the caller may change what it gets. */
  parse(): object {
    return JSON.parse(this.json.toString()) as object;
  }

  /** What `read` takes out of the record for highlights; the same `read` at every call. */
  text(read: (body: object) => string): MarkedText {
    this.#text ??= markable(read(this.parse()));
    return this.#text;
  }

  /**
   * The record with more members before `source`, its last one: what is stored before them, they, and what is
   * stored after them. Undefined for a record that does not end with `source`.
   */
  with(members: object): [Stretch, Buffer, Stretch] | undefined {
    this.#sourceAt ??= findSource(this.json);
    const at = this.#sourceAt;
    if (at === -1) return undefined;
    const added = Buffer.from(`,${JSON.stringify(members).slice(1, -1)}`);
    return [this.stretch(0, at), added, this.stretch(at, this.json.length)];
  }

  stretch(from: number, to: number): Stretch {
    return { ...this.place, from, to, bytes: this.json.subarray(from, to) };
  }
}

/** Where `,"source":` stands as the last member of the whole record; -1 where it does not. */
function findSource(json: Buffer): number {
  let at = json.length;
  // What stands in the source itself may be called so too.
  for (let tries = 0; tries < 4 && at > 0; tries++) {
    at = json.lastIndexOf(',"source":', at - 1);
    if (at === -1) return -1;
    try {
      // Only at the outer level do the braces of the rest close one more than they open.
      const rest = JSON.parse(`{${json.toString("utf8", at + 1)}`) as object;
      return Object.keys(rest).length === 1 ? at : -1;
    } catch {}
  }
  return -1;
}
