import { LocallmError } from "../wire/errors.ts";
import type { ApiKey } from "./api-key.ts";

/** The times that limits need. */
export interface KeyClock {
  /** Milliseconds since the epoch. The system may set it back or forward. */
  now(): number;
  /** Milliseconds since some moment. It never goes back. */
  elapsed(): number;
}

export const systemKeyClock: KeyClock = { now: () => Date.now(), elapsed: () => performance.now() };

export interface Counts {
  readonly requests: number;
  readonly promptTokens: number;
  readonly generatedTokens: number;
}

/** What one key has used, in a form that can be stored. */
export interface UsageRecord {
  /** The UTC day of `today`, as `2026-11-22`. */
  readonly day: string;
  readonly today: Counts;
  readonly total: Counts;
  /** Milliseconds since the epoch; null before the first request. */
  readonly lastUsed: number | null;
}

export type Limits = Pick<ApiKey, "requests_per_minute" | "tokens_per_day">;

const none: Counts = { requests: 0, promptTokens: 0, generatedTokens: 0 };
export const unused: UsageRecord = { day: "1970-01-01", today: none, total: none, lastUsed: null };

export const minuteMs = 60_000;
const dayMs = 86_400_000;

/**
 * Counts what one key uses, and refuses requests over its limits. Tokens count as soon as they are known, so
 * that concurrent requests see each other's tokens.
 */
export class Usage {
  readonly #clock: KeyClock;
  #day: number;
  readonly #today: Mutable<Counts>;
  readonly #total: Mutable<Counts>;
  #lastUsed: number | null;
  /** When the requests of the last minute were admitted, oldest first, from `#oldest` on. */
  #admitted: number[] = [];
  #oldest = 0;

  constructor(clock: KeyClock, record: UsageRecord = unused) {
    this.#clock = clock;
    this.#day = Date.parse(record.day) / dayMs;
    this.#today = { ...record.today };
    this.#total = { ...record.total };
    this.#lastUsed = record.lastUsed;
  }

  /** Counts a request. Throws `key_rate_exceeded` or `key_tokens_used_up`; a refused request does not count. */
  admit(limits: Limits): void {
    this.requireTokens(limits);
    const most = limits.requests_per_minute;
    if (most !== null) this.#admitInMinute(most);
    this.#startDay();
    this.#today.requests += 1;
    this.#total.requests += 1;
    this.#lastUsed = this.#clock.now();
  }

  /** Throws `key_tokens_used_up` if no token is left today. */
  requireTokens({ tokens_per_day: most }: Limits): void {
    if (most === null || this.tokensLeft(most) > 0) return;
    const seconds = Math.max(1, Math.ceil(((this.#day + 1) * dayMs - this.#clock.now()) / 1000));
    throw new LocallmError("key_tokens_used_up", { limit: most, retryAfterSeconds: seconds });
  }

  tokensLeft(most: number): number {
    this.#startDay();
    return Math.max(0, most - this.#today.promptTokens - this.#today.generatedTokens);
  }

  count(promptTokens: number, generatedTokens: number): void {
    this.#startDay();
    for (const counts of [this.#today, this.#total]) {
      counts.promptTokens += promptTokens;
      counts.generatedTokens += generatedTokens;
    }
  }

  get record(): UsageRecord {
    this.#startDay();
    const day = new Date(this.#day * dayMs).toISOString().slice(0, 10);
    return { day, today: { ...this.#today }, total: { ...this.#total }, lastUsed: this.#lastUsed };
  }

  /** In any 60 seconds, at most `most` requests are admitted. */
  #admitInMinute(most: number): void {
    const now = this.#clock.elapsed();
    while (this.#oldest < this.#admitted.length && this.#admitted[this.#oldest]! <= now - minuteMs)
      this.#oldest += 1;
    if (this.#oldest > this.#admitted.length / 2) {
      this.#admitted = this.#admitted.slice(this.#oldest);
      this.#oldest = 0;
    }
    const count = this.#admitted.length - this.#oldest;
    if (count >= most) {
      // If the limit was lowered, the request that must leave the minute is not the oldest one.
      const leaving = this.#admitted[this.#admitted.length - most]!;
      const seconds = Math.max(1, Math.ceil((leaving + minuteMs - now) / 1000));
      throw new LocallmError("key_rate_exceeded", { limit: most, retryAfterSeconds: seconds });
    }
    this.#admitted.push(now);
  }

  /**
   * Starts a new UTC day. If the clock was set back by a few minutes around midnight, the day stays, so that nobody
   * gets its tokens twice; if by more than a day, the earlier days were wrong.
   */
  #startDay(): void {
    const day = Math.floor(this.#clock.now() / dayMs);
    if (day === this.#day || day === this.#day - 1) return;
    this.#day = day;
    Object.assign(this.#today, none);
  }
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };
