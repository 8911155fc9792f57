import { type MarkedText, markable } from "./highlight.ts";

/** Where an engine finds a document again. Only the engine reads it. The content of a place never changes. */
export type Place = string;

/** A range of the JSON of a stored body. */
export interface Stretch {
  readonly place: Place;
  readonly from: number;
  readonly to: number;
  readonly bytes: Buffer;
}

/** A record as stored in the index: JSON that is parsed only when its fields are needed. */
export class StoredBody {
  readonly place: Place;
  readonly json: Buffer;
  #text: MarkedText | undefined;
  #sourceAt: number | undefined;

  constructor(place: Place, json: Buffer) {
    this.place = place;
    this.json = json;
  }

  /** Parses a new object for each call, because the caller may change it. */
  parse(): object {
    return JSON.parse(this.json.toString()) as object;
  }

  /** The text for highlights, which `read` takes from the record. Cached, so `read` must be the same each time. */
  text(read: (body: object) => string): MarkedText {
    this.#text ??= markable(read(this.parse()));
    return this.#text;
  }

  /**
   * Adds members to the record before `source`, its last member. Returns the stored text before them, the
   * members, and the stored text after them. Undefined for a record that does not end with `source`.
   */
  with(members: object): [Stretch, Buffer, Stretch] | undefined {
    this.#sourceAt ??= findSource(this.json);
    const at = this.#sourceAt;
    if (at === -1) return undefined;
    const added = Buffer.from(`,${JSON.stringify(members).slice(1, -1)}`);
    return [this.stretch(0, at), added, this.stretch(at, this.json.length)];
  }

  stretch(from: number, to: number): Stretch {
    return { place: this.place, from, to, bytes: this.json.subarray(from, to) };
  }
}

/** The position of `,"source":` as the last member of the whole record; -1 if it is elsewhere. */
function findSource(json: Buffer): number {
  let at = json.length;
  // A member inside the source may have the same name.
  for (let tries = 0; tries < 4 && at > 0; tries++) {
    at = json.lastIndexOf(',"source":', at - 1);
    if (at === -1) return -1;
    try {
      // Only at the top level do the remaining braces close one more than they open.
      const rest = JSON.parse(`{${json.toString("utf8", at + 1)}`) as object;
      return Object.keys(rest).length === 1 ? at : -1;
    } catch {}
  }
  return -1;
}
