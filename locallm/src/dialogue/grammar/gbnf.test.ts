import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseGbnf } from "../../../test/gbnf.ts";
import { anyOf, charClass, literal, plainChars, Rules, repeat, upToText } from "./gbnf.ts";

const range = (from: string | number, to: string | number = from) => {
  const code = (one: string | number) => (typeof one === "number" ? one : one.codePointAt(0)!);
  return { from: code(from), to: code(to) };
};

describe("bodies", () => {
  test("of texts have what the notation needs escaped", () => {
    expect(literal("")).toBe('""');
    expect(literal('a"\\b\n')).toBe('"a\\"\\\\b\\n"');
    expect(literal("\u0000\u001f\u007f\t")).toBe('"\\x00\\x1F\\x7F\\x09"');
    expect(literal(" é中🙂~")).toBe('" é中🙂~"');
  });

  test("of characters are as short as their codes", () => {
    expect(charClass([range("a", "z"), range("7"), range(" "), range("-")])).toBe("[a-z7 \\x2D]");
    expect(charClass([range(0xff), range(0x100), range(0xffff), range(0x10000, 0x10ffff)])).toBe(
      "[\\xFF\\u0100\\uFFFF\\U00010000-\\U0010FFFF]",
    );
    expect(charClass([range("^"), range("]")], true)).toBe("[^\\x5E\\x5D]");
    expect(plainChars([range('"')])).toBe('"\\""');
    expect(plainChars([range("a", "b")])).toBe("[a-b]");
    expect(plainChars([range("a"), range("c")])).toBe("[ac]");
  });

  test("of repetitions and choices are the simplest ones", () => {
    const bounds = [
      [0, 0],
      [0, 1],
      [1, 1],
      [0, 2],
      [1, 2],
      [3, 3],
    ] as const;
    expect(bounds.map(([least, most]) => repeat("x y", least, most))).toEqual([
      ...['""', "(x y)?", "x y", "(x y){0,2}", "(x y){1,2}", "(x y){3,3}"],
    ]);
    expect([anyOf(["a"]), anyOf(["a", "a"]), anyOf(["b", "a", "b"])]).toEqual(["a", "a", "(b | a)"]);
  });
});

describe("rules", () => {
  test("with the same body are one, and each name is one of the notation's", () => {
    const rules = new Rules();
    expect(rules.add("Größe (cm)", "a")).toBe("gr-e-cm");
    expect(rules.add("other", "a")).toBe("gr-e-cm");
    expect(rules.add("Größe (cm)", "b")).toBe("gr-e-cm-2");
    expect(rules.reserve("Größe (cm)")).toBe("gr-e-cm-3");
    expect(rules.reserve("root")).toBe("root-2");
    expect(rules.reserve("!!")).toBe("rule");
    expect(rules.reserve("x".repeat(30))).toBe("x".repeat(24));
    expect(rules.count).toBe(6);
    expect(rules.size).toBe("gr-e-cm".length + 1 + "gr-e-cm-2".length + 1);
    expect(rules.print("gr-e-cm")).toMatch(/^root ::= gr-e-cm\ngr-e-cm ::= a\ngr-e-cm-2 ::= b\n/);
  });

  test("that are expensive are made once for a key", () => {
    const rules = new Rules();
    let made = 0;
    const make = () => `body ${++made}`;
    expect([rules.once("k", make), rules.once("k", make), rules.once("l", make)]).toEqual(["k", "k", "l"]);
    expect(made).toBe(2);
  });

  test("of another grammar are taken over, and the first of equal ones is used again", () => {
    const [one, other] = [new Rules(), new Rules()];
    one.add("a", "x");
    one.define(one.reserve("b"), "x");
    other.take(one.entries());
    expect(other.add("c", "x")).toBe("a");
    expect(other.add("a", "y")).toBe("a-2");
    expect(other.entries()).toEqual([
      ["a", "x"],
      ["b", "x"],
      ["a-2", "y"],
    ]);
  });
});

test("a text up to its first end is allowed, and nothing shorter or longer, whatever repeats in the end", () => {
  const letters = (least: number, most: number) =>
    fc
      .array(fc.constantFrom("a", "b", "é"), { minLength: least, maxLength: most })
      .map((all) => all.join(""));
  fc.assert(
    fc.property(letters(1, 5), letters(0, 9), (end, before) => {
      const rules = new Rules();
      const grammar = parseGbnf(rules.print(upToText(rules, "end", end)));
      for (const text of [before, before + end, before + end + end[0]])
        expect([end, text, grammar.accepts(text)]).toEqual([
          end,
          text,
          text.indexOf(end) === text.length - end.length && text.includes(end),
        ]);
    }),
    { seed: 41, numRuns: 150 },
  );
});
