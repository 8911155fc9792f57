import type { Lease, LeaseRequest } from "./lease.ts";

/** A request that has no place yet. */
export interface Waiter {
  readonly request: LeaseRequest;
  /** What it waits for: requests of one line are served by the same runner. */
  readonly line: string;
  /** Its window: asked for, cut to what the model was trained on. */
  readonly numCtx: number;
  /** The least window that will do; less than `numCtx` for a visit. */
  readonly leastCtx: number;
  /** Its request's own, unless the model was told to go meanwhile. */
  keepAliveMs: number;
  readonly sinceMs: number;
  /** Grows with every request: the order of arrival over all lines. */
  readonly ticket: number;
  readonly settle: { resolve(lease: Lease): void; reject(error: unknown): void };
}

/** Everybody who waits, for a load, a slot or an eviction, in one bounded queue with a line a runner. */
export class Queue {
  readonly #limit: number;
  readonly #lines = new Map<string, Waiter[]>();
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#length;
  }

  get isFull(): boolean {
    return this.#length >= this.#limit;
  }

  push(waiter: Waiter): void {
    const line = this.#lines.get(waiter.line);
    if (line === undefined) this.#lines.set(waiter.line, [waiter]);
    else line.push(waiter);
    this.#length++;
  }

  /** The one who has waited longest in a line. */
  head(line: string): Waiter | undefined {
    return this.#lines.get(line)?.[0];
  }

  line(line: string): readonly Waiter[] {
    return this.#lines.get(line) ?? [];
  }

  /** The heads of all lines, the one that came first in front. */
  heads(): Waiter[] {
    return [...this.#lines.values()].map((line) => line[0]!).sort((a, b) => a.ticket - b.ticket);
  }

  /** False where it is not waiting any more. */
  remove(waiter: Waiter): boolean {
    const line = this.#lines.get(waiter.line);
    const index = line?.indexOf(waiter) ?? -1;
    if (line === undefined || index < 0) return false;
    line.splice(index, 1);
    if (line.length === 0) this.#lines.delete(waiter.line);
    this.#length--;
    return true;
  }

  /** Empties a line. */
  take(line: string): Waiter[] {
    const waiters = this.#lines.get(line) ?? [];
    this.#lines.delete(line);
    this.#length -= waiters.length;
    return waiters;
  }

  lines(): string[] {
    return [...this.#lines.keys()];
  }
}
