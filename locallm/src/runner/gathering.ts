import type { SlotEvent } from "../engine/slots.ts";

/** The least time between two messages. No reader notices it, and it saves processor time. */
const intervalMs = 50;

/**
 * Sends what the steps give in few messages: each one wakes the server and its clients, which then compete with the
 * next step for a core. An answer's first text and its end are sent at once; text in between waits until the interval
 * since the last message is over.
 */
export class Gathering {
  readonly #send: (events: readonly SlotEvent[]) => void;
  readonly #nowMs: () => number;
  /** The jobs whose first text was sent. */
  readonly #begun = new Set<number>();
  #events: SlotEvent[] = [];
  #sentMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(send: (events: readonly SlotEvent[]) => void, nowMs: () => number) {
    this.#send = send;
    this.#nowMs = nowMs;
  }

  /** The events of one step. */
  add(events: readonly SlotEvent[]): void {
    let isUrgent = false;
    for (const event of events) {
      this.#events.push(event);
      if (event.done !== null || event.error !== null) {
        this.#begun.delete(event.id);
        isUrgent = true;
      } else if (!this.#begun.has(event.id)) {
        this.#begun.add(event.id);
        isUrgent = true;
      }
    }
    const leftMs = this.#sentMs + intervalMs - this.#nowMs();
    if (isUrgent || leftMs <= 0) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), leftMs);
  }

  /** The job's reader left: nothing more comes for it. */
  forget(id: number): void {
    this.#begun.delete(id);
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#sentMs = this.#nowMs();
    const events = this.#events;
    this.#events = [];
    this.#send(events);
  }
}
