import type { SlotEvent } from "../engine/slots.ts";

/** The minimum time between two messages. Readers do not notice it, and it saves processor time. */
const intervalMs = 50;

/**
 * Sends the results of steps in few messages, because each message wakes the server and its clients, which
 * then compete with the next step for a core. The first text and the end of an answer are sent at once. Text
 * in between is sent at most once per interval.
 */
export class Gathering {
  readonly #send: (events: readonly SlotEvent[]) => void;
  readonly #nowMs: () => number;
  /** The jobs whose first text has been sent. */
  readonly #begun = new Set<number>();
  #events: SlotEvent[] = [];
  #sentMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(send: (events: readonly SlotEvent[]) => void, nowMs: () => number) {
    this.#send = send;
    this.#nowMs = nowMs;
  }

  /** Adds the events of one step. */
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

  /** Forgets a job whose reader left. The job has no further events. */
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
