/** A set of small numbers as bits, low bit first. Dead documents are stored in this form. */
export class BitSet {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  static ofSize(size: number): BitSet {
    return new BitSet(new Uint8Array(Math.ceil(size / 8)));
  }

  has(member: number): boolean {
    return ((this.bytes[member >>> 3] ?? 0) & (1 << (member & 7))) !== 0;
  }

  add(member: number): void {
    this.bytes[member >>> 3] = (this.bytes[member >>> 3] ?? 0) | (1 << (member & 7));
  }

  /** The set with the member added, enlarged if necessary. */
  with(member: number): BitSet {
    const grown = member >>> 3 < this.bytes.length ? this : BitSet.ofSize(2 * (member + 1));
    if (grown !== this) grown.bytes.set(this.bytes);
    grown.add(member);
    return grown;
  }

  remove(member: number): void {
    if (this.has(member))
      this.bytes[member >>> 3] = (this.bytes[member >>> 3] as number) & ~(1 << (member & 7));
  }

  /** The members below `limit` as words. */
  words(limit: number): Uint32Array {
    const words = new Uint32Array((limit + 31) >>> 5);
    new Uint8Array(words.buffer).set(this.bytes.subarray(0, (limit + 7) >>> 3));
    if (limit % 32 !== 0) words[words.length - 1]! &= (1 << (limit % 32)) - 1;
    return words;
  }

  count(): number {
    let count = 0;
    for (let byte of this.bytes) {
      for (; byte !== 0; byte &= byte - 1) count++;
    }
    return count;
  }
}
