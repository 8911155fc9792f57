import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { requireModelName } from "../wire/model-name.ts";
import { modelTest, patternProblem } from "./model-patterns.ts";

const allows = (entries: string[], name: string) => modelTest(entries)(requireModelName(name));

test.each<[string[], string, boolean]>([
  [["qwen3"], "qwen3:latest", true],
  [["qwen3"], "QWEN3", true],
  [["qwen3"], "qwen3:8b", false],
  [["registry.ollama.ai/library/qwen3:8b"], "qwen3:8b", true],
  [["qwen3:*"], "qwen3:8b", true],
  [["qwen3:*"], "qwen33:8b", false],
  [["qwen3:*"], "evil.example/library/qwen3:8b", false],
  [["*"], "evil.example/a/b:c", true],
  [["team-a/*"], "team-a/x:1", true],
  [["team-a/*"], "Team-A/x:1", true],
  [["team-a/*"], "team-ab/x:1", false],
  [["*:8b", "small"], "small", true],
  [["*8b*8b"], "x8b:8b", true],
  [["*8b*8b"], "x:8b", false],
  [["a*a"], "a:a", true],
  [["a.*c"], "abc:latest", false],
  [["**"], "x", true],
  [["x*x:latest"], "x", false],
])("%j allows %s: %j", (entries, name, expected) => {
  expect(allows(entries, name)).toBe(expected);
});

describe("patternProblem", () => {
  it.each(["", " ", "a b", "a,b", "(a+)+*", "[a]*", "a*\n", "é*", "../*\0", `${"a".repeat(601)}*`])(
    "rejects %j",
    (text) => {
      expect(patternProblem(text)).toMatch(/^must /);
    },
  );

  it.each(["*", "a*", "host.example:5000/*/x:*", "qwen3", "hf.co/a/b:Q4"])("accepts %s", (text) => {
    expect(patternProblem(text)).toBeNull();
  });
});

it("agrees with a regular expression", () => {
  const part = fc.string({ unit: fc.constantFrom("a", "b", "*", ":", "-"), minLength: 1, maxLength: 12 });
  const name = fc
    .string({ unit: fc.constantFrom("a", "b", "-"), minLength: 1, maxLength: 12 })
    .filter((text) => text[0] !== "-");
  fc.assert(
    fc.property(
      part.filter((text) => text.includes("*")),
      name,
      (pattern, model) => {
        const source = pattern
          .split("*")
          .map((text) => RegExp.escape(text))
          .join(".*");
        expect(allows([pattern], model)).toBe(new RegExp(`^${source}$`).test(`${model}:latest`));
      },
    ),
    { numRuns: 500 },
  );
});

it("compares the longest name with the worst patterns in linear time", () => {
  const name = requireModelName(
    `${"a".repeat(300)}.example/${"a".repeat(80)}/${"a".repeat(80)}:${"a".repeat(80)}`,
  );
  const worst = Array.from({ length: 100 }, () => `${"*a".repeat(290)}*b`);
  const isAllowed = modelTest(worst);
  // As a regular expression, the first of these comparisons would not end.
  for (let repeat = 0; repeat < 20; repeat++) expect(isAllowed(name)).toBe(false);
});
