/**
 * Keeps what was used last, up to a number of bytes. Removes the oldest entries that were not used since they were
 * last looked at for removal: moving an entry at each use would cost more than the use itself.
 */
export class Recent<Key, Value> {
  readonly #limitBytes: number;
  readonly #kept = new Map<Key, { readonly value: Value; readonly sizeBytes: number; isUsed: boolean }>();
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get(key: Key): Value | undefined {
    const found = this.#kept.get(key);
    if (found === undefined) return undefined;
    found.isUsed = true;
    return found.value;
  }

  /** An existing entry stays as it is. */
  put(key: Key, value: Value, sizeBytes: number): void {
    if (this.#kept.has(key)) return;
    this.#kept.set(key, { value, sizeBytes, isUsed: true });
    this.#bytes += sizeBytes;
    for (const [oldKey, old] of this.#kept) {
      if (this.#bytes <= this.#limitBytes) break;
      this.#kept.delete(oldKey);
      if (old.isUsed) this.#kept.set(oldKey, { ...old, isUsed: false });
      else this.#bytes -= old.sizeBytes;
    }
  }
}
