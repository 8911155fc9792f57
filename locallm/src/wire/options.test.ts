import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  checkOption,
  isOptionName,
  mergeOptions,
  modelOptions,
  type OptionName,
  type OptionRule,
  optionDefaults,
  optionRules,
  parseOptions,
  parseOptionText,
} from "./options.ts";

const names = Object.keys(optionRules) as OptionName[];
const numeric = names.filter((name) => "min" in optionRules[name] && optionRules[name].type !== "biases");

describe("parseOptions", () => {
  it("returns valid options, drops nulls and lists unknown names", () => {
    const given = JSON.parse('{"temperature":0,"stop":["a"],"seed":null,"nonsense":1,"constructor":2}');
    expect(parseOptions(given)).toEqual({
      options: { temperature: 0, stop: ["a"] },
      unknown: ["nonsense", "constructor"],
    });
  });

  it.each([
    ["num_ctx", "4096", 'option "num_ctx" must be of type integer'],
    ["num_ctx", 0, 'option "num_ctx" must be between 1 and 2147483647'],
    ["num_ctx", 2 ** 31, 'option "num_ctx" must be between 1 and 2147483647'],
    ["num_ctx", 1e308, 'option "num_ctx" must be between 1 and 2147483647'],
    ["num_ctx", 5.5, 'option "num_ctx" must be of type integer'],
    ["num_ctx", Number.NaN, 'option "num_ctx" must be of type integer'],
    ["num_batch", 0, 'option "num_batch" must be between 1 and 65536'],
    ["num_predict", -3, 'option "num_predict" must be between -2 and 2147483647'],
    ["temperature", "hot", 'option "temperature" must be of type number'],
    ["temperature", -0.1, 'option "temperature" must be between 0 and 2'],
    ["temperature", 2.1, 'option "temperature" must be between 0 and 2'],
    ["top_p", 7, 'option "top_p" must be between 0 and 1'],
    ["use_mmap", 1, 'option "use_mmap" must be of type boolean'],
    ["stop", 1, 'option "stop" must be of type array of strings'],
    ["seed", 1.5, 'option "seed" must be of type integer'],
    ["seed", 2 ** 64, /"seed" must be between/],
    ["repeat_penalty", -0.01, 'option "repeat_penalty" must be between 0 and 10'],
    ["stop", [1], 'option "stop" must be of type array of strings'],
    ["stop", Array(65).fill("x"), /at most 64 strings/],
    ["stop", ["x".repeat(1025)], /at most 1024 characters/],
    ["logit_bias", [1], 'option "logit_bias" must be of type object of numbers by token id'],
    ["logit_bias", { x: 1 }, 'option "logit_bias" must be of type object of numbers by token id'],
    ["logit_bias", { "5": 101 }, 'option "logit_bias" must be between -100 and 100'],
  ])("rejects %s = %j", (name, value, message) => {
    expect(() => parseOptions({ [name]: value })).toThrow(message);
  });

  it.each(names)("rejects every other type for %s and names the expected one", (name) => {
    const { type } = optionRules[name] as OptionRule;
    const words = {
      ...{ strings: "array of strings", biases: "object of numbers by token id" },
      adapters: "array of at most 64 objects",
      shares: "list of at most 16 numbers",
    };
    const wanted = type in words ? words[type as keyof typeof words] : type;
    const values: [value: unknown, ...types: OptionRule["type"][]][] = [
      [1, "integer", "number"],
      [true, "boolean"],
      [["x"], "strings"],
      ["1", "strings"],
      [{ "1": 1 }, "biases"],
      [[{ id: 0, scale: -0.5 }], "adapters"],
      [[{ id: 0, scale: 101 }]],
      [[1], "shares"],
      [[0]],
      [[1, -1]],
      [{ x: "y" }],
      [Number.NaN],
    ];
    for (const [value, ...types] of values) {
      if (types.includes(type))
        expect(checkOption(name, value)).toEqual(type === "strings" ? [value].flat() : value);
      else expect(() => checkOption(name, value)).toThrow(`option "${name}" must be of type ${wanted}`);
    }
  });

  it("accepts both ends of every range and nothing beyond", () => {
    for (const name of numeric) {
      const { min, max } = optionRules[name] as { min: number; max: number };
      expect(checkOption(name, min)).toBe(min);
      expect(checkOption(name, max)).toBe(max);
      expect(() => checkOption(name, min - Math.max(1, Math.abs(min)))).toThrow(`"${name}" must be between`);
      expect(() => checkOption(name, max * 2 + 1)).toThrow(`"${name}" must be between`);
    }
  });

  it("never accepts a value outside its rule", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.anything(), (name, value) => {
        const rule: OptionRule = optionRules[name] as OptionRule;
        let taken: unknown;
        try {
          taken = checkOption(name, value);
        } catch {
          return;
        }
        if (rule.type === "boolean") expect(value).toBeTypeOf("boolean");
        else if (rule.type === "strings") expect(taken).toEqual([value].flat());
        else if (rule.type === "biases") expect(value).toBeTypeOf("object");
        else if ("min" in rule)
          expect((value as number) >= rule.min && (value as number) <= rule.max).toBe(true);
      }),
      { seed: 2, numRuns: 500 },
    );
  });
});

describe("modelOptions", () => {
  it("skips and lists values that would be rejected in a request", () => {
    const params = { temperature: 0.5, top_p: 3, num_ctx: "4096", f16_kv: true, seed: null, stop: ["a"] };
    expect(modelOptions(params)).toEqual({
      options: { temperature: 0.5, stop: ["a"] },
      bad: ["top_p", "num_ctx"],
    });
  });
});

describe("parseOptionText", () => {
  it.each([
    ["num_ctx", "4096", 4096],
    ["temperature", "1e-1", 0.1],
    ["use_mmap", "false", false],
    ["stop", "<|im_end|>", ["<|im_end|>"]],
  ] as const)("reads PARAMETER %s %s", (name, text, value) => {
    expect(parseOptionText(name, text)).toEqual(value);
  });

  it.each([
    ["num_ctx", "many"],
    ["num_ctx", ""],
    ["num_ctx", "0x10"],
    ["use_mmap", "yes"],
    ["logit_bias", "{}"],
  ] as const)("rejects PARAMETER %s %s", (name, text) => {
    expect(() => parseOptionText(name, text)).toThrow(`option "${name}" must be of type`);
  });
});

describe("mergeOptions", () => {
  it("lets the request win over the model, and the model over the defaults", () => {
    const merged = mergeOptions({ temperature: 0.1, stop: ["a", "b"] }, { stop: ["c"] });
    expect(merged).toEqual({ ...optionDefaults, temperature: 0.1, stop: ["c"] });
  });

  it("has defaults that obey their rules", () => {
    for (const [name, value] of Object.entries(optionDefaults)) {
      expect(isOptionName(name) && checkOption(name, value)).toEqual(value);
    }
  });
});
