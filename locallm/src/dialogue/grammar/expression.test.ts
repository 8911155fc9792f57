import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Budget, type BudgetSpent } from "./budget.ts";
import { ExpressionError, readExpression } from "./expression.ts";
import { everything, Language, languageOf, lengthsFrom, textsOf } from "./language.ts";

const budget = () => new Budget(3_000_000);
const whole = (source: string) => languageOf(readExpression(source, budget()), true, budget());
const found = (source: string) => languageOf(readExpression(source, budget()), false, budget());

/** Compares with the engine's own expressions. */
function differences(source: string, texts: readonly string[]): string[] {
  const isFound = new RegExp(source, "u");
  const isWhole = new RegExp(`^(?:${source})$`, "u");
  const [inside, exactly] = [found(source), whole(source)];
  const outside = inside.not(budget());
  return texts.flatMap((text) => {
    const said = [inside.has(text), outside.has(text), exactly.has(text)];
    const meant = [isFound.test(text), !isFound.test(text), isWhole.test(text)];
    return said.join() === meant.join() ? [] : [`${JSON.stringify(text)}: ${said}`];
  });
}

const chars = [
  ..."abcxyzABZ019_-. \t\n\r\f\v\0\b\u0001/[]^$|(){}*+?\\é🙂中\u00a0\u2028\u3000\ufeff\u{10ffff}",
];
const texts = [
  ...["", ...chars],
  ...["ab", "ba", "aa", "bb", "aab", "aba", "abab", "aaa", "aaaa", "a-", "a1", "a\nb", "🙂🙂", "a{x", "xaby"],
];

test.each([
  ...[
    "a",
    "ab",
    "a|b",
    "|a",
    "(a|b)c?",
    "(?:a)",
    "(?<name>a)b",
    "()",
    "",
    "a*",
    "a+",
    "a?",
    "a*?b",
    "a+?",
    "a??",
  ],
  ...["a{2}", "a{2,}", "a{1,2}", "a{0,1}b", "a{0}", "a{2}?", "(ab){2}", "(a*)*", "(a|ab)(b|)"],
  ...["^a", "a$", "^$", "^a$|b", "^^a$$", "(^a|b$)", "a|^", "^(?=a)", "^(?!a)", "^(?=.*b)(?!b)a", "^(?=a$)"],
  ...[
    ".",
    "\\d",
    "\\D",
    "\\w",
    "\\W",
    "\\s",
    "\\S",
    "\\n",
    "\\r",
    "\\t",
    "\\f",
    "\\v",
    "\\0",
    "\\cA",
    "\\ca",
  ],
  ...["\\x41", "\\u0041", "\\u{1F642}", "\\ud83d\\ude42", "\\uD83D\\uDE42", "\\ud800\\udc00", "\\p{L}"],
  ...["\\/", "\\.", "\\[", "\\\\", "\\^", "\\$", "\\|", "\\{", "\\}", "\\(", "\\)", "\\*", "\\+", "\\?"],
  ...[
    "[ab]",
    "[^ab]",
    "[a-c]",
    "[^a-c]",
    "[a-]",
    "[-a]",
    "[\\d]",
    "[\\w-]",
    "[^\\s]",
    "[\\b]",
    "[\\]]",
    "[\\^a]",
  ],
  ...[
    "[a-ce-z]",
    "[^\\x00-\\x1f]",
    "[\\u{1F600}-\\u{1F64F}]",
    "[c-ea-d]",
    "[\\n\\t]",
    "[a^]",
    "[^^]",
    "[]",
    "[^]",
  ],
])("%s matches what it matches elsewhere", (source) => {
  expect(differences(source, texts)).toEqual([]);
});

test("any expression of a few parts matches what it matches elsewhere", () => {
  const { expression } = fc.letrec<{ expression: string; part: string }>((tie) => ({
    part: fc.oneof(
      { maxDepth: 3, depthIdentifier: "part" },
      fc.constantFrom("a", "b", "[ab]", "[^a]", ".", "\\w", "\\n", "^", "$", "[^\\n-]"),
      tie("expression").map((inner) => `(${inner})`),
    ),
    expression: fc
      .array(
        fc.array(
          fc.tuple(tie("part"), fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?")),
          {
            maxLength: 3,
          },
        ),
        { minLength: 1, maxLength: 2 },
      )
      .map((choices) =>
        choices
          .map((parts) => parts.map(([part, times]) => part + (/^[$^]$/.test(part) ? "" : times)).join(""))
          .join("|"),
      ),
  }));
  const text = fc
    .array(fc.constantFrom("a", "b", "\n", "-", "é"), { maxLength: 5 })
    .map((each) => each.join(""));
  fc.assert(
    fc.property(expression, fc.array(text, { minLength: 4, maxLength: 8 }), (source, some) => {
      // A group that is nothing but an end of the text cannot be repeated.
      fc.pre(!/\([\^$]\)/.test(source));
      expect(differences(source, some)).toEqual([]);
    }),
    { seed: 11, numRuns: 150 },
  );
});

test.each(["{", "a{", "{}", "{,2}", "a{x}", "{a}*", "a{2}{"])(
  "braces without a number are text: %s",
  (source) => {
    // The flag u would refuse them.
    const meant = new RegExp(`^(?:${source})$`);
    const text = source.replace("a{2}", "aa").replace("*", "");
    expect(meant.test(text)).toBe(true);
    expect([text, "", "a"].map((each) => whole(source).has(each))).toEqual(
      [text, "", "a"].map((each) => meant.test(each)),
    );
  },
);

describe("refused", () => {
  const refuses = (source: string, read: (source: string) => unknown = whole) => {
    try {
      read(source);
      return false;
    } catch (error) {
      if (error instanceof ExpressionError) return true;
      throw error;
    }
  };

  test.each([
    ...["(?<=a)b", "(?<!a)b", "(?i)a", "(?", "(", "(a", "a)", ")", "*", "+a", "?", "a**", "[", "[a", "[^"],
    ...[
      "a{2}{3}",
      "a*{2}",
      "{2}",
      "{0,}a",
      "a|{1,2}",
      "({3})",
      "^{2}",
      "(?=a){2}",
      "a{1000000000000000000000}",
    ],
    ...[
      "\\",
      "a\\",
      "[\\",
      "\\1",
      "\\k",
      "\\q",
      "\\b",
      "\\B",
      "\\x4",
      "\\x4g",
      "\\u004",
      "\\u{110000}",
      "\\u{}",
    ],
    ...[
      "\\ud800",
      "\\ud800a",
      "\\udfff",
      "\\p",
      "\\p{Nope}",
      "\\pL",
      "[b-a]",
      "a{2,1}",
      "a{20001}",
      "a{1,20001}",
    ],
    ...["a(?=b)", "(?=a)b", "^a(?!b)"],
  ])("%s", (source) => {
    expect(refuses(source)).toBe(true);
  });

  test.each(["a{", "a{x", "a{,2}", "a{1,20000}b{20000}", "\\ue000", "\\u{10FFFF}", "\\ud7ff", "[a-\\d]"])(
    "not %s",
    (source) => {
      expect(refuses(source, (text) => readExpression(text, budget()))).toBe(false);
    },
  );

  test("what is too long or too deep, and nothing shorter", () => {
    const read = (source: string) => readExpression(source, budget());
    const nested = (depth: number) => "(".repeat(depth) + ")".repeat(depth);
    const all = ["x".repeat(20_000), "x".repeat(20_001), nested(99), nested(100), "()".repeat(200)];
    expect(all.map((source) => refuses(source, read))).toEqual([false, true, false, true, false]);
  });

  test("what needs too many states, and nothing smaller", () => {
    expect(["a{2999}", "a{3000}", "a{20000}"].map((source) => refuses(source))).toEqual([false, true, true]);
    const lengths = (least: number, most: number) => refuses("", () => lengthsFrom(least, most, budget()));
    expect([lengths(3000, Infinity), lengths(3001, Infinity), lengths(0, 3000), lengths(0, 3001)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
    const and = (most: number) => refuses("", () => lengthsFrom(0, most, budget()).and(everything, budget()));
    expect([and(2999), and(3000)]).toEqual([false, true]);
  });
});

test("sets of texts and of lengths", () => {
  const some = textsOf(["", "a", "ab", "b🙂", "a"], budget());
  expect(["", "a", "ab", "b", "b🙂", "aa", "abc"].map((text) => some.has(text))).toEqual([
    ...[true, true, true, false, true, false, false],
  ]);
  const has = (least: number, most: number) =>
    ["", "a", "🙂🙂", "aaa", "aaaa"].map((text) => lengthsFrom(least, most, budget()).has(text));
  expect([has(2, 3), has(2, Infinity), has(0, 0)]).toEqual([
    [false, false, true, true, false],
    [false, false, true, true, true],
    [true, false, false, false, false],
  ]);
  expect(some.and(whole("b"), budget()).isEmpty).toBe(true);
  expect(everything.not(budget()).isEmpty).toBe(true);
  expect(new Language([[]], [true]).and(whole("a*"), budget()).has("")).toBe(true);
});

test("a budget is spent after its very last step, and a part of it says so", () => {
  const all = new Budget(3);
  const part = all.part(2);
  part.spend(2);
  const isPart = (spend: () => void) => {
    try {
      spend();
      return null;
    } catch (error) {
      return (error as BudgetSpent).isPart;
    }
  };
  expect([
    isPart(() => all.spend(1)),
    isPart(() => all.spend(1)),
    isPart(() => new Budget(9).part(1).spend(2)),
  ]).toEqual([null, false, true]);
});
