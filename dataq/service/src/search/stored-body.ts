import { type MarkedText, markable } from "./highlight.ts";

/** A record as the index keeps it: JSON that is parsed only for whoever needs its fields. */
export class StoredBody {
  readonly json: Buffer;
  #text: MarkedText | undefined;
  #sourceAt: number | undefined;

  constructor(json: Buffer) {
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
   * The record with more members before `source`, its last one: the JSON in parts, of which only the new one was
   * written. Undefined for a record that does not end with `source`.
   */
  with(members: object): Buffer[] | undefined {
    this.#sourceAt ??= findSource(this.json);
    if (this.#sourceAt === -1) return undefined;
    const added = JSON.stringify(members).slice(1, -1);
    return [
      this.json.subarray(0, this.#sourceAt),
      Buffer.from(`,${added}`),
      this.json.subarray(this.#sourceAt),
    ];
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
