import { Ajv2020 } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Grammar, parseGbnf } from "../../../test/gbnf.ts";
import { documents } from "../../../test/random-schema.ts";
import { Budget, BudgetSpent } from "./budget.ts";
import { Rules } from "./gbnf.ts";
import { decimalRange, integerRange } from "./number-range.ts";
import { SchemaError } from "./schema-error.ts";
import { schemaGrammar } from "./schema-grammar.ts";

const ajv = ajvFormats.default(new Ajv2020({ strict: false, unicodeRegExp: true, multipleOfPrecision: 6 }));

/** A budget that is enough for every harmless schema. */
const steps = 3_000_000;

function write(schema: unknown, lenient = false) {
  const rules = new Rules();
  const { body, ignored } = schemaGrammar(rules, schema, new Budget(steps), lenient);
  return { grammar: parseGbnf(rules.print(body)), ignored };
}
const grammarOf = (schema: unknown) => write(schema).grammar;
const accepts = (schema: unknown, text: string) => grammarOf(schema).accepts(text);
const refusal = (schema: unknown) => {
  try {
    schemaGrammar(new Rules(), schema, new Budget(steps));
    return null;
  } catch (error) {
    if (error instanceof SchemaError || error instanceof BudgetSpent) return error.message;
    throw error;
  }
};
/** Derives random texts from the schema's grammar, and returns those that the validator rejects. */
function invalidTexts(schema: object, count: number, seed: number): (string | null)[] {
  const { grammar } = write(schema);
  const validate = ajv.compile(schema);
  const random = randomNumbers(seed);
  return Array.from({ length: count }, () => derived(grammar, random)).filter(
    (text) => text !== null && !validate(JSON.parse(text)),
  );
}
/** Returns null if a recursive schema nests the text too deeply. */
function derived(grammar: Grammar, random: () => number): string | null {
  try {
    return grammar.derive(random);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test("a number is not rounded to an excluded bound", () => {
  const above = { type: "number", exclusiveMinimum: 2 ** 53 };
  for (const text of ["9007199254740992", "9007199254740992.3", "9007199254740993"])
    expect(accepts(above, text)).toBe(false);
  expect(accepts(above, "9007199254740994")).toBe(true);
  expect(accepts({ type: "integer", exclusiveMaximum: -(2 ** 53) }, "-9007199254740993")).toBe(false);
});

describe("laws", () => {
  test("every text that a schema's grammar allows can be parsed and is valid (more: npm run proof -- structured-output)", () => {
    fc.assert(
      fc.property(
        documents,
        fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        (schema, numbers) => {
          const grammar = grammarOf(schema);
          const validate = ajv.compile(schema);
          const random = () => numbers.next().value as number;
          for (let turn = 0; turn < 4; turn += 1) {
            const text = grammar.derive(random);
            const valid = validate(JSON.parse(text));
            if (!valid)
              throw new Error(`${text} of ${JSON.stringify(schema)}: ${ajv.errorsText(validate.errors)}`);
          }
        },
      ),
      { seed: 5, numRuns: 100 },
    );
  });

  test("integers: allows exactly those within the bounds", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1200, max: 1200 }),
        fc.nat(1500),
        fc.integer({ min: -3000, max: 3000 }),
        (from, more, value) => {
          const body = integerRange({
            least: from,
            most: from + more,
            leastExcluded: false,
            mostExcluded: false,
          });
          const inside = from <= value && value <= from + more;
          const near = [value, from, from + more, from - 1, from + more + 1];
          const expression = new RegExp(`^(?:${body})$`);
          expect(near.map((each) => expression.test(String(each)))).toEqual([
            inside,
            true,
            true,
            false,
            false,
          ]);
        },
      ),
      { seed: 5, numRuns: 300 },
    );
  });

  test("decimals: allows those within the bounds with two digits, and none outside", () => {
    const hundredths = fc.integer({ min: -400, max: 400 }).map((value) => value / 100);
    fc.assert(
      fc.property(
        hundredths,
        hundredths,
        fc.boolean(),
        fc.boolean(),
        hundredths,
        (a, b, low, high, value) => {
          const [least, most] = a < b ? [a, b] : [b, a];
          const body = decimalRange({ least, most, leastExcluded: low, mostExcluded: high });
          const inside = (low ? value > least : value >= least) && (high ? value < most : value <= most);
          const text = Object.is(value, -0) || value === 0 ? "0" : String(value);
          expect(body !== null && new RegExp(`^(?:${body})$`).test(text)).toBe(inside);
        },
      ),
      { seed: 5, numRuns: 1000 },
    );
  });
});

describe("what a grammar allows", () => {
  test.each([
    [{ type: "string" }, '"a \\n \\u00e9 é 🙂"', true],
    [{ type: "string" }, '"a\nb"', false],
    [{ type: "string" }, '"\\ud800"', false],
    [{ type: "string", maxLength: 2 }, '"🙂🙂"', true],
    [{ type: "string", maxLength: 2 }, '"abc"', false],
    [{ type: "string", pattern: "^a+$" }, '"aaa"', true],
    [{ type: "string", pattern: "^a+$" }, '"aab"', false],
    [{ type: "string", pattern: "^^a+$$" }, '"aaa"', true],
    [{ type: "string", pattern: "^(?!^[-+.]*$)[-+]?\\d*\\.?\\d*$" }, '"-.5"', true],
    [{ type: "string", pattern: "^(?!^[-+.]*$)[-+]?\\d*\\.?\\d*$" }, '"."', false],
    [{ type: "string", pattern: '^["\\\\]{2}$' }, '"\\"\\\\"', true],
    [{ type: "integer" }, "-12", true],
    [{ type: "integer" }, "012", false],
    [{ type: "integer" }, "1.0", false],
    [{ type: "number" }, "-0.5e-3", true],
    [{ type: "array", items: { type: "integer" } }, "[1, 2,3]", true],
    [{ type: "array", items: { type: "integer" } }, "[1,]", false],
    [{ type: "array", items: { type: "boolean" }, minItems: 2, maxItems: 2 }, "[true]", false],
    [{ properties: { a: { type: "null" }, b: { type: "null" } } }, '{"b":null}', true],
    [{ properties: { a: { type: "null" }, b: { type: "null" } } }, '{"a":null,"b":null}', true],
    [{ properties: { a: { type: "null" }, b: { type: "null" } } }, "{ }", true],
    [{ properties: { a: { type: "null" }, b: { type: "null" } }, required: ["b"] }, '{"a":null}', false],
    [{ properties: { a: { type: "null" } } }, '{"a":null,}', false],
    [{ type: "object", additionalProperties: { type: "integer" } }, '{"x":1,"y":2}', true],
    [{ type: "object", additionalProperties: { type: "integer" } }, '{"x":"1"}', false],
    [{ type: "object", additionalProperties: false }, "{}", true],
    [{ enum: ["a", 1, null, { b: [true] }] }, '{"b":[true]}', true],
    [{ type: "string", nullable: true }, "null", true],
    [true, '{"anything": [1, {"a": "b"}]}', true],
    [
      {
        allOf: [
          { properties: { a: { const: 1 } }, required: ["a"] },
          { properties: { b: { const: 2 } }, required: ["b"] },
        ],
      },
      '{"a":1,"b":2}',
      true,
    ],
    [{ type: "object", properties: { a: { const: 1 } }, anyOf: [{ required: ["a"] }] }, "{}", false],
    [{ $ref: "#/$defs/a~1b", $defs: { "a/b": { type: "boolean" } } }, "true", true],
    [{ oneOf: [{ const: 1 }, { type: "string" }] }, '"x"', true],
  ])("%j and %s: %s", (schema, text, expected) => {
    expect(accepts(schema, text)).toBe(expected);
  });

  const closed = { type: "object", additionalProperties: false };
  const last = "\u{10ffff}";
  test.each<readonly [schema: object, allowed: readonly string[], others: readonly string[]]>([
    // As many keys as there are names, and one more or fewer.
    [{ ...closed, properties: { a: {}, b: {} }, minProperties: 2 }, ['{"a":1,"b":1}'], ["{}", '{"a":1}']],
    [
      { ...closed, properties: { a: {}, b: {}, c: {} }, required: ["c"], minProperties: 2, maxProperties: 2 },
      ['{"a":1,"c":1}', '{"b":1,"c":1}'],
      ['{"c":1}', '{"a":1,"b":1}', '{"a":1,"b":1,"c":1}'],
    ],
    // More keys than names: those with a name come first.
    [
      { type: "object", properties: { a: { type: "integer" } }, minProperties: 2 },
      ['{"a":1,"x":2}'],
      ['{"a":1}', '{"a":"1","x":2}', '{"x":1,"y":2}'],
    ],
    // No key has both forms.
    [
      { ...closed, patternProperties: { "^a$": { type: "integer" } }, propertyNames: { pattern: "^b$" } },
      ["{}"],
      ['{"a":1}', '{"b":1}'],
    ],
    // The last character that there is.
    [{ type: "string", pattern: `^[${last}]$` }, [`"${last}"`], ['"\u{10fffe}"']],
    [{ type: "string", pattern: `^[^${last}]$` }, ['"\u{10fffe}"'], [`"${last}"`]],
  ])("at its borders: %j", (schema, allowed, others) => {
    const grammar = grammarOf(schema);
    expect(allowed.filter((text) => !grammar.accepts(text))).toEqual([]);
    expect(others.filter((text) => grammar.accepts(text))).toEqual([]);
  });

  test("values of a list that are no integers are held to that", () => {
    const schema = { enum: [1, "a", 2.5], not: { type: "integer" } };
    expect(write(schema).ignored).toEqual([]);
    expect(["1", '"a"', "2.5"].map((text) => accepts(schema, text))).toEqual([false, true, true]);
  });

  test.each([
    ["string", [1], []],
    ["array", null, []],
    ["object", "a", []],
    ["array", [1], ["not"]],
    ["object", { a: 1 }, ["not"]],
  ])("%s that is not %j says whether it can be held to that", (type, value, ignored) => {
    expect(write({ type, not: { const: value } }).ignored).toEqual(ignored);
  });

  test.each([
    (inner: object) => ({ type: "array", items: inner }),
    (inner: object) => ({ type: "object", properties: { a: inner }, required: ["a"] }),
  ])("%s may be nested 200 levels deep and no deeper", (around) => {
    const nested = (levels: number) => {
      let schema: object = { type: "integer" };
      for (let level = 1; level < levels; level++) schema = around(schema);
      return refusal(schema);
    };
    expect(nested(200)).toBeNull();
    expect(nested(201)).toMatch(/is nested more than 200 levels deep$/);
  });

  test("white space is bounded, so that a confused model cannot write it forever", () => {
    const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
    expect(accepts(schema, '{\n  "a": 1\n}')).toBe(true);
    expect(accepts(schema, '{    "a":1}')).toBe(false);
    expect(accepts(schema, `{\n${" ".repeat(30)}"a":1}`)).toBe(false);
  });
});

describe("everyday schemas", () => {
  const text = (changes: object) => ({ type: "string", ...changes });
  const list = (changes: object) => ({ type: "array", ...changes });
  test.each<[string, object]>([
    ["an integer of zod", { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 }],
    ["an integer above 10^15", { type: "integer", minimum: 1e16, maximum: 2e16 }],
    ["an integer from 10^16 on", { type: "integer", minimum: 1e16 }],
    ["a number below -2^53", { type: "number", exclusiveMaximum: -(2 ** 53) }],
    ["a number between bounds that doubles hold", { exclusiveMinimum: 2 ** 53, exclusiveMaximum: 2 ** 54 }],
    ["a group that is repeated", text({ pattern: "^(?:a+b)*c$" })],
    [
      "an email of zod",
      text({
        format: "email",
        pattern:
          "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
      }),
    ],
    ["a password", text({ pattern: "^(?=.*[A-Z])(?=.*\\d).{8,}$" })],
    ["a pattern beside a length", text({ pattern: "^[a-z]+$", minLength: 3, maxLength: 5 })],
    ["a pattern that is found within", text({ pattern: "ab", minLength: 10 })],
    ["two patterns", { allOf: [text({ pattern: "^a" }), { pattern: "b$" }] }],
    ["letters of all scripts", text({ pattern: "^\\p{L}{1,5}$" })],
    ...[
      "date",
      "time",
      "date-time",
      "duration",
      "uuid",
      "email",
      "ipv4",
      "ipv6",
      "hostname",
      "uri",
      "uri-reference",
      "json-pointer",
    ].map((format): [string, object] => [`the format ${format}`, text({ format })]),
    ["a format beside a length", text({ format: "hostname", maxLength: 12 })],
    ["a multiple", { type: "integer", multipleOf: 7, minimum: 3, maximum: 100 }],
    ["a multiple with digits after the point", { type: "number", multipleOf: 0.25, minimum: -2, maximum: 2 }],
    ["a multiple of cents", { type: "number", multipleOf: 0.01 }],
    ["two multiples", { type: "integer", allOf: [{ multipleOf: 4 }, { multipleOf: 6 }] }],
    ["not a type", { not: { type: ["object", "array", "string"] } }],
    ["not a value", text({ not: { enum: ["a", ""] }, maxLength: 1 })],
    ["not a number", { type: "integer", minimum: 0, maximum: 3, not: { const: 2 } }],
    ["not a pattern", text({ not: { pattern: "[a-z]" } })],
    ["not an object with a key", { type: "object", properties: { a: {}, b: {} }, not: { required: ["a"] } }],
    [
      "at least two of three keys",
      { properties: { a: { const: 1 }, b: { const: 2 }, c: { const: 3 } }, minProperties: 2 },
    ],
    [
      "at most one of three keys",
      { properties: { a: { const: 1 }, b: { const: 2 }, c: { const: 3 } }, maxProperties: 1 },
    ],
    ["a set of few values", list({ items: { enum: ["a", "b", "c"] }, uniqueItems: true, minItems: 2 })],
    ["a list that contains", list({ items: { type: "integer" }, contains: { const: 5 } })],
    ["a list that contains two", list({ contains: { type: "boolean" }, minContains: 2 })],
    [
      "keys by a pattern",
      { type: "object", patternProperties: { "^x-": { type: "integer" } }, additionalProperties: false },
    ],
    [
      "keys by a pattern and others",
      { patternProperties: { "^a": { type: "integer" } }, additionalProperties: { type: "boolean" } },
    ],
    [
      "names of keys",
      { type: "object", propertyNames: { pattern: "^[a-z]{2}$" }, additionalProperties: { const: 1 } },
    ],
    [
      "a key beside another",
      { properties: { a: { const: 1 }, b: { const: 2 } }, dependentRequired: { a: ["b"] } },
    ],
    [
      "a condition",
      {
        type: "object",
        properties: { kind: { enum: ["a", "b"] }, size: { type: "integer" } },
        required: ["kind"],
        if: { properties: { kind: { const: "a" } } },
        // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
        then: { required: ["size"] },
        else: { not: { required: ["size"] } },
      },
    ],
    [
      "exactly one of two that overlap",
      {
        oneOf: [
          { type: "integer", minimum: 0 },
          { type: "integer", maximum: 9 },
        ],
      },
    ],
    [
      "a list that links itself",
      {
        $ref: "#/$defs/node",
        $defs: {
          node: {
            properties: { next: { anyOf: [{ type: "null" }, { $ref: "#/$defs/node" }] } },
            required: ["next"],
          },
        },
      },
    ],
    [
      "a tree",
      {
        type: "object",
        properties: { children: { type: "array", items: { $ref: "#" } } },
        required: ["children"],
        additionalProperties: false,
      },
    ],
    [
      "an object that closes its parts",
      {
        allOf: [{ properties: { a: { const: 1 } } }],
        properties: { b: { const: 2 } },
        unevaluatedProperties: false,
      },
    ],
  ])("is enforced: %s", (_, schema) => {
    expect(write(schema).ignored).toEqual([]);
    expect(invalidTexts(schema, 60, 7)).toEqual([]);
  });

  test.each<[string, object]>([
    ["20,000 values", { enum: Array.from({ length: 20_000 }, (_, index) => `v${index}`) }],
    [
      "3,000 parts",
      {
        allOf: Array.from({ length: 300 }, (_, index) => ({
          properties: { [`k${index}`]: { const: index } },
        })),
      },
    ],
    [
      "1,000 choices",
      {
        anyOf: Array.from({ length: 1000 }, (_, index) => ({
          type: "object",
          properties: { a: { const: index } },
          required: ["a"],
        })),
      },
    ],
  ])("is enforced although it is large: %s", (_, schema) => {
    expect(write(schema).ignored).toEqual([]);
    expect(invalidTexts(schema, 2, 7)).toEqual([]);
  });

  const one = { const: 1 };
  const named = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, one]));
  const set = (count: number) =>
    list({ items: { enum: Array.from({ length: count }, (_, at) => at) }, uniqueItems: true });
  const object = (changes: object) => ({ type: "object", ...changes });
  const above = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ type: "integer", minimum: at }));

  test.each<[object, string[]]>([
    [{ type: "string", pattern: "(a)\\1" }, ["pattern"]],
    [{ type: "string", pattern: "\\ba" }, ["pattern"]],
    [{ properties: { a: { type: "string", format: "phone" } } }, ["properties.a.format"]],
    [{ type: "string", minLength: 2000 }, []],
    [{ type: "string", minLength: 2001 }, ["minLength"]],
    [text({ pattern: "^a+$", minLength: 3000 }), ["pattern"]],
    [text({ format: "uri", minLength: 4000 }), ["format"]],
    [text({ not: { const: "a" }, minLength: 4000 }), ["minLength"]],
    [text({ format: "date", pattern: "^a$" }), ["format"]],
    [text({ not: { format: "date" } }), ["not"]],
    [text({ not: { const: { a: 1 } } }), []],
    [{ type: "integer", multipleOf: 1249 }, ["multipleOf"]],
    [{ type: "integer", not: { multipleOf: 1251 } }, ["not.multipleOf"]],
    [{ type: "number", multipleOf: 0.001 }, []],
    [{ type: "string", minLenght: 5 }, ["minLenght"]],
    [{ type: "null", "x-note": 1, description: "" }, []],
    [list({ items: { type: "integer" }, uniqueItems: true }), ["uniqueItems"]],
    [list({ uniqueItems: true }), ["uniqueItems"]],
    [list({ uniqueItems: true, minItems: 1 }), ["uniqueItems"]],
    [list({ prefixItems: [one, {}], uniqueItems: true }), ["uniqueItems"]],
    [list({ contains: one, uniqueItems: true }), ["uniqueItems"]],
    [list({ contains: one, uniqueItems: true, maxItems: 1 }), []],
    [set(6), []],
    [set(7), ["uniqueItems"]],
    [list({ items: one, minItems: 2000 }), []],
    [list({ items: one, minItems: 2001 }), ["minItems"]],
    [list({ prefixItems: [one], items: {}, minItems: 2000 }), []],
    [list({ prefixItems: [one], items: {}, minItems: 2001 }), ["minItems"]],
    [list({ prefixItems: one, items: {} }), ["prefixItems"]],
    [list({ prefixItems: [one], contains: one }), ["contains"]],
    [list({ prefixItems: [one], contains: one, unevaluatedItems: false }), ["contains", "unevaluatedItems"]],
    [list({ prefixItems: [one], unevaluatedItems: false }), []],
    [list({ allOf: [{ prefixItems: [one], unevaluatedItems: false }] }), ["allOf[0].unevaluatedItems"]],
    [list({ contains: one, minContains: 16 }), []],
    [list({ contains: one, minContains: 17 }), ["contains"]],
    [list({ contains: one, minContains: 0 }), []],
    [list({ contains: one, minContains: 0, maxContains: 1 }), ["contains"]],
    [list({ contains: one, allOf: [{ contains: {} }] }), ["allOf[0].contains"]],
    [list({ not: { const: [1] } }), ["not"]],
    [list({ not: { const: null } }), []],
    [{ not: { const: { a: 1 } } }, ["not"]],
    [object({ minProperties: 1 }), []],
    [object({ minProperties: 2 }), ["minProperties"]],
    [object({ properties: { a: one }, minProperties: 2 }), ["minProperties"]],
    [object({ properties: named(44), minProperties: 2 }), []],
    [object({ properties: named(45), minProperties: 2 }), ["minProperties"]],
    [object({ properties: named(50), maxProperties: 40 }), []],
    [object({ properties: named(50), maxProperties: 41 }), ["maxProperties"]],
    [object({ properties: named(60), minProperties: 2, required: ["k0", "k1"] }), []],
    [object({ properties: { a: one }, unevaluatedProperties: false }), []],
    [object({ not: { required: ["a"] }, properties: { b: {} }, unevaluatedProperties: false }), []],
    [object({ allOf: [{ unevaluatedProperties: false }] }), ["allOf[0].unevaluatedProperties"]],
    [object({ patternProperties: { "^x": one }, unevaluatedProperties: false }), ["unevaluatedProperties"]],
    [{ $ref: "#/$defs/a", title: "", $defs: { a: object({ unevaluatedProperties: false }) } }, []],
    [
      { $ref: "#/$defs/a", minProperties: 0, $defs: { a: object({ unevaluatedProperties: false }) } },
      ["$ref.unevaluatedProperties"],
    ],
    [object({ propertyNames: { anyOf: [{ minLength: 2 }, { pattern: "a" }] } }), ["propertyNames"]],
    [object({ propertyNames: { pattern: "\\ba" } }), ["propertyNames.pattern"]],
    [object({ propertyNames: { minLength: 4000 } }), ["propertyNames"]],
    [object({ patternProperties: { "\\ba": one } }), ["patternProperties.\\ba"]],
    [{ $ref: "https://example.org/x" }, ["$ref"]],
    [{ $ref: "http://[" }, ["$ref"]],
    [{ $dynamicRef: "#n", $defs: { n: { $dynamicAnchor: "n", type: "null" } } }, ["$dynamicRef"]],
    [{ type: "integer", if: { format: "x" }, else: { minimum: 1 } }, ["if"]],
    [{ type: "integer", minimum: 1e100 }, ["minimum"]],
    [{ type: "number", maximum: -1e300 }, ["maximum"]],
    [{ type: "integer", if: { format: "x" } }, []],
    [{ oneOf: above(3) }, []],
    [{ oneOf: above(41) }, ["oneOf"]],
    [{ oneOf: [text({ format: "date" }), text({ maxLength: 20 })] }, ["oneOf"]],
    [{ oneOf: [text({ format: "date" }), { type: "integer" }] }, []],
  ])("names the keyword that it cannot enforce: %j", (schema, ignored) => {
    expect(write(schema).ignored).toEqual(ignored);
  });

  test("equivalent repetitions can be parsed in one way only", () => {
    for (const part of ["(a|b|c|d)*", "[a-d]*"]) {
      const rules = new Rules();
      schemaGrammar(rules, { type: "string", pattern: part.repeat(60) }, new Budget(steps));
      expect(rules.count).toBeLessThan(10);
    }
    expect(write({ type: "string", pattern: "a?".repeat(300) }).ignored).toEqual([]);
  });
});

describe("schemas that are rejected with a clear error", () => {
  test.each([
    [{ type: "nope" }, 'type must be a type or a list of types, not "nope"'],
    [{ $ref: "#/$defs/none" }, "$ref has a $ref to #/$defs/none, which is missing"],
    [{ $ref: "#/$defs/constructor", $defs: {} }, "$ref has a $ref to #/$defs/constructor, which is missing"],
    [{ type: "integer", minimum: 2, maximum: 1 }, "the schema allows nothing"],
    [{ type: "number", minimum: Infinity }, "the schema allows nothing"],
    [{ type: "number", maximum: -Infinity }, "the schema allows nothing"],
    [{ type: "array", minItems: 3, maxItems: 2 }, "the schema allows nothing"],
    [{ type: "string", maxLength: "5" }, "maxLength must be a whole number, 0 or more"],
    [{ multipleOf: 0 }, "multipleOf must be above 0"],
    [{ multipleOf: -1 }, "multipleOf must be above 0"],
    [{ enum: [] }, "enum must be a list with values"],
    [{ type: "object", properties: { a: false }, required: ["a"] }, "the schema allows nothing"],
    [{ properties: { a: 5 } }, "properties.a must be an object or a boolean"],
    [{ type: "object", required: ["x"], additionalProperties: false }, "the schema allows nothing"],
    [{ allOf: [{ type: "string" }, { type: "integer" }] }, "the schema allows nothing"],
    [{ not: {} }, "the schema allows nothing"],
    [
      { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] },
      "the schema allows nothing",
    ],
    [{ $ref: "#" }, null],
  ])("%j", (schema, message) => {
    expect(refusal(schema)).toBe(message);
  });

  test.each<[object, string]>([
    ...["$ref", "$dynamicRef", "pattern", "format"].map((word): [object, string] => [
      { [word]: 5 },
      `${word} must be a string`,
    ]),
    ...[[], 5, ["null", "nope"], "constructor"].map((type): [object, string] => [
      { type },
      `type must be a type or a list of types, not ${JSON.stringify(type)}`,
    ]),
    [{ enum: 5 }, "enum must be a list with values"],
    ...["allOf", "anyOf", "oneOf"].flatMap((word) =>
      [{}, []].map((value): [object, string] => [{ [word]: value }, `${word} must be a list of schemas`]),
    ),
    [{ prefixItems: 5 }, "prefixItems must be a list of schemas"],
    [{ allOf: [5] }, "allOf[0] must be an object or a boolean"],
    [{ items: [5] }, "items[0] must be an object or a boolean"],
    ...["items", "not"].map((word): [object, string] => [
      { [word]: 5 },
      `${word} must be an object or a boolean`,
    ]),
    [{ if: 5, else: {} }, "if must be an object or a boolean"],
    ...["properties", "patternProperties", "dependencies", "dependentRequired", "dependentSchemas"].map(
      (word): [object, string] => [{ [word]: [] }, `${word} must be an object`],
    ),
    [{ required: [1] }, "required must be a list of names"],
    [{ required: "a" }, "required must be a list of names"],
    ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"].flatMap((word) =>
      [-1, 1.5, "1", null].map((value): [object, string] => [
        { [word]: value },
        `${word} must be a whole number, 0 or more`,
      ]),
    ),
    [{ contains: {}, minContains: -1 }, "minContains must be a whole number, 0 or more"],
    [{ contains: {}, maxContains: 0.5 }, "maxContains must be a whole number, 0 or more"],
    ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"].map(
      (word): [object, string] => [{ [word]: "1" }, `${word} must be a number`],
    ),
    [{ minimum: true }, "minimum must be a number"],
    [{ multipleOf: 0 }, "multipleOf must be above 0"],
    [{ multipleOf: -1 }, "multipleOf must be above 0"],
  ])("%j is wrong, and where that is allowed, the keyword is named", (schema, message) => {
    expect(refusal(schema)).toBe(message);
    expect(write(schema, true).ignored).toEqual([message.split(" ")[0]]);
  });

  test.each([
    { prefixItems: [], type: "null" },
    { required: true, type: "null" },
    { exclusiveMinimum: true, type: "null" },
    { $ref: "#/%24defs/a%20b", $defs: { "a b": { type: "null" } } },
    { $ref: "#/x/a%zz", x: { "a%zz": { type: "null" } } },
  ])("%j is read as older drafts and loose writers mean it", (schema) => {
    const { grammar } = write(schema);
    expect([grammar.accepts("null"), grammar.accepts("1")]).toEqual([true, false]);
  });

  const nested = (depth: number, wrap: (inner: unknown) => unknown): unknown =>
    Array.from({ length: depth }).reduce((inner) => wrap(inner), { type: "null" } as unknown);
  const chain = (length: number, link: (next: string) => unknown) => ({
    $ref: "#/$defs/n0",
    $defs: Object.fromEntries(
      Array.from({ length }, (_, index) => [
        `n${index}`,
        index === length - 1 ? { type: "null" } : link(`#/$defs/n${index + 1}`),
      ]),
    ),
  });
  const wide = (next: string) => ({
    anyOf: Array.from({ length: 20 }, (_, index) => ({
      type: "array",
      prefixItems: [{ $ref: next }, { const: index }],
      items: false,
    })),
  });

  test.each<[string, unknown]>([
    ["deep items", nested(5000, (inner) => ({ type: "array", items: inner }))],
    ["a deep chain of references", chain(1000, (next) => ({ type: "array", items: { $ref: next } }))],
    ["a large enum", { enum: Array.from({ length: 60_000 }, (_, index) => `v${index}`) }],
    ["a long text", { description: "x".repeat(300_000) }],
    [
      "many patterns that are hard to read",
      {
        properties: Object.fromEntries(
          Array.from({ length: 500 }, (_, at) => [
            `k${at}`,
            { type: "string", pattern: `(a|b)*a(a|b){${9 + (at % 3)}}${at}` },
          ]),
        ),
      },
    ],
  ])("hostile: %s", (_, schema) => {
    expect(refusal(schema)).not.toBeNull();
  });

  test("a grammar that grows too large is refused at the place where it does", () => {
    const between = (at: number) => ({
      ...{ type: "number", minimum: 123_456_789_012_345 + at, maximum: 987_654_321_098_765 - at },
    });
    const schema = { type: "array", prefixItems: Array.from({ length: 300 }, (_, at) => between(at)) };
    expect(refusal(schema)).toMatch(/^prefixItems\[2\d\d\] makes a grammar that is too large$/);
  });

  test("repeated references share their rules", () => {
    const rules = new Rules();
    schemaGrammar(rules, chain(20, wide), new Budget(steps));
    expect(rules.count).toBeLessThan(1000);
  });

  test("enforces what it can of a tool's schema and names the rest", () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string", format: "phone", maxLength: 3 }, b: { type: "nope" } },
      required: ["a"],
    };
    const { grammar, ignored } = write(schema, true);
    expect(ignored).toEqual(["properties.a.format", "properties.b.type"]);
    expect([grammar.accepts('{"a":"abc"}'), grammar.accepts('{"a":"abcd"}'), grammar.accepts("{}")]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
