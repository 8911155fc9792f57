import { describe, expect, it } from "vitest";
import { ManualClock } from "../../test/manual-clock.ts";
import { Breaker } from "./breaker.ts";

describe("Breaker", () => {
  it("opens after one certain failure, or after three others in a row", async () => {
    const certain = new Breaker(new ManualClock());
    certain.fail(true);
    expect([certain.state, certain.admits]).toEqual(["open", false]);
    const other = new Breaker(new ManualClock());
    for (const happening of ["fail", "fail", "succeed", "fail", "fail"] as const) {
      if (happening === "fail") other.fail(false);
      else other.succeed();
      expect(other.state).toBe("closed");
    }
    other.fail(false);
    expect(other.state).toBe("open");
  });

  it("admits one trial when its pause ends, and doubles the pause with each failed trial, up to 30 s", async () => {
    const clock = new ManualClock();
    const breaker = new Breaker(clock);
    breaker.fail(true);
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      expect([seconds, breaker.pauseMs]).toEqual([seconds, seconds * 1000]);
      await clock.pass(seconds * 1000 - 1);
      expect([breaker.state, breaker.start()]).toEqual(["open", false]);
      await clock.pass(1);
      expect([breaker.state, breaker.admits, breaker.start()]).toEqual(["half-open", true, true]);
      expect([breaker.admits, breaker.start()]).toEqual([false, false]);
      breaker.fail(false);
      breaker.endTrial();
    }
    await clock.pass(30_000);
    breaker.start();
    breaker.succeed();
    breaker.endTrial();
    breaker.fail(true);
    expect(breaker.pauseMs).toBe(1_000);
  });

  it("admits another trial after one without an outcome", async () => {
    const clock = new ManualClock();
    const breaker = new Breaker(clock);
    breaker.fail(true);
    await clock.pass(1_000);
    breaker.start();
    breaker.endTrial();
    expect([breaker.state, breaker.start()]).toEqual(["half-open", true]);
  });

  it("does not prolong its pause for requests that started before it opened", async () => {
    const clock = new ManualClock();
    const breaker = new Breaker(clock);
    for (let count = 0; count < 10; count++) breaker.fail(true);
    await clock.pass(1_000);
    expect(breaker.state).toBe("half-open");
  });

  it("ends its pause when a probe finds the engine healthy, but stays half-open", async () => {
    const clock = new ManualClock();
    const breaker = new Breaker(clock);
    breaker.allowTrial();
    expect(breaker.state).toBe("closed");
    breaker.fail(true);
    breaker.allowTrial();
    expect(breaker.state).toBe("half-open");
  });
});
