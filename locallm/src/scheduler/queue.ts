import type { Lease, LeaseRequest } from "./lease.ts";

/** A request waiting to be granted a lease. */
export interface Waiter {
  readonly request: LeaseRequest;
  /** The key of the runner that the request needs (see `lineOf`). Requests with the same key form a line. */
  readonly line: string;
  /** Requested context length, capped at the model's training context. */
  readonly numCtx: number;
  /** Smallest acceptable context length; less than `numCtx` for a visit. */
  readonly minCtx: number;
  /** The request's value, or 0 if `keep_alive: 0` was set while the request waited. */
  keepAliveMs: number;
  readonly sinceMs: number;
  /** Order of arrival across all lines. */
  readonly ticket: number;
  readonly settle: { resolve(lease: Lease): void; reject(error: unknown): void };
}

/** All requests waiting for a load, a slot or an eviction: one bounded queue with one line per runner. */
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

  /** The request that has waited longest in a line. */
  head(line: string): Waiter | undefined {
    return this.#lines.get(line)?.[0];
  }

  line(line: string): readonly Waiter[] {
    return this.#lines.get(line) ?? [];
  }

  /** The heads of all lines, oldest first. */
  heads(): Waiter[] {
    return [...this.#lines.values()].map((line) => line[0]!).sort((a, b) => a.ticket - b.ticket);
  }

  /** Returns false if the request is no longer waiting. */
  remove(waiter: Waiter): boolean {
    const line = this.#lines.get(waiter.line);
    const index = line?.indexOf(waiter) ?? -1;
    if (line === undefined || index < 0) return false;
    line.splice(index, 1);
    if (line.length === 0) this.#lines.delete(waiter.line);
    this.#length--;
    return true;
  }

  /** Removes and returns all requests of a line. */
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
