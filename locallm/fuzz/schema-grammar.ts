import type { Target } from "../../fuzz/target.ts";
import { judgeSchema } from "../test/schema-judge.ts";

/**
 * The grammar of a schema allows only what the schema allows: random texts of it are valid for another validator, and our
 * automaton takes them.
 */
export const target: Target = {
  covers: ["locallm/src/dialogue/grammar", "locallm/src/engine/grammar"],
  seeds: [
    {
      type: "object",
      properties: { a: { type: "string", maxLength: 3 }, b: { type: "integer", minimum: -5 } },
      required: ["a"],
    },
    {
      type: "array",
      prefixItems: [{ const: 1 }],
      items: { enum: ["x", null, 2.5] },
      minItems: 1,
      maxItems: 4,
      uniqueItems: true,
    },
    {
      anyOf: [{ type: "null" }, { $ref: "#/$defs/n" }],
      $defs: { n: { type: "array", items: { $ref: "#" }, maxItems: 2 } },
    },
    {
      allOf: [
        { type: "number", exclusiveMinimum: 0.5 },
        { maximum: 99, multipleOf: 0.25 },
      ],
      not: { const: 3 },
    },
    {
      oneOf: [
        { type: "string", pattern: "^[a-c]{2,4}$" },
        { type: "string", format: "date" },
      ],
    },
    {
      type: "object",
      patternProperties: { "^x-": { type: "boolean" } },
      additionalProperties: false,
      minProperties: 1,
    },
    {
      type: "object",
      dependentRequired: { a: ["b"] },
      propertyNames: { maxLength: 2 },
      unevaluatedProperties: false,
    },
    { contains: { type: "integer" }, minContains: 1, maxContains: 2, type: "array", maxItems: 3 },
  ]
    .map((schema) => JSON.stringify(schema))
    .concat(
      '{"if":{"properties":{"k":{"const":"a"}}},"then":{"required":["v"]},"else":{"properties":{"v":false}}}',
    ),
  words: [
    "type",
    "string",
    "integer",
    "uuid",
    "date-time",
    "time",
    "ipv4",
    "email",
    "^a+$",
    "[^x]*",
    "\\d",
    "(a|b)?",
    ".",
  ],
  longest: 2_048,
  // `Budget` ends what takes too long: 1.5 million steps.
  bounds: { ms: 3_000, mib: 192, mibPerKib: 32 },
  read(input) {
    const schema = parsed(input);
    if (schema === undefined) return;
    const { refusal, ignored, wrong } = judgeSchema({ schema, lenient: false }, 4);
    if (/^(?:Type|Range|Syntax|Reference)?Error\b/.test(refusal ?? ""))
      throw new Error(`The schema ends with ${refusal}.`);
    if (wrong !== null && ignored.length === 0)
      throw new Error(`The grammar allows what the schema does not: ${wrong}`);
  },
};

function parsed(input: Buffer): object | undefined {
  try {
    const schema: unknown = JSON.parse(input.toString());
    return typeof schema === "object" && schema !== null && !Array.isArray(schema) ? schema : undefined;
  } catch {
    return undefined;
  }
}
