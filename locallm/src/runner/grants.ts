import type { Report } from "./protocol.ts";

/** The runner's side of memory that it uses only once the server has granted it. */
export class Grants {
  readonly #report: (report: Report) => void;
  readonly #asked = new Map<number, (bytes: number) => void>();
  #nextId = 1;

  constructor(report: (report: Report) => void) {
    this.#report = report;
  }

  /** Resolves to how many of these bytes may be used. */
  ask(bytes: number): Promise<number> {
    const id = this.#nextId++;
    this.#report({ kind: "grow", id, bytes });
    return new Promise((resolve) => {
      this.#asked.set(id, resolve);
    });
  }

  /** Receives the server's answer. */
  answer(id: number, bytes: number): void {
    this.#asked.get(id)?.(bytes);
    this.#asked.delete(id);
  }
}
