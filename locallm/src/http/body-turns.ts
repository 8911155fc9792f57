/** Bodies up to this size are read at once. */
const smallBytes = 64 * 1024;

/** The time functions that `BodyTurns` uses. */
export interface TurnClock {
  now(): number;
  /** Calls back once the work of the current turn is done. */
  afterWork(callback: () => void): void;
  after(ms: number, callback: () => void): void;
}

const eventLoop: TurnClock = {
  now: () => performance.now(),
  afterWork: (callback) => void setImmediate(callback),
  after: (ms, callback) => void setTimeout(callback, ms),
};

/**
 * Large bodies take turns, because parsing and checking one blocks the server for up to half a second. After
 * each large body, other requests get as much time as it took.
 */
export class BodyTurns {
  readonly #clock: TurnClock;
  #last: Promise<void> = Promise.resolve();

  constructor(clock: TurnClock = eventLoop) {
    this.#clock = clock;
  }

  /** Resolves when a body of this size may be parsed. The caller parses it before its next `await`. */
  async take(bytes: number): Promise<void> {
    if (bytes <= smallBytes) return;
    const turn = this.#last;
    this.#last = turn.then(() => this.#pause());
    await turn;
  }

  /** Called as a turn begins. Resolves when the next may begin. */
  #pause(): Promise<void> {
    const beganMs = this.#clock.now();
    return new Promise((resolve) => {
      this.#clock.afterWork(() => this.#clock.after(this.#clock.now() - beganMs, resolve));
    });
  }
}
