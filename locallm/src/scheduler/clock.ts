/** Time as the scheduler sees it, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once, not before `delayMs` have passed; the answer cancels. */
  after(delayMs: number, callback: () => void): () => void;
}

/** Timers never keep the process alive. */
export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(delayMs, longestTimerMs));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Node fires at once for longer delays; callbacks look at the time again. */
const longestTimerMs = 2 ** 31 - 1;
