/** Counts the rows in which each field is filled. */
export class FieldCounts {
  readonly #rows = new Map<string, number>();

  add(fields: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(fields)) {
      if (this.#rows.size >= mostFields && !this.#rows.has(name)) continue;
      const isFilled = value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
      this.#rows.set(name, (this.#rows.get(name) ?? 0) + (isFilled ? 1 : 0));
    }
  }

  report(): Record<string, number> {
    return Object.fromEntries(this.#rows);
  }
}

const mostFields = 200;
