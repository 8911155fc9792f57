import { describe, expect, it } from "vitest";
import { CoolDown } from "./cool-down.ts";

describe("CoolDown", () => {
  const error = new Error("bad tensor");
  const paused = () => {
    let nowMs = 0;
    const coolDown = new CoolDown({ now: () => nowMs, after: () => () => {} });
    const pass = (ms: number) => {
      nowMs += ms;
    };
    return { coolDown, pass };
  };

  it("pauses for 1 s, doubles the pause with each failure, up to 30 s", () => {
    const { coolDown, pass } = paused();
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      coolDown.fail("a", error);
      pass(seconds * 1000 - 1);
      expect([seconds, coolDown.error("a")]).toEqual([seconds, error]);
      expect(coolDown.error("b")).toBeUndefined();
      pass(1);
      expect(coolDown.error("a")).toBeUndefined();
    }
  });

  it("remembers a failure for 30 s after its pause", () => {
    const { coolDown, pass } = paused();
    coolDown.fail("a", error);
    pass(31_000);
    coolDown.fail("a", error);
    pass(1_999);
    expect(coolDown.error("a")).toBe(error);
  });

  it("resets after a successful load or a long time", () => {
    const { coolDown, pass } = paused();
    coolDown.fail("a", error);
    coolDown.fail("a", error);
    coolDown.clear("a");
    coolDown.fail("a", error);
    pass(1_000);
    expect(coolDown.error("a")).toBeUndefined();
    pass(30_001);
    coolDown.fail("b", error);
    coolDown.fail("a", error);
    pass(1_000);
    expect(coolDown.error("a")).toBeUndefined();
  });
});
