import { Ajv2020 } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseGbnf } from "../../../test/gbnf.ts";
import { documents } from "../../../test/random-schema.ts";
import { Rules } from "./gbnf.ts";
import { decimalRange, integerRange } from "./number-range.ts";
import { SchemaError } from "./schema-error.ts";
import { schemaBody } from "./schema-grammar.ts";

const ajv = ajvFormats.default(new Ajv2020({ strict: false, unicodeRegExp: true }));

function grammarOf(schema: unknown) {
  const rules = new Rules();
  return parseGbnf(rules.print(schemaBody(rules, schema)));
}
const accepts = (schema: unknown, text: string) => grammarOf(schema).accepts(text);
const refusal = (schema: unknown) => {
  try {
    schemaBody(new Rules(), schema);
    return null;
  } catch (error) {
    if (error instanceof SchemaError) return error.message;
    throw error;
  }
};

describe("laws", () => {
  test("every text that a schema's grammar allows parses and validates", () => {
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
      { seed: 5, numRuns: 200 },
    );
  });

  test("integers: exactly those within the bounds", () => {
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
          const grammar = parseGbnf(`root ::= ${body}\n`);
          expect(near.map((each) => grammar.accepts(String(each)))).toEqual([
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

  test("decimals: what is within the bounds by two digits, nothing outside", () => {
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
          expect(body !== null && parseGbnf(`root ::= ${body}\n`).accepts(text)).toBe(inside);
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

  test("blanks are bounded, so that a lost model cannot write them for ever", () => {
    const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
    expect(accepts(schema, '{\n  "a": 1\n}')).toBe(true);
    expect(accepts(schema, '{    "a":1}')).toBe(false);
    expect(accepts(schema, `{\n${" ".repeat(30)}"a":1}`)).toBe(false);
  });
});

describe("what is refused, by name and place", () => {
  test.each([
    [{ not: {} }, 'the schema has "not", which is not supported'],
    [{ properties: { a: { multipleOf: 3 } } }, 'a has "multipleOf", which is not supported'],
    [{ type: "array", items: { uniqueItems: true } }, 'items has "uniqueItems", which is not supported'],
    [{ properties: { a: { patternProperties: {} } } }, 'a has "patternProperties", which is not supported'],
    [{ type: "nope" }, 'the schema has the type "nope", which is not supported'],
    [{ type: "string", format: "phone" }, 'the schema has the format "phone", which is not supported'],
    [
      { type: "string", pattern: "(?=a)b" },
      "the schema has a pattern with look-around, which is not supported",
    ],
    [{ type: "string", pattern: "(a)\\1" }, 'the schema has a pattern with "\\1", which is not supported'],
    [
      { type: "string", pattern: "a", maxLength: 3 },
      "the schema has a pattern beside a length or a format, which is not supported",
    ],
    [
      { $ref: "https://example.org/x" },
      "the schema has a $ref to elsewhere (https://example.org/x); only #/… is supported",
    ],
    [{ $ref: "#/$defs/none" }, "the schema has a $ref to #/$defs/none, which is not there"],
    [
      { $ref: "#/$defs/constructor", $defs: {} },
      "the schema has a $ref to #/$defs/constructor, which is not there",
    ],
    [{ type: "integer", minimum: 2, maximum: 1 }, "the schema has bounds with nothing between them"],
    [{ type: "array", minItems: 3, maxItems: 2 }, "the schema has maxItems below minItems"],
    [{ type: "array", minItems: 1001 }, "the schema has minItems over 1000"],
    [{ enum: [] }, "the schema has an enum without values"],
    [{ properties: { a: false } }, "a allows nothing"],
    [{ properties: { a: 5 } }, "a must be an object or a boolean"],
    [
      { type: "object", properties: {}, required: ["x"], additionalProperties: false },
      'the schema requires "x", which it does not allow',
    ],
  ])("%j", (schema, message) => {
    expect(refusal(schema)).toBe(message);
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
    ["a reference to itself", { $ref: "#" }],
    [
      "a cycle of two",
      {
        $ref: "#/$defs/a",
        $defs: {
          a: { items: { $ref: "#/$defs/b" }, type: "array" },
          b: { properties: { x: { $ref: "#/$defs/a" } } },
        },
      },
    ],
    ["a cycle through allOf", { $ref: "#/$defs/a", $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } } }],
    ["deep properties", nested(65, (inner) => ({ properties: { a: inner } }))],
    ["deep items", nested(5000, (inner) => ({ type: "array", items: inner }))],
    ["deep choices", nested(65, (inner) => ({ anyOf: [inner, { type: "null" }] }))],
    ["a deep chain of references", chain(100, (next) => ({ type: "array", items: { $ref: next } }))],
    ["a large enum", { enum: Array.from({ length: 60_000 }, (_, index) => `v${index}`) }],
    ["a long text", { description: "x".repeat(300_000) }],
    ["a pattern of nested repetitions", { type: "string", pattern: `${"(".repeat(40)}a${")*".repeat(40)}` }],
    ["a long pattern", { type: "string", pattern: "a".repeat(2000) }],
    ["a huge bound", { type: "integer", minimum: 1e300 }],
    ["a length that is no number", { type: "string", maxLength: "5" }],
    ["many tuples", { type: "array", prefixItems: Array.from({ length: 25_000 }, () => ({})), items: false }],
  ])("hostile: %s", (_, schema) => {
    expect(refusal(schema)).not.toBeNull();
  });

  test("references that fan out share their rules", () => {
    const rules = new Rules();
    schemaBody(rules, chain(20, wide));
    expect(rules.count).toBeLessThan(1000);
  });

  test("a tool's schema keeps what can be kept", () => {
    const rules = new Rules();
    const schema = {
      type: "object",
      properties: { a: { type: "string", format: "phone", maxLength: 3 }, b: { not: {} } },
      required: ["a"],
    };
    const grammar = parseGbnf(rules.print(schemaBody(rules, schema, { lenient: true })));
    expect([grammar.accepts('{"a":"abc"}'), grammar.accepts('{"a":"abcd"}'), grammar.accepts("{}")]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
