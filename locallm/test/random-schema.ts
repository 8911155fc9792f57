import fc from "fast-check";

export type Schema = Record<string, unknown>;

const name = fc.constantFrom("a", "name", "größe", 'x"y', "is ok", "count", "z\\");
const short = fc.record({ least: fc.nat(3), more: fc.nat(5) });

const text = fc.oneof(
  short.map(({ least, more }) => ({ type: "string", minLength: least, maxLength: least + more })),
  fc
    .constantFrom("date", "time", "date-time", "uuid", "ipv4", "email", "hostname", "uri")
    .map((format) => ({ type: "string", format })),
  fc
    .constantFrom(
      "^[A-Z]{2}\\d{3}$",
      "(yes|no)",
      '^"\\w?\\\\$',
      "^[^a-z]{1,3}$",
      "a.b",
      "^\\S{1,4}$",
      "[\\s\\d]{2}",
    )
    .map((pattern) => ({ type: "string", pattern })),
);
const decimal = fc.integer({ min: -5000, max: 5000 }).map((value) => value / 100);
const bounds = fc
  .record({ a: decimal, b: decimal, low: fc.boolean(), high: fc.boolean() })
  .map(({ a, b, low, high }) => {
    const [least, most] = a < b ? [a, b] : [b, a + 1];
    return { [low ? "minimum" : "exclusiveMinimum"]: least, [high ? "maximum" : "exclusiveMaximum"]: most };
  });
const whole = fc.record({ from: fc.integer({ min: -2000, max: 2000 }), more: fc.nat(3000) });

const scalar: fc.Arbitrary<Schema> = fc.oneof(
  text,
  bounds.map((bound) => ({ type: "number", ...bound })),
  whole.map(({ from, more }) => ({ type: "integer", minimum: from, maximum: from + more })),
  fc.constant({ type: "boolean" }),
  fc.constant({ type: "null" }),
  fc
    .uniqueArray(fc.constantFrom("red", 'gr"ün', 1, 2.5, null, true), { minLength: 1 })
    .map((values) => ({ enum: values })),
  fc.constantFrom("x", 7, null, { k: [1] }).map((value) => ({ const: value })),
  fc.constant({ type: ["integer", "null"], minimum: 0, maximum: 99 }),
  fc.constant({ $ref: "#/$defs/shared" }),
);

function list(any: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  const items = fc.record({ items: any, minItems: fc.nat(2), more: fc.nat(2) });
  return fc.oneof(
    items.map(({ items: each, minItems, more }) => ({
      type: "array",
      items: each,
      minItems,
      maxItems: minItems + more,
    })),
    fc
      .array(any, { minLength: 1, maxLength: 3 })
      .map((prefixItems) => ({ type: "array", prefixItems, items: false, minItems: prefixItems.length })),
  );
}

function choice(any: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  return fc.oneof(
    fc.array(any, { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    any.map((schema) => ({ allOf: [schema] })),
  );
}

function objectOf(any: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  const property = fc.record({ name, schema: any, required: fc.boolean() });
  return fc
    .uniqueArray(property, { selector: (each) => each.name, minLength: 1, maxLength: 4 })
    .map((entries) => ({
      type: "object",
      properties: Object.fromEntries(entries.map((each) => [each.name, each.schema])),
      required: entries.filter((each) => each.required).map((each) => each.name),
      additionalProperties: false,
    }));
}

/**
 * Random JSON schemas with every supported keyword. Strings, arrays and numbers are bounded, so that every
 * answer fits a small window.
 */
const schemas: fc.Arbitrary<Schema> = fc.letrec<{ any: Schema; object: Schema }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 2, depthIdentifier: "schema" },
    { arbitrary: scalar, weight: 4 },
    { arbitrary: tie("object"), weight: 1 },
    { arbitrary: list(tie("any")), weight: 1 },
    { arbitrary: choice(tie("any")), weight: 1 },
  ),
  object: objectOf(tie("any")),
})).object;

/** The whole document, including the targets of its references. */
export const documents: fc.Arbitrary<Schema> = schemas.map((schema) => ({
  ...schema,
  $defs: {
    shared: {
      type: "object",
      properties: { id: { type: "integer", minimum: 1, maximum: 20 } },
      required: ["id"],
    },
  },
}));
