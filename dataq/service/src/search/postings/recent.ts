/** Keeps what was used last, up to a number of bytes. Removes the least recently used entries first. */
export class Recent<Key, Value> {
  readonly #limitBytes: number;
  readonly #kept = new Map<Key, { readonly value: Value; readonly sizeBytes: number }>();
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get(key: Key): Value | undefined {
    const found = this.#kept.get(key);
    if (found === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    return found.value;
  }

  /** An existing entry stays as it is. */
  put(key: Key, value: Value, sizeBytes: number): void {
    if (this.#kept.has(key)) return;
    this.#kept.set(key, { value, sizeBytes });
    this.#bytes += sizeBytes;
    for (const [oldKey, old] of this.#kept) {
      if (this.#bytes <= this.#limitBytes) break;
      this.#kept.delete(oldKey);
      this.#bytes -= old.sizeBytes;
    }
  }
}
