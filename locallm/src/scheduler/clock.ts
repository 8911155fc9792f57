/** The scheduler's time source; tests inject their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls back once, after `delayMs`. May call back earlier if the delay exceeds the system's limit, so
   * callbacks must check the time. Returns a function that cancels.
   */
  after(delayMs: number, callback: () => void): () => void;
}

/** The system's clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(delayMs, longestTimerMs));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Node fires timers with longer delays immediately. */
const longestTimerMs = 2 ** 31 - 1;
