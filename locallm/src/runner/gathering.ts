import type { SlotEvent } from "../engine/slots.ts";

/**
 * Steps at least this long are sent one by one. Shorter steps would otherwise spend most of their time on
 * messages: each one takes the runner, the server and the client 0.3 to 0.5 ms together.
 */
const intervalMs = 5;

/**
 * Limits the number of messages per second. Text is sent at once if the previous message is an interval old,
 * and so are the first text and the end of an answer. Other text waits for the rest of the interval, together
 * with the text of the steps that end until then.
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

  /** Adds the events of one step. With `isAwaited`, they do not wait. */
  add(events: readonly SlotEvent[], isAwaited = false): void {
    let isUrgent = isAwaited;
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
