import { counted } from "../../wire/counted.ts";
import type { Budget } from "./budget.ts";
import { isObject, type SchemaDocument, type SchemaObject } from "./schema-document.ts";
import { SchemaError } from "./schema-error.ts";

/** Whether a text matches a pattern; null if that cannot be determined. */
export type Matches = (pattern: string, text: string) => boolean | null;

export interface CheckParts {
  readonly document: SchemaDocument;
  readonly matches: Matches;
  readonly budget: Budget;
  /** Values of enumerations, cached by callers that check many values. */
  readonly enumerations?: Map<unknown, ReadonlySet<string>>;
}

/**
 * Returns one line for each problem of a value, with its place. An empty list means that the value is valid. Formats are
 * not checked: ours have only the usual forms, and other texts may still be valid.
 */
export function faultsOf(value: unknown, schema: unknown, parts: CheckParts): string[] {
  return [...new Check(parts).faults(value, schema, "", 0)].slice(0, maxFaults);
}

const maxFaults = 10;
const maxDepth = 200;

type Evaluated = Set<string>;

class Check {
  readonly #parts: CheckParts;

  constructor(parts: CheckParts) {
    this.#parts = parts;
  }

  /** `evaluated` collects the keys and positions that a keyword has checked. */
  faults(
    value: unknown,
    schema: unknown,
    at: string,
    depth: number,
    evaluated: Evaluated = new Set(),
  ): string[] {
    this.#parts.budget.spend(4);
    if (depth > maxDepth) return [];
    if (schema === false) return [`${at || "/"} is not allowed`];
    if (!isObject(schema)) return [];
    const faults: string[] = [];
    const fault = (problem: string) => faults.push(`${at || "/"} ${problem}`);
    // Whatever a subschema evaluates also counts for the schemas around it, but not for its siblings.
    const inner = (part: unknown) => {
      const seen: Evaluated = new Set();
      const own = this.faults(value, part, at, depth + 1, seen);
      for (const each of seen) evaluated.add(each);
      return own;
    };
    const holds = (part: unknown) => {
      const seen: Evaluated = new Set();
      const isValid = this.faults(value, part, at, depth + 1, seen).length === 0;
      if (isValid) for (const each of seen) evaluated.add(each);
      return isValid;
    };

    if (typeof schema["$ref"] === "string") faults.push(...inner(this.#target(schema["$ref"], schema)));
    if (typeof schema["$dynamicRef"] === "string")
      faults.push(...inner(this.#target(schema["$dynamicRef"], schema)));
    const { type } = schema;
    if (type !== undefined && !(Array.isArray(type) ? type : [type]).some((each) => isOfType(value, each)))
      if (!(value === null && schema["nullable"] === true)) fault(`must be ${JSON.stringify(type)}`);
    if (Array.isArray(schema["enum"]) && !this.#enumeration(schema["enum"]).has(canonical(value)))
      fault("must be one of the values of enum");
    if (Object.hasOwn(schema, "const") && !isEqual(schema["const"], value))
      fault("must be the value of const");

    for (const part of list(schema["allOf"])) faults.push(...inner(part));
    const { anyOf, oneOf, not } = schema;
    if (Array.isArray(anyOf) && anyOf.filter(holds).length === 0) fault("must satisfy a schema of anyOf");
    if (Array.isArray(oneOf) && oneOf.filter(holds).length !== 1)
      fault("must satisfy exactly one schema of oneOf");
    if (not !== undefined && this.faults(value, not, at, depth + 1).length === 0)
      fault('must not match the schema in "not"');
    if (schema["if"] !== undefined) {
      const branch = holds(schema["if"]) ? schema["then"] : schema["else"];
      if (branch !== undefined) faults.push(...inner(branch));
    }
    if (typeof value === "string") this.#string(value, schema, fault);
    if (typeof value === "number") number(value, schema, fault);
    if (Array.isArray(value)) faults.push(...this.#array(value, schema, at, depth, evaluated, fault));
    if (isObject(value)) faults.push(...this.#object(value, schema, at, depth, evaluated, fault));
    return faults;
  }

  #enumeration(values: readonly unknown[]): ReadonlySet<string> {
    const { enumerations, budget } = this.#parts;
    let known = enumerations?.get(values);
    if (known === undefined) {
      budget.spend(values.length * 4);
      known = new Set(values.map(canonical));
      enumerations?.set(values, known);
    }
    return known;
  }

  #target(reference: string, from: SchemaObject): unknown {
    try {
      return this.#parts.document.resolve(reference, from, "") ?? true;
    } catch (error) {
      if (error instanceof SchemaError) return true;
      throw error;
    }
  }

  #string(value: string, schema: SchemaObject, fault: (problem: string) => void): void {
    const length = [...value].length;
    if (isNumber(schema["minLength"]) && length < schema["minLength"])
      fault(`must have at least ${counted(schema["minLength"], "character")}`);
    if (isNumber(schema["maxLength"]) && length > schema["maxLength"])
      fault(`must have at most ${counted(schema["maxLength"], "character")}`);
    const { pattern } = schema;
    if (typeof pattern === "string" && this.#parts.matches(pattern, value) === false)
      fault(`must match ${pattern}`);
  }

  #array(
    value: readonly unknown[],
    schema: SchemaObject,
    at: string,
    depth: number,
    evaluated: Evaluated,
    fault: (problem: string) => void,
  ): string[] {
    const faults: string[] = [];
    if (isNumber(schema["minItems"]) && value.length < schema["minItems"])
      fault(`must have at least ${counted(schema["minItems"], "item")}`);
    if (isNumber(schema["maxItems"]) && value.length > schema["maxItems"])
      fault(`must have at most ${counted(schema["maxItems"], "item")}`);
    if (schema["uniqueItems"] === true) {
      const texts = value.map(canonical);
      this.#parts.budget.spend(texts.reduce((sum, text) => sum + text.length, 0));
      if (new Set(texts).size < texts.length) fault("must not repeat an item");
    }
    const prefix = list(Array.isArray(schema["items"]) ? schema["items"] : schema["prefixItems"]);
    const rest = Array.isArray(schema["items"]) ? schema["additionalItems"] : schema["items"];
    for (const [index, item] of value.entries()) {
      const part = index < prefix.length ? prefix[index] : rest;
      if (part === undefined) continue;
      evaluated.add(String(index));
      faults.push(...this.faults(item, part, `${at}/${index}`, depth + 1));
    }
    if (schema["contains"] !== undefined) {
      let count = 0;
      for (const [index, item] of value.entries()) {
        if (this.faults(item, schema["contains"], at, depth + 1).length > 0) continue;
        count += 1;
        evaluated.add(String(index));
      }
      const [least, most] = [schema["minContains"] ?? 1, schema["maxContains"] ?? Infinity];
      if (isNumber(least) && count < least)
        fault(
          `must contain at least ${counted(least, "item that satisfies", "items that satisfy")} contains`,
        );
      if (isNumber(most) && count > most)
        fault(`must contain at most ${counted(most, "item that satisfies", "items that satisfy")} contains`);
    }
    const { unevaluatedItems } = schema;
    if (unevaluatedItems !== undefined)
      for (const [index, item] of value.entries())
        if (!evaluated.has(String(index))) {
          evaluated.add(String(index));
          faults.push(...this.faults(item, unevaluatedItems, `${at}/${index}`, depth + 1));
        }
    return faults;
  }

  #object(
    value: SchemaObject,
    schema: SchemaObject,
    at: string,
    depth: number,
    evaluated: Evaluated,
    fault: (problem: string) => void,
  ): string[] {
    const faults: string[] = [];
    const keys = Object.keys(value);
    const count = keys.length;
    if (isNumber(schema["minProperties"]) && count < schema["minProperties"])
      fault(`must have at least ${counted(schema["minProperties"], "property", "properties")}`);
    if (isNumber(schema["maxProperties"]) && count > schema["maxProperties"])
      fault(`must have at most ${counted(schema["maxProperties"], "property", "properties")}`);
    for (const name of list(schema["required"]))
      if (typeof name === "string" && !Object.hasOwn(value, name))
        fault(`must have the property ${JSON.stringify(name)}`);
    const properties = isObject(schema["properties"]) ? schema["properties"] : {};
    const patterns = Object.entries(isObject(schema["patternProperties"]) ? schema["patternProperties"] : {});
    const { additionalProperties, propertyNames, unevaluatedProperties } = schema;
    for (const key of keys) {
      const place = placeOf(at, key);
      const check = (part: unknown) => {
        evaluated.add(key);
        faults.push(...this.faults(value[key], part, place, depth + 1));
      };
      const isNamed = Object.hasOwn(properties, key);
      if (isNamed) check(properties[key]);
      const matched = patterns.filter(([pattern]) => this.#parts.matches(pattern, key) !== false);
      for (const [pattern, part] of matched) if (this.#parts.matches(pattern, key) === true) check(part);
      if (!isNamed && matched.length === 0 && additionalProperties !== undefined) check(additionalProperties);
      if (propertyNames !== undefined && this.faults(key, propertyNames, place, depth + 1).length > 0)
        fault(`must not have the name ${JSON.stringify(key)}`);
    }
    const dependencies = {
      ...object(schema["dependencies"]),
      ...object(schema["dependentSchemas"]),
      ...object(schema["dependentRequired"]),
    };
    for (const [name, part] of Object.entries(dependencies)) {
      if (!Object.hasOwn(value, name)) continue;
      if (!Array.isArray(part)) {
        const seen: Evaluated = new Set();
        faults.push(...this.faults(value, part, at, depth + 1, seen));
        for (const each of seen) evaluated.add(each);
      } else
        for (const needed of part)
          if (!Object.hasOwn(value, String(needed)))
            fault(`must have the property ${JSON.stringify(needed)} because it has ${JSON.stringify(name)}`);
    }
    if (unevaluatedProperties !== undefined)
      for (const key of keys)
        if (!evaluated.has(key)) {
          evaluated.add(key);
          faults.push(...this.faults(value[key], unevaluatedProperties, placeOf(at, key), depth + 1));
        }
    return faults;
  }
}

/** A JSON pointer. */
function placeOf(at: string, key: string): string {
  return `${at}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function number(value: number, schema: SchemaObject, fault: (problem: string) => void): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (isNumber(minimum) && (exclusiveMinimum === true ? value <= minimum : value < minimum))
    fault(`must be at least ${minimum}`);
  if (isNumber(maximum) && (exclusiveMaximum === true ? value >= maximum : value > maximum))
    fault(`must be at most ${maximum}`);
  if (isNumber(exclusiveMinimum) && value <= exclusiveMinimum) fault(`must be above ${exclusiveMinimum}`);
  if (isNumber(exclusiveMaximum) && value >= exclusiveMaximum) fault(`must be below ${exclusiveMaximum}`);
  if (isNumber(multipleOf) && multipleOf > 0 && !isMultiple(value, multipleOf))
    fault(`must be a multiple of ${multipleOf}`);
}

/** Compares decimal numbers as they are written, so that 0.3 is a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
  const ratio = value / of;
  return Math.abs(ratio - Math.round(ratio)) <= Math.abs(ratio) * Number.EPSILON * 2;
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function isEqual(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

/** Prints JSON with sorted keys. */
function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const object = value as SchemaObject;
  return `{${Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(object[key])}`)
    .join()}}`;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function object(value: unknown): SchemaObject {
  return isObject(value) ? value : {};
}
