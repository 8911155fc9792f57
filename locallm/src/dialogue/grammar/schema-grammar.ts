import { anyOf, literal, type Rules, repeat } from "./gbnf.ts";
import {
  anyArray,
  anyObject,
  anyValue,
  boolean as booleanRule,
  constant,
  constants,
  integer,
  number as numberRule,
  space,
  string as stringRule,
} from "./json-rules.ts";
import { type Bounds, decimalRange, integerRange } from "./number-range.ts";
import { patternBody } from "./pattern.ts";
import { SchemaError, schemaLimits } from "./schema-error.ts";
import { stringFormats } from "./string-formats.ts";

type Schema = Readonly<Record<string, unknown>>;
type Path = readonly string[];

/** Words that describe and do not constrain. */
const annotations = new Set(
  "$schema $id $comment $anchor $defs definitions title description default examples example deprecated readOnly writeOnly".split(
    " ",
  ),
);
const constraints = new Set(
  "type enum const anyOf oneOf allOf $ref nullable properties required additionalProperties items prefixItems minItems maxItems minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum".split(
    " ",
  ),
);

export interface SchemaOptions {
  /** Words that are not supported are left out instead of refused: the grammar then allows more than the schema. */
  readonly lenient?: boolean;
}

/**
 * Adds the rules of a JSON schema and returns the body for its values. Objects are written in the order of
 * their `properties`; keys that the schema does not name are never written. Throws SchemaError.
 */
export function schemaBody(rules: Rules, schema: unknown, options: SchemaOptions = {}): string {
  const text = writtenOut(schema);
  if (text.length > schemaLimits.textChars)
    throw new SchemaError([], `is over ${schemaLimits.textChars} characters`);
  return new SchemaReader(rules, schema, options.lenient ?? false).body(schema, [], 0);
}

function writtenOut(schema: unknown): string {
  try {
    return JSON.stringify(schema) ?? "";
  } catch {
    // The stack is too small for it.
    throw new SchemaError([], `is nested over ${schemaLimits.depth} deep`);
  }
}

class SchemaReader {
  readonly #rules: Rules;
  readonly #root: unknown;
  readonly #lenient: boolean;
  #visited = 0;
  readonly #references = new Map<string, string | null>();

  constructor(rules: Rules, root: unknown, lenient: boolean) {
    this.#rules = rules;
    this.#root = root;
    this.#lenient = lenient;
  }

  body(schema: unknown, path: Path, depth: number): string {
    this.#visited += 1;
    if (this.#visited > schemaLimits.rules) throw new SchemaError(path, "makes a grammar that is too large");
    if (depth > schemaLimits.depth) throw new SchemaError(path, `is nested over ${schemaLimits.depth} deep`);
    if (this.#rules.count > schemaLimits.rules || this.#rules.size > schemaLimits.grammarChars)
      throw new SchemaError(path, "makes a grammar that is too large");
    if (schema === true || schema === undefined) return anyValue(this.#rules);
    if (schema === false) throw new SchemaError(path, "allows nothing");
    if (typeof schema !== "object" || schema === null || Array.isArray(schema))
      throw new SchemaError(path, "must be an object or a boolean");
    const words = schema as Schema;
    this.#refuseUnknown(words, path);
    const body = this.#kind(words, path, depth);
    return words["nullable"] === true ? anyOf([body, '"null"']) : body;
  }

  #refuseUnknown(schema: Schema, path: Path): void {
    if (this.#lenient) return;
    const word = Object.keys(schema).find(
      (key) => !annotations.has(key) && !constraints.has(key) && !isHarmless(key, schema[key]),
    );
    if (word !== undefined) throw new SchemaError(path, `has "${word.slice(0, 60)}", which is not supported`);
  }

  #kind(schema: Schema, path: Path, depth: number): string {
    if (schema["$ref"] !== undefined) return this.#reference(schema["$ref"], path, depth);
    if (schema["const"] !== undefined) return constant(schema["const"]);
    if (schema["enum"] !== undefined) return this.#enumeration(schema, path);
    if (schema["allOf"] !== undefined) return this.#allOf(schema, path, depth);
    for (const word of ["anyOf", "oneOf"]) {
      if (schema[word] !== undefined) return this.#choice(word, schema, path, depth);
    }
    const { type } = schema;
    if (Array.isArray(type)) {
      if (type.length === 0) throw new SchemaError(path, "has an empty list of types");
      return anyOf(type.map((each) => this.#ofType(each, schema, path, depth)));
    }
    return this.#ofType(type ?? impliedType(schema), schema, path, depth);
  }

  #ofType(type: unknown, schema: Schema, path: Path, depth: number): string {
    switch (type) {
      case undefined:
        return anyValue(this.#rules);
      case "object":
        return this.#object(schema, path, depth);
      case "array":
        return this.#array(schema, path, depth);
      case "string":
        return this.#string(schema, path);
      case "integer":
      case "number":
        return this.#number(type, schema, path);
      case "boolean":
        return booleanRule(this.#rules);
      case "null":
        return '"null"';
      default:
        throw new SchemaError(
          path,
          `has the type ${JSON.stringify(type)?.slice(0, 60)}, which is not supported`,
        );
    }
  }

  #enumeration(schema: Schema, path: Path): string {
    const values = schema["enum"];
    if (!Array.isArray(values) || values.length === 0)
      throw new SchemaError(path, "has an enum without values");
    return this.#rules.add(path.at(-1) ?? "enum", constants(values));
  }

  #choice(word: string, schema: Schema, path: Path, depth: number): string {
    const branches = schema[word];
    if (!Array.isArray(branches) || branches.length === 0)
      throw new SchemaError(path, `has ${word} without choices`);
    const { [word]: _, ...beside } = schema;
    const constraining = Object.keys(beside).filter((key) => constraints.has(key) && key !== "nullable");
    const bodies = branches.map((branch: unknown, index) => {
      const inner = [...path, `${word}[${index}]`];
      if (constraining.length === 0) return this.body(branch, inner, depth + 1);
      const { nullable: __, ...base } = beside;
      return this.body(this.#merge([base, branch], inner), inner, depth + 1);
    });
    return this.#rules.add(path.at(-1) ?? "choice", anyOf(bodies));
  }

  #allOf(schema: Schema, path: Path, depth: number): string {
    const parts = schema["allOf"];
    if (!Array.isArray(parts) || parts.length === 0) throw new SchemaError(path, "has allOf without parts");
    const { allOf: _, ...beside } = schema;
    return this.body(this.#merge([beside, ...parts], path), path, depth + 1);
  }

  /** One schema that says what all of these say, where that needs no more than putting them together. */
  #merge(schemas: readonly unknown[], path: Path): Schema {
    const merged: Record<string, unknown> = {};
    for (const each of schemas) {
      let schema = each;
      for (let hops = 0; isSchema(schema) && typeof schema["$ref"] === "string"; hops += 1) {
        if (hops > schemaLimits.depth) throw new SchemaError(path, "has a $ref cycle");
        schema = this.#resolve(schema["$ref"], path);
      }
      if (!isSchema(schema)) throw new SchemaError(path, "has a part that is no schema");
      for (const [word, value] of Object.entries(schema)) {
        const known = merged[word];
        if (known === undefined || annotations.has(word) || JSON.stringify(known) === JSON.stringify(value))
          merged[word] = value;
        else if (word === "required")
          merged[word] = [...new Set([...(known as unknown[]), ...(value as unknown[])])];
        else if (word === "properties")
          merged[word] = this.#mergeProperties(known as Schema, value as Schema, path);
        else
          throw new SchemaError(
            path,
            `says "${word}" twice, in parts that must all hold; that is not supported`,
          );
      }
    }
    return merged;
  }

  #mergeProperties(known: Schema, more: Schema, path: Path): Schema {
    const entries = Object.entries(more).map(([name, schema]) =>
      Object.hasOwn(known, name)
        ? [name, this.#merge([known[name], schema], [...path, name])]
        : [name, schema],
    );
    return { ...known, ...(Object.fromEntries(entries) as Schema) };
  }

  #reference(reference: unknown, path: Path, depth: number): string {
    if (typeof reference !== "string") throw new SchemaError(path, "has a $ref that is no text");
    const known = this.#references.get(reference);
    if (known === null) throw new SchemaError(path, `has a $ref cycle through ${reference.slice(0, 100)}`);
    if (known !== undefined) return known;
    this.#references.set(reference, null);
    const target = this.#resolve(reference, path);
    const name = reference.split("/").at(-1) ?? "ref";
    const rule = this.#rules.add(name, this.body(target, [...path, reference], depth + 1));
    this.#references.set(reference, rule);
    return rule;
  }

  #resolve(reference: string, path: Path): unknown {
    if (reference === "#") throw new SchemaError(path, "has a $ref cycle through #");
    if (!reference.startsWith("#/"))
      throw new SchemaError(
        path,
        `has a $ref to elsewhere (${reference.slice(0, 100)}); only #/… is supported`,
      );
    let target: unknown = this.#root;
    for (const part of reference.slice(2).split("/")) {
      const key = decodeURIComponentSafe(part).replaceAll("~1", "/").replaceAll("~0", "~");
      const inside = typeof target === "object" && target !== null && Object.hasOwn(target, key);
      if (!inside)
        throw new SchemaError(path, `has a $ref to ${reference.slice(0, 100)}, which is not there`);
      target = (target as Schema)[key];
    }
    return target;
  }

  #object(schema: Schema, path: Path, depth: number): string {
    const properties = schema["properties"] ?? {};
    if (!isSchema(properties)) throw new SchemaError(path, "has properties that are no object");
    const required = schema["required"] ?? [];
    if (!Array.isArray(required) || required.some((name) => typeof name !== "string"))
      throw new SchemaError(path, "has a required that is no list of names");
    const others = schema["additionalProperties"];
    const names = Object.keys(properties);
    const asked = new Set(required as string[]);
    const unnamed = [...asked].filter((name) => !Object.hasOwn(properties, name));
    // Each makes three rules: what cannot fit is refused before any is made.
    if (this.#rules.count + 3 * (names.length + unnamed.length) > schemaLimits.rules)
      throw new SchemaError(path, "makes a grammar that is too large");
    if (names.length + unnamed.length === 0) return this.#map(others, path, depth);
    if (unnamed.length > 0 && others === false)
      throw new SchemaError(path, `requires "${unnamed[0]?.slice(0, 60)}", which it does not allow`);
    const entries = [
      ...names.map((name) => ({
        name,
        schema: properties[name],
        isRequired: asked.has(name),
      })),
      ...unnamed.map((name) => ({ name, schema: others === false ? true : others, isRequired: true })),
    ];
    const blank = space(this.#rules);
    const hint = path.at(-1) ?? "answer";
    // From the last entry on: what follows when nothing is written yet, and what follows an entry.
    let first = '""';
    let next = '""';
    for (const { name, schema: own, isRequired } of entries.reverse()) {
      const value = this.body(own, [...path, name], depth + 1);
      const pair = `${literal(JSON.stringify(name))} ":" ${blank} ${value} ${blank} ${next}`;
      const entry = this.#rules.add(`${hint}-${name}`, pair);
      const after = `"," ${blank} ${entry}`;
      first = isRequired ? entry : first === '""' ? `(${entry})?` : anyOf([entry, first]);
      next = isRequired ? after : next === '""' ? `(${after})?` : anyOf([after, next]);
      first = this.#rules.add(`${hint}-first`, first);
      next = this.#rules.add(`${hint}-next`, next);
    }
    return this.#rules.add(hint, `"{" ${blank} ${first} "}"`);
  }

  /** An object that names no properties: any keys, values as `additionalProperties` says. */
  #map(others: unknown, path: Path, depth: number): string {
    if (others === false) return this.#rules.add("nothing", `"{" ${space(this.#rules)} "}"`);
    if (others === undefined || others === true) return anyObject(this.#rules);
    const blank = space(this.#rules);
    const value = this.body(others, [...path, "additionalProperties"], depth + 1);
    const entry = this.#rules.add("entry", `${stringRule(this.#rules)} ":" ${blank} ${value} ${blank}`);
    return this.#rules.add("map", `"{" ${blank} (${entry} ("," ${blank} ${entry})*)? "}"`);
  }

  #array(schema: Schema, path: Path, depth: number): string {
    const least = this.#count(schema, "minItems", path) ?? 0;
    const most = this.#count(schema, "maxItems", path);
    if (most !== null && most < least) throw new SchemaError(path, "has maxItems below minItems");
    const { items, prefixItems } = schema;
    if (Array.isArray(prefixItems)) return this.#tuple(prefixItems, items, least, most, path, depth);
    if (items === undefined && least === 0 && most === null) return anyArray(this.#rules);
    if (items === false || most === 0) return this.#rules.add("empty", `"[" ${space(this.#rules)} "]"`);
    const blank = space(this.#rules);
    const item = this.#rules.add(
      `${path.at(-1) ?? "answer"}-item`,
      `${this.body(items ?? true, [...path, "items"], depth + 1)} ${blank}`,
    );
    const more = `"," ${blank} ${item}`;
    const rest =
      most === null
        ? least > 1
          ? `(${more}){${least - 1},}`
          : `(${more})*`
        : repeat(more, Math.max(least - 1, 0), Math.min(most, schemaLimits.repetitions) - 1);
    const list = `${item} ${rest}`;
    return this.#rules.add(path.at(-1) ?? "list", `"[" ${blank} ${least === 0 ? `(${list})?` : list} "]"`);
  }

  /** Exactly the named items: what `items` allows after them is left out unless `minItems` asks for it. */
  #tuple(
    prefix: readonly unknown[],
    items: unknown,
    least: number,
    most: number | null,
    path: Path,
    depth: number,
  ): string {
    const length =
      most === null ? Math.max(prefix.length, least) : Math.min(most, Math.max(prefix.length, least));
    const blank = space(this.#rules);
    const bodies = Array.from({ length }, (_, index) => {
      const schema = index < prefix.length ? prefix[index] : (items ?? true);
      return `${this.body(schema, [...path, `[${index}]`], depth + 1)} ${blank}`;
    });
    return this.#rules.add(path.at(-1) ?? "tuple", `"[" ${blank} ${bodies.join(` "," ${blank} `)} "]"`);
  }

  #string(schema: Schema, path: Path): string {
    const least = this.#count(schema, "minLength", path) ?? 0;
    const most = this.#count(schema, "maxLength", path);
    if (most !== null && most < least) throw new SchemaError(path, "has maxLength below minLength");
    const { pattern, format } = schema;
    const bounded = least > 0 || most !== null;
    if (pattern !== undefined && typeof pattern !== "string")
      throw new SchemaError(path, "has a pattern that is no text");
    if (pattern !== undefined && (bounded || format !== undefined) && !this.#lenient)
      throw new SchemaError(path, "has a pattern beside a length or a format, which is not supported");
    if (pattern !== undefined) {
      try {
        return this.#rules.add(path.at(-1) ?? "text", `"\\"" ${patternBody(pattern, path)} "\\""`);
      } catch (error) {
        if (!(error instanceof SchemaError) || !this.#lenient) throw error;
      }
    }
    if (format !== undefined) {
      const body =
        typeof format === "string" && Object.hasOwn(stringFormats, format)
          ? stringFormats[format]
          : undefined;
      if (body !== undefined && !bounded) return this.#rules.add(String(format), `"\\"" (${body}) "\\""`);
      if (!this.#lenient)
        throw new SchemaError(
          path,
          `has the format ${JSON.stringify(format)?.slice(0, 60)}${bounded ? " beside a length" : ""}, which is not supported`,
        );
    }
    return stringRule(this.#rules, least, most === null ? null : Math.min(most, schemaLimits.repetitions));
  }

  #number(type: "integer" | "number", schema: Schema, path: Path): string {
    const bounds = this.#bounds(schema, path);
    if (bounds.least === null && bounds.most === null)
      return type === "integer" ? integer(this.#rules) : numberRule(this.#rules);
    const body = type === "integer" ? integerRange(bounds) : decimalRange(bounds);
    if (body === null) throw new SchemaError(path, "has bounds with nothing between them");
    return this.#rules.add(path.at(-1) ?? "number", body);
  }

  #bounds(schema: Schema, path: Path): Bounds {
    const read = (word: string): number | null => {
      const value = schema[word];
      if (value === undefined || typeof value === "boolean") return null;
      if (typeof value !== "number" || Math.abs(value) > 1e15)
        throw new SchemaError(path, `has ${word} over 10^15 or no number`);
      return value;
    };
    const [minimum, maximum] = [read("minimum"), read("maximum")];
    const [above, below] = [read("exclusiveMinimum"), read("exclusiveMaximum")];
    const leastExcluded = above !== null && (minimum === null || above >= minimum);
    const mostExcluded = below !== null && (maximum === null || below <= maximum);
    return {
      least: leastExcluded ? above : minimum,
      most: mostExcluded ? below : maximum,
      // Draft 4 says it with booleans.
      leastExcluded: leastExcluded || schema["exclusiveMinimum"] === true,
      mostExcluded: mostExcluded || schema["exclusiveMaximum"] === true,
    };
  }

  #count(schema: Schema, word: string, path: Path): number | null {
    const value = schema[word];
    if (value === undefined) return null;
    if (typeof value !== "number" || !Number.isInteger(value) || value < 0)
      throw new SchemaError(path, `has ${word} that is no natural number`);
    if (word.startsWith("min") && value > schemaLimits.repetitions)
      throw new SchemaError(path, `has ${word} over ${schemaLimits.repetitions}`);
    return value;
  }
}

/** What some schema makers write without meaning anything by it. */
function isHarmless(word: string, value: unknown): boolean {
  if (word === "uniqueItems") return value === false;
  if (word === "propertyNames") return JSON.stringify(value) === '{"type":"string"}';
  return word.startsWith("x-") || (word === "strict" && typeof value === "boolean");
}

function impliedType(schema: Schema): string | undefined {
  const has = (...words: string[]) => words.some((word) => schema[word] !== undefined);
  if (has("properties", "required", "additionalProperties")) return "object";
  if (has("items", "prefixItems", "minItems", "maxItems")) return "array";
  if (has("minLength", "maxLength", "pattern", "format")) return "string";
  if (has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")) return "number";
  return undefined;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function decodeURIComponentSafe(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
