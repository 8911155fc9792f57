import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  defaultModelName,
  displayModelName,
  fullModelName,
  modelNameKey,
  parseModelName,
  requireModelName,
} from "./model-name.ts";

const { host, namespace, tag } = defaultModelName;

describe("parseModelName", () => {
  it.each([
    ["m", { host, namespace, model: "m", tag }],
    ["m:7b-q4_0", { host, namespace, model: "m", tag: "7b-q4_0" }],
    ["user/m", { host, namespace: "user", model: "m", tag }],
    ["localhost:5000/user/m:t", { host: "localhost:5000", namespace: "user", model: "m", tag: "t" }],
    ["_a.b-c:1.5", { host, namespace, model: "_a.b-c", tag: "1.5" }],
    ["MixedCase:Tag", { host, namespace, model: "MixedCase", tag: "Tag" }],
  ])("reads %s", (text, parts) => {
    expect(parseModelName(text)).toEqual({ scheme: null, ...parts });
  });

  it("keeps the scheme apart from the host", () => {
    expect(parseModelName("http://localhost:5000/u/m")).toMatchObject({
      scheme: "http",
      host: "localhost:5000",
    });
    expect(parseModelName("ftp://h/u/m")).toBeNull();
  });

  it.each([
    "",
    " m",
    "a/",
    "/a",
    "m:",
    ":t",
    "a//b",
    "a/b/c/d",
    "bad name!",
    "m@sha256:abc",
    "-m",
    ".m",
    "../m",
    "na.me/m",
    "m:t:u",
    "m\0",
    "mödel",
    "m\n",
    `${"x".repeat(81)}`,
    `m:${"x".repeat(81)}`,
    `${"x".repeat(81)}/m`,
    `${"x".repeat(351)}/u/m`,
  ])("rejects %j", (text) => {
    expect(parseModelName(text)).toBeNull();
  });

  it("accepts parts of the maximum length", () => {
    const longest = `https://${"h".repeat(350)}/${"n".repeat(80)}/${"m".repeat(80)}:${"t".repeat(80)}`;
    expect(parseModelName(longest)?.host).toHaveLength(350);
  });
});

const part = (rest: string, max: number) =>
  fc
    .tuple(
      fc.constantFrom(..."abzAZ09_"),
      fc.string({ unit: fc.constantFrom(..."abzAZ09_-", ...rest), maxLength: max - 1 }),
    )
    .map((pieces) => pieces.join(""));
const name = fc.record({
  scheme: fc.constant(null),
  host: fc.oneof(fc.constant(host), part(".:", 350)),
  namespace: fc.oneof(fc.constant(namespace), part("", 80)),
  model: part(".", 80),
  tag: part(".", 80),
});

describe("displayModelName", () => {
  it("parses back to the same name, like the full form", () => {
    fc.assert(
      fc.property(name, (given) => {
        expect(parseModelName(fullModelName(given))).toEqual(given);
        const shown = parseModelName(displayModelName(given));
        expect(shown && modelNameKey(shown)).toBe(modelNameKey(given));
      }),
      { seed: 1 },
    );
  });

  it.each([
    ["m", "m:latest"],
    ["library/m:t", "m:t"],
    ["REGISTRY.ollama.ai/Library/m", "m:latest"],
    ["u/m", "u/m:latest"],
    ["h.example/library/m", "h.example/library/m:latest"],
  ])("shows %s as %s", (text, shown) => {
    expect(displayModelName(requireModelName(text))).toBe(shown);
  });
});

describe("requireModelName", () => {
  it("reports a missing and an invalid name", () => {
    expect(() => requireModelName("")).toThrow("model is required");
    expect(() => requireModelName(undefined)).toThrow("model is required");
    expect(() => requireModelName("bad name!")).toThrow("invalid model name");
  });
});
