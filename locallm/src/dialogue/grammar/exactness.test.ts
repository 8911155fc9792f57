import { Ajv2020 } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseGbnf } from "../../../test/gbnf.ts";
import { Budget } from "./budget.ts";
import { Rules } from "./gbnf.ts";
import { SchemaError } from "./schema-error.ts";
import { schemaGrammar } from "./schema-grammar.ts";
import { BudgetSpent, checkAnswer } from "./written-schemas.ts";

const ajv = ajvFormats.default(
  new Ajv2020({ strict: false, unicodeRegExp: true, multipleOfPrecision: 6, logger: false }),
);

/** Small values of every type, in the order in which a grammar writes the keys of an object. */
const values: readonly unknown[] = [
  ...[null, true, false],
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 19, 20, 21, 35, 99, 100, 101, 110, 999, 1000, 1001],
  ...[
    -1, -2, -5, -9, -10, -11, -99, -100, -101, 0.1, 0.2, 0.25, 0.3, 0.5, 0.75, 0.9, 0.99, 1.01, 1.5, 2.5,
    -0.5, -1.5,
  ],
  ...[1.25, 1.05, 9.9, 9.99, 10.5, 99.5, -0.25, -9.9, -10.5, 123456789, 999999999999999],
  ...[
    "",
    "a",
    "b",
    "c",
    "d",
    "aa",
    "ab",
    "ba",
    "bb",
    "abc",
    "abb",
    "aab",
    "aaa",
    "abab",
    "aaaa",
    "aaaaa",
    "A",
    "Ab",
    "AB",
  ],
  ...[
    "1",
    "12",
    "123",
    "a1",
    "1a",
    "é",
    "🙂",
    "🙂🙂",
    "中文",
    " ",
    "a b",
    "a\nb",
    '"',
    "\\",
    '"\\',
    "x-a",
    "-",
    "_",
    ".",
  ],
  ...["2024-02-29", "2023-02-29", "2024-1-01", "a@b.cd", "a@", "1.2.3.4", "256.1.1.1"],
  ...[
    [],
    [1],
    [2],
    [1, 1],
    [1, 2],
    [2, 1],
    [1, 2, 3],
    [1, 1, 1],
    [1, 2, 3, 4],
    ["a"],
    ["b"],
    ["a", 1],
    [1, "a"],
  ],
  ...[
    ["a", "b"],
    ["a", "a"],
    ["b", "a"],
    ["a", "b", "c"],
    [null],
    [true],
    [true, false],
    [[1]],
    [[]],
    [{}],
    [{ a: 1 }],
  ],
  ...[
    {},
    { a: 1 },
    { a: 2 },
    { a: "s" },
    { a: null },
    { a: [] },
    { a: [1] },
    { a: {} },
    { a: { a: 1 } },
    { b: 1 },
  ],
  ...[{ b: "s" }, { a: 1, b: 1 }, { a: 1, b: 2 }, { a: 2, b: 1 }, { a: "s", b: 1 }, { c: 1 }, { a: 1, c: 1 }],
  ...[
    { b: 1, c: 1 },
    { a: 1, b: 1, c: 1 },
    { d: 1 },
    { d: true },
    { a: 1, d: 1 },
    { a: 1, d: true },
    { "x-a": 1 },
  ],
  ...[
    { a: 1, "x-a": 1 },
    { a: 1, "x-a": true },
    { "x-a": true },
    { d: 1, e: 1 },
    { a: 1, d: 1, e: 1 },
    { a: { b: 1 } },
  ],
  ...[{ a: 1, b: 1, d: 1 }, { a: 1, b: 1, c: 1, d: 1 }, { "": 1 }, { ab: 1 }, { abc: 1 }],
];
const texts = values.map((value) => JSON.stringify(value));

/** No work gives steps back. */
class RisingBudget extends Budget {
  override spend(steps: number): void {
    if (!(steps >= 0)) throw new Error(`spends ${steps} steps`);
    super.spend(steps);
  }

  override part(steps: number): Budget {
    return new RisingBudget(steps, this);
  }
}

/** The values of which the grammar of a schema thinks otherwise than another validator of what it means. */
function differences(schema: object, meant: object): string[] {
  const rules = new Rules();
  const { body, ignored } = schemaGrammar(rules, schema, new RisingBudget(3_000_000));
  const grammar = parseGbnf(rules.print(body));
  const validate = ajv.compile(meant);
  const wrong = values.flatMap((value, at) => {
    const isValid = validate(value) as boolean;
    return grammar.accepts(texts[at]!) === isValid ? [] : [`${isValid ? "lacks" : "allows"} ${texts[at]}`];
  });
  return [...ignored.map((path) => `ignores ${path}`), ...wrong];
}

const closed = { type: "object", additionalProperties: false };
const one = { const: 1 };

const schemas: readonly object[] = [
  {},
  ...["string", "number", "integer", "boolean", "null", "array", "object"].map((type) => ({ type })),
  { type: ["string", "null"] },
  { type: ["integer", "array", "boolean"] },
  { const: 1 },
  { const: "a" },
  { const: [1, 2] },
  { const: { a: 1, b: 1 } },
  { const: null },
  { enum: [1, "1", "a", null, [1], { a: 1 }] },
  { type: "integer", enum: [1, "a", 2.5, 3] },
  ...[0, 1, 9, 10, 99, 100].flatMap((bound) => [
    { type: "integer", minimum: bound },
    { type: "integer", maximum: bound },
    { type: "integer", exclusiveMinimum: bound },
    { type: "integer", exclusiveMaximum: bound },
    { type: "number", minimum: bound },
    { type: "number", exclusiveMaximum: bound },
  ]),
  ...[-1, -9, -10, -0.5, 0.25, 1.5, 0.9, 9.9].flatMap((bound) => [
    { type: "integer", minimum: bound },
    { type: "integer", maximum: bound },
    { type: "number", minimum: bound },
    { type: "number", maximum: bound },
    { type: "number", exclusiveMinimum: bound },
    { type: "number", exclusiveMaximum: bound },
  ]),
  { type: "integer", minimum: 5, maximum: 12 },
  { type: "integer", minimum: -11, maximum: 101 },
  { type: "number", minimum: 0.25, maximum: 0.75 },
  { type: "number", exclusiveMinimum: -1, exclusiveMaximum: 1 },
  { type: "integer", minimum: 1, exclusiveMinimum: 1, maximum: 10, exclusiveMaximum: 10 },
  { type: "integer", multipleOf: 5 },
  { type: "integer", multipleOf: 7, minimum: 1, maximum: 100 },
  { type: "number", multipleOf: 0.25, minimum: -2, maximum: 11 },
  { type: "number", multipleOf: 1.5, minimum: -2, maximum: 11 },
  { type: "number", multipleOf: 2 },
  { type: "integer", allOf: [{ multipleOf: 4 }, { multipleOf: 6 }] },
  { type: "integer", not: { multipleOf: 2 } },
  { type: "integer", not: { minimum: 3, maximum: 10 } },
  { type: "number", not: { const: 1 } },
  { type: "integer", not: { enum: [1, 2, 100] } },
  { type: "string", minLength: 1 },
  { type: "string", minLength: 2, maxLength: 3 },
  { type: "string", maxLength: 0 },
  { type: "string", maxLength: 1 },
  ...[
    "^a+$",
    "^(a|b)*$",
    "^[^a]$",
    "^[a-c]{2,3}$",
    "^\\d+$",
    "^\\w$",
    "^.$",
    "^a?b?$",
    "^(ab){2}$",
    "^$",
  ].map((pattern) => ({ type: "string", pattern, minLength: 0 })),
  ...[
    "^[A-Z]",
    "^\\S*$",
    "^\\s$",
    "^\\D$",
    "^\\W$",
    "a{3}",
    "^(?:a|ab)(?:b|bb)?$",
    "^a{2,}$",
    "^[^\\n]*$",
  ].map((pattern) => ({ type: "string", pattern, maxLength: 50 })),
  { type: "string", not: { pattern: "a" } },
  { type: "string", not: { const: "a" } },
  { type: "string", not: { enum: ["", "ab"] }, maxLength: 2 },
  { type: "string", pattern: "^a", minLength: 2 },
  { type: "string", allOf: [{ pattern: "^a" }, { pattern: "b$" }] },
  { type: "string", format: "date" },
  { type: "string", format: "ipv4" },
  { type: "array", minItems: 1 },
  { type: "array", maxItems: 1 },
  { type: "array", maxItems: 0 },
  { type: "array", minItems: 2, maxItems: 3 },
  { type: "array", items: { type: "integer" } },
  { type: "array", items: { enum: [1, 2] }, minItems: 2 },
  { type: "array", items: false },
  { type: "array", items: { enum: ["a", "b", "c"] }, uniqueItems: true },
  { type: "array", items: { type: "boolean" }, uniqueItems: true, minItems: 1 },
  { type: "array", contains: { const: 1 } },
  { type: "array", items: { type: "integer" }, contains: { const: 1 }, minContains: 2 },
  { type: "array", items: { type: "integer" }, contains: { const: 1 }, maxContains: 1 },
  { type: "array", items: { enum: [1, 2] }, contains: { const: 1 }, minContains: 0 },
  { type: "array", items: { const: 1 }, contains: { const: 1 }, maxContains: 2 },
  { type: "array", items: { const: 1 }, contains: { const: 1 }, minContains: 2, maxItems: 3 },
  { type: "array", items: { enum: [1, 2] }, contains: { const: 1 }, minContains: 2 },
  { type: "array", items: { enum: [1, 2] }, contains: { const: 1 }, maxContains: 1, maxItems: 1 },
  { type: "array", not: { minItems: 2 } },
  { type: "array", not: { items: { type: "integer" } } },
  { type: "object", properties: { a: { const: 1 } }, additionalProperties: false },
  { type: "object", properties: { a: {}, b: {}, c: {} }, required: ["a", "c"], additionalProperties: false },
  { type: "object", properties: { a: false } },
  { type: "object", additionalProperties: { const: 1 } },
  {
    type: "object",
    properties: { a: {}, b: {}, c: {} },
    minProperties: 1,
    maxProperties: 2,
    additionalProperties: false,
  },
  { type: "object", minProperties: 1 },
  { type: "object", maxProperties: 0 },
  {
    type: "object",
    properties: { a: {}, b: {}, c: {} },
    minProperties: 2,
    required: ["b"],
    additionalProperties: false,
  },
  { type: "object", patternProperties: { "^x-": { const: 1 } }, additionalProperties: false },
  { type: "object", patternProperties: { "^x-": { type: "boolean" } } },
  { type: "object", propertyNames: { maxLength: 1 } },
  { type: "object", not: { properties: { a: { const: 1 } } }, properties: { a: {}, b: {} } },
  { anyOf: [{ const: 1 }, { type: "string", maxLength: 1 }] },
  { anyOf: [{ minimum: 3 }, { maximum: 1 }], type: "integer" },
  {
    oneOf: [
      { type: "integer", minimum: 3 },
      { type: "integer", maximum: 10 },
    ],
  },
  { oneOf: [{ const: 1 }, { const: "a" }, { type: "null" }] },
  {
    oneOf: [
      { type: "string", pattern: "^a" },
      { type: "string", pattern: "b$" },
    ],
  },
  { allOf: [{ type: ["string", "integer"] }, { type: ["integer", "null"] }] },
  { not: { type: ["string", "object"] } },
  { not: { not: { type: "string", maxLength: 1 } } },
  { not: { anyOf: [{ type: "object" }, { type: "array" }] } },
  { not: { allOf: [{ type: "string" }, { minLength: 2 }] } },
  // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
  { type: "integer", if: { minimum: 5 }, then: { multipleOf: 5 }, else: { maximum: 2 } },
  // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
  { type: "integer", if: { minimum: 5 }, then: { multipleOf: 5 } },
  { type: "integer", if: { minimum: 5 }, else: { multipleOf: 2 } },
  { $ref: "#/$defs/x", $defs: { x: { type: "boolean" } } },
  { $ref: "#/$defs/x", minimum: 3, $defs: { x: { type: "integer" } } },
  { type: "object", properties: { a: { $ref: "#" } }, additionalProperties: false },
  { type: "array", items: { $ref: "#" } },
  { type: "object", properties: { a: {} }, unevaluatedProperties: false, allOf: [{ properties: { b: {} } }] },
  { type: ["array", "null"], minItems: 3, maxItems: 2 },
  { type: ["array", "null"], items: false, minItems: 1 },
  { type: ["array", "null"], contains: one, minContains: 3, maxItems: 2 },
  { type: ["array", "null"], contains: one, minContains: 2, maxContains: 1 },
  { type: ["array", "null"], contains: { type: "string" }, items: { type: "integer" } },
  { type: "array", contains: false, minContains: 0 },
  ...[1, 2].map((count) => ({ type: "array", items: one, minItems: count, maxItems: count })),
  { type: "array", items: one, minItems: 3 },
  { type: "array", uniqueItems: true, maxItems: 1 },
  { type: "array", contains: one, unevaluatedItems: false, uniqueItems: true, maxItems: 1 },
  { type: "array", items: { enum: [1, 2] }, uniqueItems: true, minItems: 2 },
  { type: ["array", "null"], items: { enum: [1, 2] }, uniqueItems: true, minItems: 3 },
  { type: "array", items: { enum: [1, 2, 3, 4, 5, 6] }, uniqueItems: true, maxItems: 3 },
  { type: "array", items: { type: ["boolean", "null"] }, uniqueItems: true },
  { type: "array", items: { type: ["boolean", "null"], not: { const: true } }, uniqueItems: true },
  { type: "array", not: { maxItems: 1 } },
  { type: "array", not: { minItems: 1 } },
  { type: "array", not: { const: null } },
  { type: "object", maxProperties: 1 },
  { type: "object", maxProperties: 2 },
  { type: "object", minProperties: 1, maxProperties: 1 },
  { type: "object", additionalProperties: one, maxProperties: 1 },
  { type: "object", additionalProperties: one, minProperties: 1 },
  { type: "object", not: { required: ["a"] } },
  { type: ["object", "null"], not: { minProperties: 2 } },
  { type: "object", propertyNames: { enum: ["a", "d", 1] } },
  ...[
    true,
    false,
    { type: "integer" },
    { minLength: 1 },
    { minLength: 2 },
    { minLength: 1, maxLength: 2 },
  ].map((propertyNames) => ({ type: "object", propertyNames })),
  { type: "object", propertyNames: { not: { const: "a" } } },
  { type: "object", propertyNames: { not: { minLength: 0 } } },
  {
    type: "object",
    properties: { a: {}, b: {} },
    required: ["a"],
    not: { required: ["a", "b"] },
    additionalProperties: false,
  },
  {
    type: "object",
    properties: { a: {}, b: {} },
    propertyNames: { enum: ["a"] },
    additionalProperties: false,
  },
  { type: ["object", "null"], properties: { b: {} }, required: ["b"], propertyNames: { const: "a" } },
  { type: ["object", "null"], propertyNames: false, minProperties: 1 },
  {
    type: "object",
    patternProperties: { "^a": { type: "integer" }, "^x": { type: "boolean" } },
    additionalProperties: { type: "string" },
  },
  { type: ["object", "null"], required: ["a", "b"], maxProperties: 1 },
  { type: ["object", "null"], minProperties: 2, maxProperties: 1 },
  { type: ["object", "null"], properties: { a: {} }, additionalProperties: false, minProperties: 2 },
  { type: ["object", "null"], properties: { a: false }, required: ["a"] },
  {
    type: "object",
    properties: { a: {}, b: {}, c: {}, d: {} },
    additionalProperties: false,
    minProperties: 3,
    maxProperties: 3,
  },
  {
    type: "object",
    properties: { a: {}, b: {}, c: {} },
    required: ["a"],
    maxProperties: 2,
    additionalProperties: false,
  },
  { type: "string", not: { minLength: 2 } },
  { type: "string", not: { maxLength: 1 } },
  { type: "string", minLength: 2, pattern: "b", maxLength: 3 },
  { type: "string", allOf: [{ not: { pattern: "^a" } }, { not: { pattern: "b$" } }], minLength: 1 },
  { type: "string", format: "password", maxLength: 1 },
  ...["maximum", "exclusiveMinimum", "exclusiveMaximum"].map((word) => ({
    type: "integer",
    not: { [word]: 3 },
  })),
  { type: ["integer", "boolean"], not: { type: ["null", "boolean"] } },
  { type: "integer", not: { oneOf: [{ minimum: 3 }, { maximum: 10 }, { maximum: 5 }] } },
  // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
  { type: "integer", not: { if: { minimum: 5 }, then: { maximum: 10 }, else: { maximum: 2 } } },
  // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
  { type: "integer", not: { if: { minimum: 5 }, then: { maximum: 10 } } },
  { type: "integer", not: { if: { minimum: 5 }, else: { maximum: 2 } } },
  { type: "integer", oneOf: [{ minimum: 3 }, { minimum: 5 }, { minimum: 10 }] },
  { type: "integer", not: { $ref: "#/$defs/x" }, $defs: { x: { minimum: 5 } } },
  { type: "boolean", not: { const: false } },
  ...[{ const: true }, { const: null }, { enum: [true, false] }].map((not) => ({
    type: ["boolean", "null"],
    not,
  })),
  ...[12, 13].map((count) => ({
    enum: [..."aAb", "ab", "abc", ...Array.from({ length: count - 5 }, (_, at) => at)],
  })),
  { enum: [1, 2, 3, "a"], minimum: 2 },
  { enum: [1, 2, "a"], not: { const: 2 } },
  { enum: ["a", "ab"], pattern: "b" },
  { $id: "https://example.org/a", $ref: "b", $defs: { x: { $id: "b", type: "boolean" } } },
  { $ref: "#n", $defs: { x: { $anchor: "n", type: "boolean" } } },
  {
    $ref: "https://example.org/x#n",
    $defs: { x: { $id: "https://example.org/x", $defs: { y: { $anchor: "n", type: "boolean" } } } },
  },
  {
    type: "integer",
    allOf: [{ minimum: 5 }, { exclusiveMinimum: 5 }, { exclusiveMaximum: 20 }, { maximum: 20 }],
  },
  {
    type: "integer",
    allOf: [{ exclusiveMinimum: 5 }, { minimum: 5 }, { maximum: 20 }, { exclusiveMaximum: 20 }],
  },
  {
    type: "integer",
    allOf: [{ minimum: 3 }, { minimum: 5 }, { minimum: 2 }, { maximum: 19 }, { maximum: 99 }],
  },
  { type: "integer", multipleOf: 2.5 },
  { type: "integer", multipleOf: 10, not: { const: 10 } },
  { type: "integer", multipleOf: 100, minimum: 50, maximum: 1000 },
  { type: "number", multipleOf: 0.05, minimum: 0 },
  { type: "number", not: { multipleOf: 0.5 } },
  { type: "number", not: { const: 0.5 }, minimum: 0, maximum: 2 },
];

/** What is written of values that a schema leaves open: what it names, in its order, and nothing more. */
const narrower: readonly (readonly [schema: object, meant: object])[] = [
  [{ minimum: 5 }, { type: "number", minimum: 5 }],
  [{ minLength: 2 }, { type: "string", minLength: 2 }],
  [{ not: { type: "integer" } }, { not: { type: "number" } }],
  [{ type: "string", pattern: "^a", minLength: 0 }, { const: "a" }],
  [{ type: "string", pattern: "b$" }, { const: "b" }],
  [{ type: "array", prefixItems: [one] }, { const: [1] }],
  [{ type: "array", prefixItems: [one, { type: "string" }], items: false }, { const: [1, "a"] }],
  [{ type: "array", prefixItems: [one], items: { const: 2 } }, { const: [1] }],
  [
    { type: "array", prefixItems: [one], items: { type: "integer" }, minItems: 2, maxItems: 3 },
    {
      enum: [
        [1, 1],
        [1, 2],
      ],
    },
  ],
  [{ type: "array", prefixItems: [one], maxItems: 1 }, { const: [1] }],
  [{ type: "array", prefixItems: [one], unevaluatedItems: false }, { const: [1] }],
  [
    { type: "array", items: { type: "integer" }, contains: one, minItems: 2, maxItems: 3 },
    {
      enum: [
        [1, 1],
        [1, 2],
        [1, 2, 3],
        [1, 1, 1],
      ],
    },
  ],
  [{ type: "array", contains: one, maxItems: 2 }, { enum: [[1], [1, 1], [1, 2], [1, "a"]] }],
  [
    { type: "object", properties: { a: one } },
    { ...closed, properties: { a: one } },
  ],
  [{ type: "object", properties: { a: one }, required: ["a"] }, { const: { a: 1 } }],
  [
    { type: "object", properties: { a: one, b: one, c: one }, required: ["b"] },
    { ...closed, properties: { a: one, b: one, c: one }, required: ["b"] },
  ],
  [
    { type: "object", required: ["a"] },
    { ...closed, properties: { a: {} }, required: ["a"] },
  ],
  [
    { type: "object", required: ["d"], properties: { a: {} } },
    { ...closed, properties: { a: {}, d: {} }, required: ["d"] },
  ],
  [
    { type: "object", properties: { a: { type: "integer" } }, additionalProperties: { type: "boolean" } },
    { ...closed, properties: { a: { type: "integer" } } },
  ],
  [
    { ...closed, properties: { a: one }, patternProperties: { "^x-": one } },
    { ...closed, properties: { a: one } },
  ],
  [
    { type: "object", patternProperties: { "^a": one }, properties: { a: { type: "integer" } } },
    { ...closed, properties: { a: one } },
  ],
  [
    { type: "object", propertyNames: { pattern: "^[ab]" }, additionalProperties: one },
    { ...closed, properties: { a: one, b: one } },
  ],
  [
    { type: "object", properties: { a: {}, b: {} }, dependentRequired: { a: ["b"] } },
    { ...closed, properties: { a: {}, b: {} }, dependentRequired: { a: ["b"] } },
  ],
  [
    { type: "object", properties: { a: {}, b: {} }, dependentSchemas: { a: { required: ["b"] } } },
    { ...closed, properties: { a: {}, b: {} }, dependentRequired: { a: ["b"] } },
  ],
  [
    { type: "object", not: { required: ["a"] }, properties: { a: {}, b: {} } },
    { ...closed, properties: { b: {} } },
  ],
  [
    { type: "object", properties: { a: { properties: { a: one }, required: ["a"] } } },
    { enum: [{}, { a: { a: 1 } }] },
  ],
  [
    {
      anyOf: [
        { type: "object", required: ["a"] },
        { type: "array", maxItems: 0 },
      ],
    },
    { anyOf: [{ ...closed, properties: { a: {} }, required: ["a"] }, { const: [] }] },
  ],
  [
    { allOf: [{ properties: { a: one } }, { properties: { b: one }, required: ["b"] }], type: "object" },
    { ...closed, properties: { a: one, b: one }, required: ["b"] },
  ],
  [
    { type: "object", properties: { a: {} }, unevaluatedProperties: one },
    { ...closed, properties: { a: {} } },
  ],
  ...(
    [
      ["integer", { minimum: 3, exclusiveMinimum: true, maximum: 10, exclusiveMaximum: true }, [4, 9]],
      ["integer", { minimum: 3, exclusiveMinimum: false, maximum: 10 }, [3, 10]],
    ] as const
  ).map(
    ([type, old, [minimum, maximum]]) =>
      [
        { type, ...old },
        { type, minimum, maximum },
      ] as [object, object],
  ),
  [
    { type: "number", maximum: 5, exclusiveMaximum: 4, minimum: 1 },
    { type: "number", exclusiveMaximum: 4, minimum: 1 },
  ],
  [
    { type: "string", nullable: true, maxLength: 1 },
    { type: ["string", "null"], maxLength: 1 },
  ],
  [
    { type: "string", nullable: false, maxLength: 1 },
    { type: "string", maxLength: 1 },
  ],
  ...(
    [
      ["string", { maxLength: 1 }],
      ["string", { pattern: "^a+$" }],
      ["number", { maximum: 2 }],
      ["number", { exclusiveMinimum: 2 }],
      ["number", { exclusiveMaximum: 2 }],
      ["number", { multipleOf: 2 }],
      ["array", { items: one }],
      ["array", { maxItems: 1 }],
      ["array", { uniqueItems: true, maxItems: 1 }],
      ["object", { propertyNames: { maxLength: 1 } }],
      ["object", { additionalProperties: one }],
      ["object", { patternProperties: { "^a": one } }],
      ["object", { minProperties: 1 }],
      ["object", { maxProperties: 0 }],
    ] as const
  ).map(([type, schema]) => [schema, { type, ...schema }] as [object, object]),
  [
    { maxLength: 2, minimum: 3 },
    {
      anyOf: [
        { type: "string", maxLength: 2 },
        { type: "number", minimum: 3 },
      ],
    },
  ],
  [{ contains: one, maxItems: 1 }, { const: [1] }],
  [{ minLength: 1, not: { type: "string" } }, { not: { type: "string" } }],
  [{ type: "string", pattern: "b", maxLength: 2 }, { enum: ["b", "ab", "ba", "bb", "Ab"] }],
  [{ type: "string", allOf: [{ pattern: "^a" }, { pattern: "b$" }, { pattern: "^.{2}$" }] }, { const: "ab" }],
  [{ type: "array", prefixItems: [one, false] }, { const: [1] }],
  [{ type: "array", prefixItems: [false] }, { const: [] }],
  [
    { type: "array", prefixItems: one },
    { type: "array", items: one },
  ],
  [{ type: "array", items: [one, { type: "string" }], additionalItems: false }, { const: [1, "a"] }],
  [
    { type: "array", allOf: [{ prefixItems: [one] }, { prefixItems: [{}, { type: "string" }] }] },
    { const: [1, "a"] },
  ],
  [
    { type: "array", allOf: [{ prefixItems: [one, { type: "integer" }] }, { items: { maximum: 2 } }] },
    {
      enum: [
        [1, 1],
        [1, 2],
      ],
    },
  ],
  [
    { type: "array", contains: one, minItems: 3 },
    {
      enum: [
        [1, 1, 1],
        [1, 2, 3],
        [1, 2, 3, 4],
      ],
    },
  ],
  // Ajv calls all items evaluated where some satisfy `contains`.
  [
    { type: "array", contains: one, unevaluatedItems: false },
    { type: "array", items: one, minItems: 1 },
  ],
  [
    { type: "array", contains: one, unevaluatedItems: { type: "integer" } },
    { type: "array", items: { type: "integer" }, contains: one },
  ],
  [
    { type: "array", contains: { const: "a" }, unevaluatedItems: { type: "integer" } },
    { enum: [["a"], ["a", 1], [1, "a"]] },
  ],
  [
    {
      type: ["array", "null"],
      prefixItems: [one],
      contains: { const: 2 },
      unevaluatedItems: false,
      minItems: 2,
    },
    { const: null },
  ],
  [
    { type: "object", properties: { a: {}, b: {} }, dependentRequired: { a: ["b"] }, required: ["a"] },
    { ...closed, properties: { a: {}, b: {} }, required: ["a", "b"] },
  ],
  [
    { type: "object", properties: { a: {}, b: {} }, dependentSchemas: { a: { properties: { b: one } } } },
    {
      ...closed,
      properties: { a: {}, b: {} },
      if: { required: ["a"] },
      // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
      then: { properties: { b: one } },
    },
  ],
  [
    { type: "object", properties: { a: {}, b: {} }, dependentSchemas: { a: false } },
    { ...closed, properties: { b: {} } },
  ],
  [
    {
      type: "object",
      properties: { a: one, c: one },
      patternProperties: { "^[ab]": { type: "integer" } },
      additionalProperties: { type: "boolean" },
    },
    { ...closed, properties: { a: one, c: one } },
  ],
  [
    { type: "object", properties: { a: {} }, allOf: [{ ...closed, properties: { a: one, b: one } }] },
    { ...closed, properties: { a: one, b: one } },
  ],
  [
    { type: "object", allOf: [{ propertyNames: { maxLength: 2 } }, { propertyNames: { pattern: "^a" } }] },
    { type: "object", propertyNames: { const: "a" } },
  ],
];

test.each(schemas.map((schema) => [schema] as const))("allows exactly what is valid: %j", (schema) => {
  expect(differences(schema, schema)).toEqual([]);
});

test.each(narrower)("%j is written as %j", (schema, meant) => {
  expect(differences(schema, meant)).toEqual([]);
});

const pairs = fc.tuple(fc.constantFrom(...schemas), fc.constantFrom(...schemas));

test("whatever schemas are combined: allows nothing that is not valid unless it says so, and finds all faults", () => {
  const combine: readonly ((a: object, b: object) => object)[] = [
    (a) => ({ not: a }),
    (a) => ({ not: { not: a } }),
    (a, b) => ({ oneOf: [a, b] }),
    (a, b) => ({ anyOf: [a, b] }),
    (a, b) => ({ allOf: [a, b] }),
    (a, b) => ({ allOf: [a, { not: b }] }),
    (a, b) => ({ if: a, else: b }),
    (a, b) => ({ type: "array", items: a, contains: b }),
    (a, b) => ({ type: "object", properties: { a, b }, required: ["b"] }),
    (a, b) => ({ type: "object", properties: { a }, additionalProperties: b, not: { required: ["b"] } }),
  ];
  const isFormat = (schema: object) =>
    JSON.stringify(schema).includes('"format"') ||
    "$defs" in schema ||
    JSON.stringify(schema).includes('"#"');
  fc.assert(
    fc.property(pairs, fc.constantFrom(...combine), ([a, b], how) => {
      fc.pre(!isFormat(a) && !isFormat(b));
      const schema = how(a, b);
      const validate = ajv.compile(schema);
      const valid = values.map((value) => validate(value) as boolean);
      expect(texts.filter((text, at) => (checkAnswer(schema, text, 3e6).length === 0) !== valid[at])).toEqual(
        [],
      );
      const rules = new Rules();
      let made: ReturnType<typeof schemaGrammar>;
      try {
        made = schemaGrammar(rules, schema, new RisingBudget(3_000_000));
      } catch (error) {
        if (!(error instanceof SchemaError)) throw error;
        // What it calls empty has no value.
        expect([error.message, texts.filter((_, at) => valid[at])]).toEqual([
          "the schema allows nothing",
          [],
        ]);
        return;
      }
      if (made.ignored.length > 0) return;
      const grammar = parseGbnf(rules.print(made.body));
      expect(texts.filter((text, at) => !valid[at] && grammar.accepts(text))).toEqual([]);
    }),
    { seed: 41, numRuns: 100 },
  );
});

test.each(schemas.filter((schema) => !("format" in schema)).map((schema) => [schema] as const))(
  "the check of an answer finds what is not valid: %j",
  (schema) => {
    const validate = ajv.compile(schema);
    const wrong = values.flatMap((value, at) =>
      (checkAnswer(schema, texts[at]!, 3e6).length === 0) === (validate(value) as boolean) ? [] : [texts[at]],
    );
    expect(wrong).toEqual([]);
  },
);

test.each<[object, unknown, string[]]>([
  [{ type: "integer" }, "a", ['/ must be "integer"']],
  [{ type: ["integer", "null"] }, 0.5, ['/ must be ["integer","null"]']],
  [{ type: "string", nullable: true }, null, []],
  [{ type: "string", nullable: true }, 1, ['/ must be "string"']],
  [{ type: "string", nullable: false }, null, ['/ must be "string"']],
  [{ enum: [1, { b: 1, a: [2] }] }, { a: [2], b: 1 }, []],
  [{ enum: [1, [1, 2]] }, [2, 1], ["/ must be one of the values of enum"]],
  [{ const: { a: "1,2" } }, { a: ["1", "2"] }, ["/ must be the value of const"]],
  [{ const: [1, 2] }, ["1,2"], ["/ must be the value of const"]],
  [{ anyOf: [{ type: "null" }] }, 1, ["/ must satisfy a schema of anyOf"]],
  [{ oneOf: [{}, { type: "integer" }] }, 1, ["/ must satisfy exactly one schema of oneOf"]],
  [{ not: { type: "integer" } }, 1, ['/ must not match the schema in "not"']],
  [{ minLength: 1 }, "", ["/ must have at least 1 character"]],
  [{ maxLength: 2 }, "abc", ["/ must have at most 2 characters"]],
  [{ pattern: "^b" }, "ab", ["/ must match ^b"]],
  [{ pattern: "(a)\\1" }, "ab", ["/ must match (a)\\1"]],
  [{ minItems: 2 }, [1], ["/ must have at least 2 items"]],
  [{ maxItems: 1 }, [1, 2], ["/ must have at most 1 item"]],
  [
    { uniqueItems: true },
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    ["/ must not repeat an item"],
  ],
  [{ items: { type: "null" } }, [null, 1], ['/1 must be "null"']],
  [
    { items: [{ type: "null" }], additionalItems: { type: "integer" } },
    [1, "a"],
    ['/0 must be "null"', '/1 must be "integer"'],
  ],
  [
    { prefixItems: [{}, { type: "null" }], items: false },
    [1, 1, 1],
    ['/1 must be "null"', "/2 is not allowed"],
  ],
  [{ contains: { const: 1 } }, [2], ["/ must contain at least 1 item that satisfies contains"]],
  [
    { contains: { const: 1 }, maxContains: 1 },
    [1, 1],
    ["/ must contain at most 1 item that satisfies contains"],
  ],
  [{ prefixItems: [{}], unevaluatedItems: false }, [1, 2], ["/1 is not allowed"]],
  [{ contains: { const: 1 }, unevaluatedItems: false }, [1, 2], ["/1 is not allowed"]],
  [{ minProperties: 2 }, { a: 1 }, ["/ must have at least 2 properties"]],
  [{ maxProperties: 1 }, { a: 1, b: 1 }, ["/ must have at most 1 property"]],
  [
    { required: ["a", "toString"] },
    {},
    ['/ must have the property "a"', '/ must have the property "toString"'],
  ],
  [{ additionalProperties: false, properties: { a: {} } }, { a: 1, "b/c~": 1 }, ["/b~1c~0 is not allowed"]],
  [{ unevaluatedProperties: false }, { "b/c~": 1 }, ["/b~1c~0 is not allowed"]],
  [{ patternProperties: { "^x": false } }, { x: 1, y: 1 }, ["/x is not allowed"]],
  [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, ['/ must not have the name "ab"']],
  [{ dependentRequired: { a: ["b"] } }, { a: 1 }, ['/ must have the property "b" because it has "a"']],
  [
    { dependencies: { a: ["b"], c: { required: ["d"] } } },
    { a: 1, c: 1 },
    ['/ must have the property "b" because it has "a"', '/ must have the property "d"'],
  ],
  [
    { dependencies: { a: { properties: { b: {} } } }, unevaluatedProperties: false, properties: { a: {} } },
    { a: 1, b: 1, c: 1 },
    ["/c is not allowed"],
  ],
  [{ minimum: 2 }, 1, ["/ must be at least 2"]],
  [{ minimum: 2, exclusiveMinimum: true }, 2, ["/ must be at least 2"]],
  [{ minimum: 2, exclusiveMinimum: false }, 2, []],
  [{ maximum: 2 }, 3, ["/ must be at most 2"]],
  [{ maximum: 2, exclusiveMaximum: true }, 2, ["/ must be at most 2"]],
  [{ maximum: 2, exclusiveMaximum: true }, 1.9, []],
  [{ exclusiveMinimum: 2 }, 2, ["/ must be above 2"]],
  [{ exclusiveMaximum: 2 }, 2, ["/ must be below 2"]],
  [{ multipleOf: 0.1 }, 0.3, []],
  [{ multipleOf: 0.1 }, 0.35, ["/ must be a multiple of 0.1"]],
  [{ multipleOf: 0.7 }, 1e300, []],
  [{ multipleOf: 1e-300 }, 1e300, ["/ must be a multiple of 1e-300"]],
  [{ multipleOf: 0 }, 1, []],
  [{ $ref: "#/$defs/n", $defs: { n: { type: "null" } } }, 1, ['/ must be "null"']],
  [{ $dynamicRef: "#n", $defs: { n: { $dynamicAnchor: "n", type: "null" } } }, 1, ['/ must be "null"']],
  [{ $ref: "#/$defs/none" }, 1, []],
  [{ $ref: "https://example.org/x" }, 1, []],
  [{ items: false }, new Array(20).fill(1), Array.from({ length: 10 }, (_, at) => `/${at} is not allowed`)],
  [{ if: { type: "integer" }, else: { maxLength: 1 } }, "ab", ["/ must have at most 1 character"]],
])("tells each fault with its place: %j", (schema, value, faults) => {
  expect(checkAnswer(schema, JSON.stringify(value), 3e6)).toEqual(faults);
});

test("checks 200 levels and no more, and ends when it takes too long", () => {
  const nested = (depth: number) => `${"[".repeat(depth)}1${"]".repeat(depth)}`;
  const schema = { anyOf: [{ type: "array", items: { $ref: "#" } }, { type: "null" }] };
  expect(checkAnswer(schema, nested(30), 3e6)).not.toEqual([]);
  const chain = { items: { $ref: "#" }, maximum: 0 };
  // Each level is an item and a reference.
  expect([98, 99, 100, 101, 102].map((depth) => checkAnswer(chain, nested(depth), 3e6).length)).toEqual([
    1, 1, 1, 0, 0,
  ]);
  expect(() => checkAnswer(schema, nested(30), 100)).toThrow(BudgetSpent);
  expect(checkAnswer({}, "{", 100)).toEqual(["/ must be JSON"]);
});

test("allows no text that is not JSON, and other ways to write the same value", () => {
  const rules = new Rules();
  const grammar = parseGbnf(rules.print(schemaGrammar(rules, {}, new Budget(3_000_000)).body));
  const broken = [
    "",
    "01",
    "1.",
    ".5",
    "+1",
    "--1",
    "-",
    "nul",
    "[1,]",
    "[,1]",
    "[1 2]",
    "{a:1}",
    '{"a"}',
    '{"a":1,}',
  ];
  for (const text of [
    ...broken,
    '"a',
    '"\n"',
    '"\\x"',
    '"\\u12"',
    "1 2",
    "[1",
    '{"a":1',
    "True",
    "'a'",
    "1e",
    "1e+",
    "NaN",
  ])
    expect([text, grammar.accepts(text)]).toEqual([text, false]);
  for (const text of ["1e5", "1.5E-3", "-0", "-0.0", '"\\u00e9\\n\\/"', "[1, 2]", '{"a": [1,\n  2]}'])
    expect([text, grammar.accepts(text)]).toEqual([text, true]);
});
