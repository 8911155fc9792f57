import type { StateKeeper } from "../engine/kept/kept-states.ts";
import type { Report } from "./protocol.ts";

/** The runner's side of the states that the server keeps. */
export class StatePlaces implements StateKeeper {
  readonly #report: (report: Report) => void;
  readonly #asked = new Map<number, (state: number | null) => void>();
  #nextId = 1;

  constructor(report: (report: Report) => void) {
    this.#report = report;
  }

  reserve(bytes: number): Promise<number | null> {
    const id = this.#nextId++;
    this.#report({ kind: "reserve", id, bytes });
    return new Promise((resolve) => {
      this.#asked.set(id, resolve);
    });
  }

  /** Receives the server's answer to `reserve`. */
  answer(id: number, state: number | null): void {
    this.#asked.get(id)?.(state);
    this.#asked.delete(id);
  }

  kept(state: number, fd: number, replaced: readonly number[]): void {
    this.#report({ kind: "kept", state, fd, replaced });
  }

  used(state: number): void {
    this.#report({ kind: "used", state });
  }

  release(state: number): void {
    this.#report({ kind: "released", state });
  }

  damaged(state: number): void {
    this.#report({ kind: "damaged", state });
  }
}
