import { describe, expect, test } from "vitest";
import { zodSchemas } from "../../../proof/types/zod.ts";
import { judgeSchema } from "../../../test/schema-judge.ts";

// Schemas as other programs write them. `npm run proof -- others-schemas` tests hundreds.

const text = { type: "string" };
const whole = { type: "integer" };

/** A few schemas in the style of each library. */
const byMaker: Record<string, readonly object[]> = {
  pydantic: [
    {
      $defs: { Color: { enum: ["red", "green"], title: "Color", type: "string" } },
      properties: {
        color: { anyOf: [{ $ref: "#/$defs/Color" }, { type: "null" }], default: null },
        size: { allOf: [{ $ref: "#/$defs/Color" }], description: "its color" },
        price: {
          anyOf: [{ type: "number" }, { type: "string", pattern: "^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$" }],
        },
        when: { format: "date-time", title: "When", type: "string" },
        lasts: { format: "duration", type: "string" },
        pair: { maxItems: 2, minItems: 2, prefixItems: [whole, text], type: "array" },
        tags: { items: text, type: "array", uniqueItems: true },
        secret: { format: "password", type: "string", writeOnly: true },
        file: { format: "path", type: "string" },
        scores: { additionalProperties: { exclusiveMinimum: 0, type: "integer" }, type: "object" },
      },
      required: ["color", "price"],
      title: "Item",
      type: "object",
    },
    {
      $defs: {
        Cat: { properties: { kind: { const: "cat", type: "string" }, lives: whole }, required: ["kind"] },
        Dog: { properties: { kind: { const: "dog", type: "string" }, name: text }, required: ["kind"] },
      },
      discriminator: { mapping: { cat: "#/$defs/Cat", dog: "#/$defs/Dog" }, propertyName: "kind" },
      oneOf: [{ $ref: "#/$defs/Cat" }, { $ref: "#/$defs/Dog" }],
    },
  ],
  TypeBox: [
    { type: "object", required: ["x"], properties: { x: { type: "string", minLength: 2 } } },
    { type: "array", minItems: 2, maxItems: 2, additionalItems: false, items: [whole, text] },
    {
      $id: "Node",
      type: "object",
      required: ["next"],
      properties: { next: { anyOf: [{ $ref: "Node" }, { type: "null" }] } },
    },
    { type: "object", patternProperties: { "^(.*)$": { type: "number" } } },
    {
      allOf: [
        { type: "object", required: ["a"], properties: { a: text } },
        { type: "object", properties: { b: whole } },
      ],
      unevaluatedProperties: false,
    },
  ],
  valibot: [
    {
      type: "object",
      properties: { a: { type: "string", format: "email" } },
      required: ["a"],
      additionalProperties: false,
    },
    { type: "array", items: [text], additionalItems: whole, minItems: 1 },
    { anyOf: [{ const: "a" }, { const: 1 }, { type: "null" }] },
    { type: "string", pattern: "^[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}$" },
  ],
  "llama.cpp": [
    { type: "string", pattern: "^A|B|C|D$" },
    { type: "string", pattern: '^"\\[\\]\\{\\}$' },
    { properties: { "": whole, a: whole, aa: whole }, additionalProperties: whole },
    { type: ["array", "null"], prefixItems: { type: "string" } },
    { items: {}, prefixItems: { type: "string" } },
    { properties: { a: { anyOf: [text, whole] }, b: { $ref: "#/properties/a/anyOf/0" } }, type: "object" },
    { properties: { code: { const: ' \r \n " \\ ' } }, required: ["code"], type: "object" },
  ],
};

describe.each(
  Object.entries(byMaker).flatMap(([maker, schemas]) => schemas.map((schema) => ({ maker, schema }))),
)("a schema of $maker", ({ schema }) => {
  test("is accepted, and its answers are valid", () => {
    const { refusal, ignored, wrong } = judgeSchema({ schema }, 30);
    expect(refusal).toBeNull();
    if (ignored.length === 0) expect(wrong).toBeNull();
  });
});

test("the 60 types of zod are accepted, and their answers are valid", () => {
  const judged = zodSchemas().map((schema) => ({ schema, ...judgeSchema({ schema: schema as object }, 8) }));
  expect(judged.filter(({ refusal }) => refusal !== null)).toEqual([]);
  expect(judged.filter(({ wrong, ignored }) => wrong !== null && ignored.length === 0)).toEqual([]);
});

test("the parameters of a tool of the Model Context Protocol are enforced", () => {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: {
      path: text,
      edits: {
        type: "array",
        items: {
          type: "object",
          properties: { oldText: { type: "string", description: "text to search for" }, newText: text },
          required: ["oldText", "newText"],
          additionalProperties: false,
        },
      },
      dryRun: { type: "boolean", default: false },
      tail: { type: "number" },
    },
    required: ["path", "edits"],
    additionalProperties: false,
  };
  const judged = judgeSchema({ schema, isOld: true, lenient: true }, 30);
  expect(judged).toEqual({ refusal: null, ignored: [], wrong: null });
});
