import type { GenerateEvent } from "./handle.ts";

/** Events that may lie unread before the slot is paused, and those at which it goes on. */
const pauseAt = 64;
const resumeAt = 8;

/** The events of one job between the pipe and its reader, bounded by pausing the job's slot. */
export class JobStream {
  readonly #tell: (kind: "pause" | "resume") => void;
  readonly #events: GenerateEvent[] = [];
  #waiting: { resolve: (event: GenerateEvent) => void; reject: (error: unknown) => void } | null = null;
  #failure: { readonly error: unknown } | null = null;
  #paused = false;
  #ended = false;

  constructor(tell: (kind: "pause" | "resume") => void) {
    this.#tell = tell;
  }

  /** Whether the runner is done with the job. */
  get ended(): boolean {
    return this.#ended;
  }

  push(event: GenerateEvent): void {
    if (event.kind === "done") this.#ended = true;
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

  /** The runner ended the job with an error: the reader meets it behind what came before. */
  refuse(error: unknown): void {
    this.#ended = true;
    this.#settle(error);
  }

  /** The reader's side gives up: the error comes at once. */
  fail(error: unknown): void {
    this.#events.length = 0;
    this.#settle(error);
  }

  /** The next event if there is one already; throws the job's error behind the last. */
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

  /** Only when `take` had none. */
  next(): Promise<GenerateEvent> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  #settle(error: unknown): void {
    this.#failure ??= { error };
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}
