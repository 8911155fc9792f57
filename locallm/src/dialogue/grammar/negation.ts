import { type Action, pushing } from "./branch.ts";
import { isObject, type SchemaObject } from "./schema-document.ts";
import { describing } from "./schema-keywords.ts";
import { wordAt } from "./schema-path.ts";
import {
  addNamed,
  type Conjunct,
  everyType,
  lowerMaximum,
  narrow,
  raiseMinimum,
  type Shape,
  types,
} from "./shape.ts";

/** The ways to violate a schema: a value violates it if it takes at least one of them. */
export interface Violations {
  readonly ways: readonly Action[];
  /** True if `ways` does not contain every way. */
  readonly isPartial: boolean;
  /** True if the schema has a constraint, with or without a way in `ways`. */
  readonly isConstrained: boolean;
}

/** Returns the target of a reference, or undefined if there is none. */
type Resolve = (reference: string, from: SchemaObject, path: string) => unknown;

interface Context {
  readonly schema: SchemaObject;
  readonly at: (word: string) => string;
  readonly part: (inner: unknown, word: string, positive?: boolean) => Conjunct;
  readonly resolve: Resolve;
}

/** Returns the ways to violate one keyword, or null if a shape cannot express them. */
type Violate = (value: unknown, context: Context) => readonly Action[] | null;

export function violationsOf(schema: SchemaObject, path: string, resolve: Resolve): Violations {
  const at = (word: string) => wordAt(path, word);
  const part = (inner: unknown, word: string, positive = false): Conjunct => ({
    schema: inner,
    positive,
    path: at(word),
  });
  const ways: Action[] = [];
  let missing = 0;
  for (const [word, value] of Object.entries(schema)) {
    if (describing.has(word) || word.startsWith("x-")) continue;
    const more = violate.get(word)?.(value, { schema, at, part, resolve }) ?? null;
    if (more === null) missing += 1;
    else ways.push(...more);
  }
  const isWhole = [schema["type"]].flat().includes("integer");
  return { ways, isPartial: missing > 0 || isWhole, isConstrained: ways.length > 0 || missing > 0 };
}

const violations: Record<string, Violate> = {
  // biome-ignore lint/suspicious/noThenProperty: these are JSON Schema's keywords
  then: () => [],
  else: () => [],
  if: (value, { schema, part }) => [
    pushing(part(value, "if", true), part(schema["then"] ?? true, "then")),
    pushing(part(value, "if"), part(schema["else"] ?? true, "else")),
  ],
  type: (value) => [({ shape }) => narrow(shape, typesBeside(value))],
  const: (value) => [valuesLess([value])],
  enum: list((values) => [valuesLess(values)]),
  $ref: (value, { schema, at, part, resolve }) => {
    if (typeof value !== "string") return null;
    const target = resolve(value, schema, at("$ref"));
    return target === undefined ? null : [pushing(part(target, "$ref"))];
  },
  allOf: list((parts, { part }) =>
    parts.length === 0 ? null : parts.map((each, index) => pushing(part(each, `allOf[${index}]`))),
  ),
  anyOf: list((parts, { part }) => [pushing(...parts.map((each, index) => part(each, `anyOf[${index}]`)))]),
  oneOf: list((parts, { part }) => [
    pushing(...parts.map((each, index) => part(each, `oneOf[${index}]`))),
    ...parts.flatMap((one, index) =>
      parts
        .slice(index + 1)
        .map((other) => pushing(part(one, `oneOf[${index}]`, true), part(other, "oneOf", true))),
    ),
  ]),
  not: (value, { part }) => [
    (next) => {
      // Within a negation, nothing counts as evaluated.
      next.shape.othersUncertain = true;
      next.open.push(part(value, "not", true));
      return true;
    },
  ],
  minLength: number((least) =>
    least > 0 ? [of(types.string, (shape) => (shape.maxLength = Math.min(shape.maxLength, least - 1)))] : [],
  ),
  maxLength: number((most) => [
    of(types.string, (shape) => (shape.minLength = Math.max(shape.minLength, most + 1))),
  ]),
  pattern: (source, { at }) => {
    if (typeof source !== "string") return null;
    const pattern = { source, negative: true, path: at("pattern") };
    return [of(types.string, (shape) => (shape.patterns = [...shape.patterns, pattern]))];
  },
  minimum: number((least) => [of(types.number, (shape) => lowerMaximum(shape, least, true))]),
  maximum: number((most) => [of(types.number, (shape) => raiseMinimum(shape, most, true))]),
  exclusiveMinimum: number((least) => [of(types.number, (shape) => lowerMaximum(shape, least, false))]),
  exclusiveMaximum: number((most) => [of(types.number, (shape) => raiseMinimum(shape, most, false))]),
  multipleOf: number((divisor, { at }) => {
    const multiple = { of: divisor, negative: true, path: at("multipleOf") };
    return [of(types.number, (shape) => (shape.multiples = [...shape.multiples, multiple]))];
  }),
  required: (names) =>
    Array.isArray(names)
      ? names.map(
          (name): Action =>
            (next) => {
              next.shape.forbidden.add(String(name));
              return narrow(next.shape, types.object);
            },
        )
      : [],
  properties: (properties, { part }) =>
    isObject(properties)
      ? Object.entries(properties)
          .filter(([, inner]) => inner !== true)
          .map(([name, inner]) =>
            of(types.object, (shape) => {
              shape.required.add(name);
              addNamed(shape, name, part(inner, `properties.${name}`));
            }),
          )
      : [],
  minProperties: number((least) => [
    of(types.object, (shape) => (shape.maxProperties = Math.min(shape.maxProperties, least - 1))),
  ]),
  minItems: number((least) => [
    of(types.array, (shape) => (shape.maxItems = Math.min(shape.maxItems, least - 1))),
  ]),
  maxItems: number((most) => [
    of(types.array, (shape) => (shape.minItems = Math.max(shape.minItems, most + 1))),
  ]),
  items: (value, { schema, at, part }) => {
    if (Array.isArray(value) || schema["prefixItems"] !== undefined) return null;
    const violating = { item: part(value, "items"), least: 1, most: Infinity, path: at("items") };
    return [of(types.array, (shape) => (shape.contains = [...shape.contains, violating]))];
  },
};

/** A map, because a schema's keys can be names such as "constructor". */
const violate = new Map(Object.entries(violations));

function list(ways: (values: readonly unknown[], context: Context) => readonly Action[] | null): Violate {
  return (value, context) => (Array.isArray(value) ? ways(value, context) : null);
}

function number(ways: (value: number, context: Context) => readonly Action[]): Violate {
  return (value, context) => (typeof value === "number" ? ways(value, context) : null);
}

/** One way: a value of this type that satisfies the constraint added by `change`. */
function of(type: number, change: (shape: Shape) => void): Action {
  return ({ shape }) => {
    shape.othersUncertain = true;
    change(shape);
    return narrow(shape, type);
  };
}

function valuesLess(values: readonly unknown[]): Action {
  return ({ shape }) => {
    shape.notValues = [...shape.notValues, ...values];
    return true;
  };
}

/** Returns the bits of all other types. For `integer` it omits numbers, although fractions would also violate it. */
function typesBeside(named: unknown): number {
  let bits = everyType;
  for (const each of [named].flat()) {
    if (each === "integer" || each === "number") bits &= ~types.number;
    else if (typeof each === "string" && Object.hasOwn(types, each))
      bits &= ~types[each as keyof typeof types];
  }
  return bits;
}
