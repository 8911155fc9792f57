import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maxJsonDepth, maxJsonValues, parseJson } from "./json.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("parseJson", () => {
  it("parses any valid JSON", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJson(bytes(text))).toEqual(JSON.parse(text));
      }),
      { seed: 3 },
    );
  });

  it.each([
    ['{"model": ', "invalid JSON: the text ends too early"],
    ["{]", /^invalid JSON: unexpected text at position 1/],
    ["{'a':1}", /^invalid JSON: unexpected text/],
    ["secret", "invalid JSON: unexpected text"],
    ['{"__proto__":{"a":1}}', 'invalid JSON: the key "__proto__" is not allowed'],
    ['{"a":[{"\\u005f_proto__":1}]}', 'invalid JSON: the key "__proto__" is not allowed'],
    ["[".repeat(maxJsonDepth + 1), "invalid JSON: nested deeper than 128 levels"],
    [`[${"1,".repeat(maxJsonValues)}1]`, "invalid JSON: more than 200000 values"],
    [`[${"{},".repeat(maxJsonValues / 3)}1]`, "an object or an array counts as three"],
  ])("rejects %s", (text, message) => {
    expect(() => parseJson(bytes(text))).toThrow(message);
    expect(() => parseJson(bytes(text))).not.toThrow(/secret/);
  });

  it("rejects bytes that are not UTF-8", () => {
    expect(() => parseJson(new Uint8Array([0x22, 0xff, 0x22]))).toThrow("not valid UTF-8");
  });

  it.each([0, 1, 2, 3, 4, 5])("finds the end of a string that ends with %d backslashes", (count) => {
    const brackets = "[".repeat(maxJsonDepth + 1);
    const text = `["${"\\".repeat(count)}",${brackets}`;
    // After an odd number of backslashes the quote is escaped, so the brackets belong to the string.
    const problem = count % 2 === 0 ? /nested deeper/ : /ends too early/;
    expect(() => parseJson(bytes(text))).toThrow(problem);
  });

  it("ignores brackets in strings and takes the last of equal keys", () => {
    expect(parseJson(bytes(JSON.stringify('\\"['.repeat(500))))).toBe('\\"['.repeat(500));
    const commas = ",".repeat(maxJsonValues + 1);
    expect(parseJson(bytes(JSON.stringify(commas)))).toBe(commas);
    expect(parseJson(bytes('{"a":1,"a":2}'))).toEqual({ a: 2 });
    expect(parseJson(bytes('{"a":"__proto__","constructor":1}'))).toEqual({ a: "__proto__", constructor: 1 });
  });
});
