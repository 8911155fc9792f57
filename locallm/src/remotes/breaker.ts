import type { Clock } from "../scheduler/clock.ts";

export type BreakerState = "closed" | "open" | "half-open";

/**
 * Stops requests to an engine that fails. It opens after one certain failure, or after several others in a
 * row. When its pause ends it is half-open: one request tries the engine, and its outcome closes or reopens
 * it.
 */
export class Breaker {
  readonly #clock: Clock;
  #failures = 0;
  /** How often it opened since it was last closed. */
  #times = 0;
  /** Null while it is closed. */
  #openUntilMs: number | null = null;
  #isTried = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get state(): BreakerState {
    if (this.#openUntilMs === null) return "closed";
    return this.#clock.now() < this.#openUntilMs ? "open" : "half-open";
  }

  /** Whether a request may start now. */
  get admits(): boolean {
    const { state } = this;
    return state === "closed" || (state === "half-open" && !this.#isTried);
  }

  /** Milliseconds until a request may try the engine; 0 unless it is open. */
  get pauseMs(): number {
    return Math.max(0, (this.#openUntilMs ?? 0) - this.#clock.now());
  }

  /** Called when a request starts. Returns whether it is the trial; then `endTrial` must follow. */
  start(): boolean {
    if (this.state !== "half-open" || this.#isTried) return false;
    this.#isTried = true;
    return true;
  }

  /** Called when a trial has ended, with or without an outcome. */
  endTrial(): void {
    this.#isTried = false;
  }

  succeed(): void {
    this.#failures = 0;
    this.#times = 0;
    this.#openUntilMs = null;
  }

  /** `isCertain`: further requests would fail as well, so one failure is enough. */
  fail(isCertain: boolean): void {
    const { state } = this;
    // Requests that started before it opened say nothing new.
    if (state === "open") return;
    this.#failures++;
    if (state === "closed" && !isCertain && this.#failures < failuresToOpen) return;
    this.#openUntilMs = this.#clock.now() + Math.min(firstPauseMs * 2 ** this.#times, longestPauseMs);
    this.#times++;
  }

  /** Ends the pause, because a probe found the engine healthy. */
  allowTrial(): void {
    if (this.#openUntilMs !== null) this.#openUntilMs = Math.min(this.#openUntilMs, this.#clock.now());
  }
}

const failuresToOpen = 3;
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
