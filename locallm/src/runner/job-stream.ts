import type { GenerateEvent } from "../wire/inference/generate.ts";

/** The slot is paused at `pauseAt` unread events and resumed at `resumeAt`. */
const pauseAt = 64;
const resumeAt = 8;

/**
 * Buffers one job's events between the pipe and the job's reader. If the buffer gets too long, it pauses the
 * job's slot.
 */
export class JobStream {
  readonly #tell: (kind: "pause" | "resume") => void;
  readonly #events: GenerateEvent[] = [];
  #waiting: { resolve: (event: GenerateEvent) => void; reject: (error: unknown) => void } | null = null;
  #failure: { readonly error: unknown } | null = null;
  #paused = false;
  #ended = false;
  /** How many events with text have arrived. */
  received = 0;

  constructor(tell: (kind: "pause" | "resume") => void) {
    this.#tell = tell;
  }

  /** Whether the runner has finished the job. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether the reader has taken every event and waits for the next. */
  get isAwaited(): boolean {
    return this.#waiting !== null && !this.#ended;
  }

  push(event: GenerateEvent): void {
    if (event.kind === "done") this.#ended = true;
    else this.received++;
    if (this.#waiting !== null) {
      this.#waiting.resolve(event);
      this.#waiting = null;
      return;
    }
    this.#events.push(event);
    if (this.#paused || this.#ended || this.#events.length < pauseAt) return;
    this.#paused = true;
    this.#tell("pause");
  }

  /**
   * Called when the runner ended the job with an error. The reader gets the error after all earlier events.
   */
  refuse(error: unknown): void {
    this.#ended = true;
    this.#reject(error);
  }

  /** Called when the server gives the job up. The reader gets the error at once. */
  fail(error: unknown): void {
    this.#events.length = 0;
    this.#reject(error);
  }

  /** Returns the next event if one has arrived, else null. Throws the job's error after the last event. */
  take(): GenerateEvent | null {
    const event = this.#events.shift();
    if (event === undefined) {
      if (this.#failure !== null) throw this.#failure.error;
      return null;
    }
    if (this.#paused && this.#events.length <= resumeAt) {
      this.#paused = false;
      if (!this.#ended) this.#tell("resume");
    }
    return event;
  }

  /** Waits for the next event. Call it only when `take` returned null. */
  next(): Promise<GenerateEvent> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  #reject(error: unknown): void {
    this.#failure ??= { error };
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}
