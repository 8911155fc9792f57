import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LocallmError } from "../wire/errors.ts";
import { type KeyClock, minuteMs, Usage } from "./usage.ts";

const dayMs = 86_400_000;
const midnight = Date.UTC(2026, 10, 23);

class Clock implements KeyClock {
  wall = midnight - dayMs / 2;
  passed = 0;
  now = () => this.wall;
  elapsed = () => this.passed;
  pass(ms: number) {
    this.wall += ms;
    this.passed += ms;
  }
}

const limits = (requests: number | null, tokens: number | null) => ({
  requests_per_minute: requests,
  tokens_per_day: tokens,
});
const refusal = (act: () => void) => {
  try {
    act();
    return null;
  } catch (error) {
    return error as LocallmError;
  }
};

describe("requests per minute", () => {
  it("never admits more than the limit in any 60 seconds, and admits again at the time it names", () => {
    const steps = fc.array(fc.nat({ max: 20_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), steps, (most, waits) => {
        const clock = new Clock();
        const usage = new Usage(clock);
        const admitted: number[] = [];
        for (const wait of waits) {
          clock.pass(wait);
          const error = refusal(() => usage.admit(limits(most, null)));
          const inMinute = admitted.filter((at) => at > clock.passed - minuteMs);
          expect(error === null).toBe(inMinute.length < most);
          if (error === null) admitted.push(clock.passed);
          else {
            const seconds = Number(error.details["retryAfterSeconds"]);
            const leaving = inMinute[inMinute.length - most]!;
            expect(clock.passed + seconds * 1000).toBeGreaterThanOrEqual(leaving + minuteMs);
            expect(clock.passed + (seconds - 1) * 1000).toBeLessThan(leaving + minuteMs);
          }
        }
        expect(usage.record.today.requests).toBe(admitted.length);
      }),
    );
  });

  it("does not depend on the system's time", () => {
    const clock = new Clock();
    const usage = new Usage(clock);
    usage.admit(limits(1, null));
    clock.wall -= 365 * dayMs;
    expect(refusal(() => usage.admit(limits(1, null)))?.code).toBe("key_rate_exceeded");
    clock.pass(minuteMs);
    usage.admit(limits(1, null));
  });
});

describe("tokens per day", () => {
  it("admits a request exactly while a token is left, and counts everything", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("pass" as const), ms: fc.nat({ max: dayMs }) }),
      fc.record({ kind: fc.constant("count" as const), prompt: fc.nat(50), generated: fc.nat(50) }),
      fc.record({ kind: fc.constant("ask" as const) }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.array(step, { maxLength: 100 }), (most, steps) => {
        const clock = new Clock();
        const usage = new Usage(clock);
        const days = new Map<number, number>();
        let total = 0;
        for (const one of steps) {
          const day = () => Math.floor(clock.wall / dayMs);
          if (one.kind === "pass") clock.pass(one.ms);
          if (one.kind === "count") {
            usage.count(one.prompt, one.generated);
            total += one.prompt + one.generated;
            days.set(day(), (days.get(day()) ?? 0) + one.prompt + one.generated);
          }
          const used = days.get(day()) ?? 0;
          const error = refusal(() => usage.requireTokens(limits(null, most)));
          expect(error === null).toBe(used < most);
          expect(usage.tokensLeft(most)).toBe(Math.max(0, most - used));
          if (error !== null) {
            const untilMidnight = (day() + 1) * dayMs - clock.wall;
            expect(error.details["retryAfterSeconds"]).toBe(Math.ceil(untilMidnight / 1000));
          }
        }
        const { promptTokens, generatedTokens } = usage.record.total;
        expect(promptTokens + generatedTokens).toBe(total);
      }),
    );
  });

  it("continues where a stored record ended", () => {
    const clock = new Clock();
    const usage = new Usage(clock);
    usage.admit(limits(null, 10));
    usage.count(3, 7);
    const restored = new Usage(clock, usage.record);
    expect(refusal(() => restored.admit(limits(null, 10)))?.code).toBe("key_tokens_used_up");
    expect(restored.record).toEqual(usage.record);
    clock.pass(dayMs);
    restored.admit(limits(null, 10));
  });

  it("never gives a key its tokens twice when the clock is set back over midnight, and recovers from a wrong year", () => {
    const clock = new Clock();
    const usage = new Usage(clock);
    const isUsedUp = () =>
      refusal(() => usage.requireTokens(limits(null, 10)))?.code === "key_tokens_used_up";
    clock.wall = midnight + 1;
    usage.count(10, 0);
    clock.wall = midnight - 1;
    expect(isUsedUp()).toBe(true);
    clock.wall = Date.UTC(2099, 0, 1);
    usage.count(10, 0);
    expect(isUsedUp()).toBe(true);
    clock.wall = midnight;
    expect(isUsedUp()).toBe(false);
  });
});
