/**
 * The positions of a term in each of its documents, in the order of its posting block: distances from the previous
 * position (initially 0) as varints, 7 bits per byte, low first. The lowest bit says whether it is the last one in
 * the document.
 */
export class PlaceWriter {
  #bytes = new Uint8Array(8);
  #length = 0;
  #last = 0;
  /** The newest position, not written until it is known whether it is the last; -1 for none. */
  #pending = -1;

  /** Positions in a document must ascend. */
  add(place: number): void {
    if (this.#pending !== -1) this.#write(0);
    this.#pending = place;
  }

  endDocument(): void {
    this.#write(1);
    this.#pending = -1;
    this.#last = 0;
  }

  /** Adds the positions of further documents, as another writer wrote them. */
  append(bytes: Uint8Array): void {
    this.#fit(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #write(isLast: 0 | 1): void {
    this.#fit(5);
    const bytes = this.#bytes;
    let length = this.#length;
    let value = ((this.#pending - this.#last) << 1) | isLast;
    while (value > 127) {
      bytes[length++] = (value & 127) | 128;
      value >>>= 7;
    }
    bytes[length++] = value;
    this.#length = length;
    this.#last = this.#pending;
  }

  #fit(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const bigger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    bigger.set(this.#bytes);
    this.#bytes = bigger;
  }
}

/** Reads a place block forwards, document by document. */
export class PlaceReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  skipDocuments(count: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    for (let left = count; left > 0; ) {
      if (((bytes[at] as number) & 1) === 1) left--;
      while ((bytes[at++] as number) > 127);
    }
    this.#at = at;
  }

  nextDocument(): number[] {
    const bytes = this.#bytes;
    const places: number[] = [];
    let place = 0;
    for (;;) {
      let byte = bytes[this.#at++];
      if (byte === undefined) throw new Error("A position block ends too early.");
      let value = byte & 127;
      for (let shift = 7; byte > 127; shift += 7) {
        byte = bytes[this.#at++] ?? 0;
        value |= (byte & 127) << shift;
      }
      place += value >>> 1;
      places.push(place);
      if ((value & 1) === 1) return places;
    }
  }
}
