import { describe, expect, it } from "vitest";
import { LocallmError } from "../wire/errors.ts";
import { engineWords, hostOf, mayRetryElsewhere } from "./failure.ts";

describe("mayRetryElsewhere", () => {
  it("retries failures that another replica may not have, but no rejected request and no answer that has begun", () => {
    const host = hostOf({ url: "http://gpu1:8000/v1" });
    const reason = "x";
    expect(mayRetryElsewhere(new LocallmError("remote_unreachable", { host, reason }))).toBe(true);
    expect(mayRetryElsewhere(new LocallmError("remote_refused", { host, reason }))).toBe(false);
    expect(mayRetryElsewhere(new LocallmError("remote_broke_off", { host, reason }))).toBe(false);
    expect(mayRetryElsewhere(new Error("remote_unreachable"))).toBe(false);
  });
});

describe("engineWords", () => {
  it("removes control characters and bounds the length without cutting a character in half", () => {
    expect(engineWords("a\u001b[31m\r\nb\u0000\u202e\u2028c")).toBe("a [31m b c");
    const long = engineWords("😀".repeat(1_000_000));
    expect(long.length).toBeLessThanOrEqual(300);
    expect(long.isWellFormed()).toBe(true);
  });
});
