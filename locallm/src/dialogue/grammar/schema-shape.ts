import type { Budget } from "./budget.ts";
import { isObject, type SchemaDocument, type SchemaObject } from "./schema-document.ts";
import { SchemaError, schemaLimits } from "./schema-error.ts";
import { wordAt } from "./schema-path.ts";

/** A schema that a value must satisfy, or must not satisfy if `positive` is false. */
export interface Conjunct {
  readonly schema: unknown;
  readonly positive: boolean;
  /** The schema's path in the document. */
  readonly path: string;
}

/** Schemas that one value must satisfy together. */
export type Conjuncts = readonly Conjunct[];

export const types = { null: 1, boolean: 2, number: 4, string: 8, array: 16, object: 32 } as const;
export const everyType = 63;

/** One way to satisfy a schema. It contains no further choices, and all its parts must hold. */
export interface Shape {
  /** Bits of `types`. */
  types: number;
  /** Types that keywords such as `minLength` imply if the schema has no `type`. */
  hinted: number;
  whole: boolean;
  values: readonly unknown[] | null;
  notValues: readonly unknown[];
  minLength: number;
  maxLength: number;
  patterns: readonly { readonly source: string; readonly negative: boolean; readonly path: string }[];
  formats: readonly { readonly name: string; readonly path: string }[];
  minimum: number | null;
  maximum: number | null;
  minimumExcluded: boolean;
  maximumExcluded: boolean;
  multiples: readonly { readonly of: number; readonly negative: boolean; readonly path: string }[];
  minItems: number;
  maxItems: number;
  lists: { readonly prefix: Conjuncts; readonly rest: Conjunct | null }[];
  contains: readonly {
    readonly item: Conjunct;
    readonly least: number;
    readonly most: number;
    readonly path: string;
  }[];
  /** The path of `uniqueItems`. */
  unique: string | null;
  named: Map<string, Conjuncts>;
  maps: PropertyMap[];
  names: Conjuncts;
  required: Set<string>;
  forbidden: Set<string>;
  minProperties: number;
  maxProperties: number;
  /** `unevaluatedProperties` and `unevaluatedItems`. */
  otherProperties: Conjuncts;
  otherItems: Conjuncts;
  /**
   * True if it is uncertain which properties and items are evaluated. These keywords are then ignored and
   * named.
   */
  othersUncertain: boolean;
}

/** The rules of one schema for keys that it does not name. */
export interface PropertyMap {
  readonly named: ReadonlySet<string>;
  readonly patterns: readonly (readonly [source: string, value: Conjunct])[];
  readonly additional: Conjunct | null;
}

function anyShape(): Shape {
  return {
    types: everyType,
    hinted: 0,
    whole: false,
    values: null,
    notValues: [],
    minLength: 0,
    maxLength: Infinity,
    patterns: [],
    formats: [],
    minimum: null,
    maximum: null,
    minimumExcluded: false,
    maximumExcluded: false,
    multiples: [],
    minItems: 0,
    maxItems: Infinity,
    lists: [],
    contains: [],
    unique: null,
    named: new Map(),
    maps: [],
    names: [],
    required: new Set(),
    forbidden: new Set(),
    minProperties: 0,
    maxProperties: Infinity,
    otherProperties: [],
    otherItems: [],
    othersUncertain: false,
  };
}

function copyOf(shape: Shape): Shape {
  return {
    ...shape,
    lists: [...shape.lists],
    named: new Map(shape.named),
    maps: [...shape.maps],
    required: new Set(shape.required),
    forbidden: new Set(shape.forbidden),
  };
}

function sizeOf({ lists, maps, named, required, forbidden }: Shape): number {
  return lists.length + maps.length + named.size + required.size + forbidden.size;
}

export interface Shapes {
  readonly shapes: readonly Shape[];
  /** Paths of keywords that the shapes do not enforce. */
  readonly ignored: readonly string[];
  /** True if some ways to violate a negated schema are not represented. The shapes that exist are correct. */
  readonly isPartial: boolean;
}

export interface ShapeParts {
  readonly document: SchemaDocument;
  readonly budget: Budget;
  /** Whether no value satisfies both schemas; false if that is unknown. */
  readonly areDisjoint: (a: Conjunct, b: Conjunct) => boolean;
  /** Whether an invalid keyword is ignored and named. Otherwise it is an error. */
  readonly lenient: boolean;
}

/** All ways to satisfy these schemas together. Throws SchemaError and BudgetSpent. */
export function shapesOf(conjuncts: Conjuncts, parts: ShapeParts, withNegations = true): Shapes {
  for (const choices of [Infinity, 2, 1, 0]) {
    const expansion = new Expansion(parts, choices, withNegations);
    if (expansion.run(conjuncts)) return expansion.result();
  }
  return { shapes: [anyShape()], ignored: conjuncts.map(({ path }) => path), isPartial: false };
}

/** Adds something to a shape. Returns false if that is a contradiction. */
type Action = (branch: Branch) => boolean;

interface Branch {
  readonly shape: Shape;
  readonly open: Conjunct[];
  readonly choices: (readonly Action[])[];
  readonly seen: Set<string>;
}

class Expansion {
  readonly #parts: ShapeParts;
  readonly #mostChoices: number;
  readonly #withNegations: boolean;
  readonly #shapes: Shape[] = [];
  readonly #ignored = new Set<string>();
  readonly #ids = new Map<unknown, number>();
  /** The schema whose properties are visible. It hides the properties of the schemas around it. */
  #top: unknown = null;
  #isPartial = false;
  #overflowed = false;

  constructor(parts: ShapeParts, mostChoices: number, withNegations: boolean) {
    this.#parts = parts;
    this.#mostChoices = mostChoices;
    this.#withNegations = withNegations;
  }

  /** Returns false if there are too many ways. */
  run(conjuncts: Conjuncts): boolean {
    this.#top = conjuncts.length === 1 ? topOf(conjuncts[0]!) : null;
    this.#expand({ shape: anyShape(), open: [...conjuncts], choices: [], seen: new Set() }, 0);
    return !this.#overflowed;
  }

  result(): Shapes {
    return { shapes: this.#shapes, ignored: [...this.#ignored], isPartial: this.#isPartial };
  }

  #expand(branch: Branch, chosen: number): void {
    if (this.#overflowed) return;
    while (branch.open.length > 0) if (!this.#add(branch, branch.open.shift()!)) return;
    if (branch.shape.types === 0) return;
    const [options, ...rest] = branch.choices;
    if (options === undefined) {
      this.#shapes.push(branch.shape);
      if (this.#shapes.length > schemaLimits.alternatives) this.#overflowed = true;
      return;
    }
    if (chosen >= this.#mostChoices) {
      for (const each of branch.choices) this.#ignored.add(this.#choicePaths.get(each) ?? "");
      this.#shapes.push(branch.shape);
      return;
    }
    for (const option of options) {
      this.#parts.budget.spend(20 + sizeOf(branch.shape) + branch.seen.size);
      const next: Branch = {
        shape: copyOf(branch.shape),
        open: [],
        choices: [...rest],
        seen: new Set(branch.seen),
      };
      if (option(next)) this.#expand(next, chosen + 1);
    }
  }

  readonly #choicePaths = new Map<readonly Action[], string>();

  #choose(branch: Branch, options: readonly Action[], path: string): boolean {
    if (options.length === 1) return options[0]!(branch);
    this.#choicePaths.set(options, path);
    branch.choices.push(options);
    return options.length > 0;
  }

  #add(branch: Branch, conjunct: Conjunct): boolean {
    const { schema, positive, path } = conjunct;
    this.#parts.budget.spend(10);
    if (schema === true || schema === undefined) return positive;
    if (schema === false) return !positive;
    if (!isObject(schema)) {
      this.#wrong(path, "must be an object or a boolean");
      return true;
    }
    const key = `${positive ? "+" : "-"}${this.#id(schema)}`;
    if (branch.seen.has(key)) return true;
    if (branch.seen.has(`${positive ? "-" : "+"}${this.#id(schema)}`)) return false;
    branch.seen.add(key);
    return positive ? this.#require(branch, schema, path) : this.#negate(branch, schema, path);
  }

  #id(schema: unknown): number {
    let id = this.#ids.get(schema);
    if (id === undefined) {
      id = this.#ids.size;
      this.#ids.set(schema, id);
    }
    return id;
  }

  #wrong(path: string, problem: string): void {
    if (!this.#parts.lenient) throw new SchemaError(path, problem);
    this.#ignored.add(path);
  }

  #require(branch: Branch, schema: SchemaObject, path: string): boolean {
    for (const word of Object.keys(schema))
      if (!known.has(word) && !describing.has(word) && !word.startsWith("x-"))
        this.#ignored.add(wordAt(path, word));
    if (schema["nullable"] !== true) return this.#requireWords(branch, schema, path);
    const isNull: Action = ({ shape }) => narrow(shape, types.null);
    return this.#choose(branch, [(next) => this.#requireWords(next, schema, path), isNull], path);
  }

  #requireWords(branch: Branch, schema: SchemaObject, path: string): boolean {
    const { shape, open } = branch;
    const hasOthers =
      schema["unevaluatedProperties"] !== undefined || schema["unevaluatedItems"] !== undefined;
    if (hasOthers && schema !== this.#top) shape.othersUncertain = true;
    const at = (word: string) => wordAt(path, word);
    const and = (part: unknown, word: string, positive = true): Conjunct => ({
      schema: part,
      positive,
      path: at(word),
    });
    for (const word of ["$ref", "$dynamicRef"]) {
      const reference = schema[word];
      if (reference === undefined) continue;
      if (typeof reference !== "string") this.#wrong(at(word), "must be a text");
      else {
        const target = this.#resolve(reference, schema, at(word));
        if (target === undefined) this.#ignored.add(at(word));
        else {
          if (schema === this.#top && isOnlyReference(schema)) this.#top = target;
          open.push({ schema: target, positive: true, path: at(word) });
        }
        if (word === "$dynamicRef") this.#ignored.add(at(word));
      }
    }
    if (schema["type"] !== undefined && !this.#type(shape, schema["type"], at("type"))) return false;
    if (schema["enum"] !== undefined) {
      const values = schema["enum"];
      if (!Array.isArray(values) || values.length === 0)
        this.#wrong(at("enum"), "must be a list with values");
      else shape.values = shape.values ?? values;
    }
    if (Object.hasOwn(schema, "const")) shape.values = [schema["const"]];
    for (const [index, part] of this.#list(schema, "allOf", at("allOf")).entries())
      open.push(and(part, `allOf[${index}]`));
    if (schema["not"] !== undefined) {
      if (this.#withNegations) open.push(and(schema["not"], "not", false));
      else this.#ignored.add(at("not"));
    }
    const anyOf = this.#list(schema, "anyOf", at("anyOf"));
    if (anyOf.length > 0) {
      const options = anyOf.map((part, index) => pushing(and(part, `anyOf[${index}]`)));
      if (!this.#choose(branch, options, at("anyOf"))) return false;
    }
    const oneOf = this.#list(schema, "oneOf", at("oneOf")).map((part, index) => and(part, `oneOf[${index}]`));
    if (oneOf.length > 0 && !this.#choose(branch, this.#exactlyOne(oneOf, at("oneOf")), at("oneOf")))
      return false;
    if (!this.#condition(branch, schema, and, at)) return false;
    if (!this.#strings(shape, schema, at) || !this.#numbers(shape, schema, at)) return false;
    this.#arrays(shape, schema, at, and);
    return this.#objects(branch, schema, at, and);
  }

  /** Returns for each branch what distinguishes it from the others. */
  #exactlyOne(all: Conjuncts, path: string): Action[] {
    const many = all.length > 40;
    return all.map((one, index) => {
      if (many) return pushing(one);
      const others = all.filter((other, place) => place !== index && !this.#parts.areDisjoint(one, other));
      if (others.length === 0) return pushing(one);
      if (!this.#withNegations || !others.every(({ schema }) => canNegate(schema))) {
        return (branch) => {
          this.#ignored.add(path);
          branch.open.push(one);
          return true;
        };
      }
      return pushing(one, ...others.map((other) => ({ ...other, positive: false })));
    });
  }

  #condition(
    branch: Branch,
    schema: SchemaObject,
    and: (part: unknown, word: string, positive?: boolean) => Conjunct,
    at: (word: string) => string,
  ): boolean {
    const { if: condition, then, else: otherwise } = schema;
    if (condition === undefined || (then === undefined && otherwise === undefined)) return true;
    if (!this.#withNegations || !canNegate(condition)) {
      this.#ignored.add(at("if"));
      return true;
    }
    return this.#choose(
      branch,
      [
        pushing(and(condition, "if"), and(then ?? true, "then")),
        pushing(and(condition, "if", false), and(otherwise ?? true, "else")),
      ],
      at("if"),
    );
  }

  #type(shape: Shape, type: unknown, path: string): boolean {
    const all = Array.isArray(type) ? type : [type];
    const known = all.filter(
      (each): each is keyof typeof types | "integer" =>
        each === "integer" || (typeof each === "string" && Object.hasOwn(types, each)),
    );
    if (known.length < all.length || all.length === 0) {
      const shown = JSON.stringify(type)?.slice(0, 60);
      this.#wrong(path, `must be a type or a list of types, not ${shown}`);
      return true;
    }
    const bits = known.reduce((sum, each) => sum | (each === "integer" ? types.number : types[each]), 0);
    if (known.includes("integer") && !known.includes("number")) shape.whole = true;
    return narrow(shape, bits);
  }

  #strings(shape: Shape, schema: SchemaObject, at: (word: string) => string): boolean {
    const { pattern, format } = schema;
    const least = this.#count(schema, "minLength", at);
    const most = this.#count(schema, "maxLength", at);
    shape.minLength = Math.max(shape.minLength, least ?? 0);
    shape.maxLength = Math.min(shape.maxLength, most ?? Infinity);
    if (pattern !== undefined) {
      if (typeof pattern !== "string") this.#wrong(at("pattern"), "must be a text");
      else shape.patterns = [...shape.patterns, { source: pattern, negative: false, path: at("pattern") }];
    }
    if (format !== undefined) {
      if (typeof format !== "string") this.#wrong(at("format"), "must be a text");
      else shape.formats = [...shape.formats, { name: format, path: at("format") }];
    }
    if (least !== null || most !== null || pattern !== undefined || format !== undefined)
      shape.hinted |= types.string;
    if (shape.minLength > shape.maxLength) return this.#contradicted(shape, types.string);
    return true;
  }

  #numbers(shape: Shape, schema: SchemaObject, at: (word: string) => string): boolean {
    const read = (word: string): number | null => {
      const value = schema[word];
      if (value === undefined || (typeof value === "boolean" && word.startsWith("exclusive"))) return null;
      if (typeof value === "number") return value;
      this.#wrong(at(word), "must be a number");
      return null;
    };
    const [minimum, maximum] = [read("minimum"), read("maximum")];
    const [above, below] = [read("exclusiveMinimum"), read("exclusiveMaximum")];
    // Draft 4 uses booleans here.
    if (minimum !== null) raiseMinimum(shape, minimum, schema["exclusiveMinimum"] === true);
    if (above !== null) raiseMinimum(shape, above, true);
    if (maximum !== null) lowerMaximum(shape, maximum, schema["exclusiveMaximum"] === true);
    if (below !== null) lowerMaximum(shape, below, true);
    const of = read("multipleOf");
    if (of !== null) {
      if (of <= 0) this.#wrong(at("multipleOf"), "must be above 0");
      else shape.multiples = [...shape.multiples, { of, negative: false, path: at("multipleOf") }];
    }
    if ([minimum, maximum, above, below, of].some((each) => each !== null)) shape.hinted |= types.number;
    return true;
  }

  #arrays(
    shape: Shape,
    schema: SchemaObject,
    at: (word: string) => string,
    and: (part: unknown, word: string) => Conjunct,
  ): void {
    const least = this.#count(schema, "minItems", at);
    const most = this.#count(schema, "maxItems", at);
    shape.minItems = Math.max(shape.minItems, least ?? 0);
    shape.maxItems = Math.min(shape.maxItems, most ?? Infinity);
    const { items, additionalItems, contains, uniqueItems, unevaluatedItems } = schema;
    // Before draft 2020-12, `items` could be a list, and `additionalItems` described the items after it.
    const isOld = Array.isArray(items);
    const one = isObject(schema["prefixItems"]) ? schema["prefixItems"] : undefined;
    // This is invalid, but llama.cpp uses a single schema in place of the list for all items.
    if (one !== undefined && items !== undefined) this.#ignored.add(at("prefixItems"));
    const prefix = isOld
      ? items
      : one === undefined
        ? this.#list(schema, "prefixItems", at("prefixItems"))
        : [];
    const rest = isOld ? additionalItems : (items ?? one);
    const word = isOld ? "items" : "prefixItems";
    if (prefix.length > 0 || rest !== undefined)
      shape.lists.push({
        prefix: prefix.map((part: unknown, index: number) => and(part, `${word}[${index}]`)),
        rest: rest === undefined ? null : and(rest, isOld ? "additionalItems" : "items"),
      });
    if (contains !== undefined)
      shape.contains = [
        ...shape.contains,
        {
          item: and(contains, "contains"),
          least: this.#count(schema, "minContains", at) ?? 1,
          most: this.#count(schema, "maxContains", at) ?? Infinity,
          path: at("contains"),
        },
      ];
    if (uniqueItems === true) shape.unique = at("uniqueItems");
    if (unevaluatedItems !== undefined)
      shape.otherItems = [...shape.otherItems, and(unevaluatedItems, "unevaluatedItems")];
    const said = [least, most].some((each) => each !== null) || prefix.length > 0 || rest !== undefined;
    if (said || contains !== undefined || uniqueItems === true) shape.hinted |= types.array;
  }

  #objects(
    branch: Branch,
    schema: SchemaObject,
    at: (word: string) => string,
    and: (part: unknown, word: string) => Conjunct,
  ): boolean {
    const { shape } = branch;
    const properties = this.#object(schema, "properties", at);
    const patterns = this.#object(schema, "patternProperties", at);
    const { additionalProperties, propertyNames, unevaluatedProperties, required } = schema;
    const names = Object.keys(properties);
    this.#parts.budget.spend(names.length);
    if (names.length > 0) {
      for (const name of names) addNamed(shape, name, and(properties[name], `properties.${name}`));
    }
    if (Object.keys(patterns).length > 0 || additionalProperties !== undefined)
      shape.maps.push({
        named: new Set(names),
        patterns: Object.entries(patterns).map(([source, part]) => [
          source,
          and(part, `patternProperties.${source}`),
        ]),
        additional:
          additionalProperties === undefined ? null : and(additionalProperties, "additionalProperties"),
      });
    if (required !== undefined && typeof required !== "boolean") {
      if (!Array.isArray(required) || required.some((name) => typeof name !== "string"))
        this.#wrong(at("required"), "must be a list of names");
      else if (required.length > 0) for (const name of required as string[]) shape.required.add(name);
    }
    if (propertyNames !== undefined) shape.names = [...shape.names, and(propertyNames, "propertyNames")];
    if (unevaluatedProperties !== undefined)
      shape.otherProperties = [...shape.otherProperties, and(unevaluatedProperties, "unevaluatedProperties")];
    const least = this.#count(schema, "minProperties", at);
    const most = this.#count(schema, "maxProperties", at);
    shape.minProperties = Math.max(shape.minProperties, least ?? 0);
    shape.maxProperties = Math.min(shape.maxProperties, most ?? Infinity);
    const isSaid = [
      "properties",
      "patternProperties",
      "additionalProperties",
      "required",
      "propertyNames",
      "minProperties",
      "maxProperties",
      "dependentRequired",
      "dependentSchemas",
    ];
    if (isSaid.some((word) => schema[word] !== undefined)) shape.hinted |= types.object;
    for (const word of ["dependencies", "dependentRequired", "dependentSchemas"]) {
      for (const [name, part] of Object.entries(this.#object(schema, word, at))) {
        const needs: Action = (next) => {
          if (Array.isArray(part))
            for (const needed of [name, ...part.map(String)]) next.shape.required.add(needed);
          else {
            next.shape.required.add(name);
            next.open.push(and(part, `${word}.${name}`));
          }
          return narrow(next.shape, types.object) && !next.shape.forbidden.has(name);
        };
        const lacks: Action = (next) => {
          next.shape.forbidden.add(name);
          return !next.shape.required.has(name);
        };
        const options = shape.required.has(name) ? [needs] : [lacks, needs];
        if (!this.#choose(branch, options, at(`${word}.${name}`))) return false;
      }
    }
    return true;
  }

  /** Chooses between the ways to violate one keyword of the schema. */
  #negate(branch: Branch, schema: SchemaObject, path: string): boolean {
    const at = (word: string) => wordAt(path, word);
    const part = (inner: unknown, word: string, positive = false): Conjunct => ({
      schema: inner,
      positive,
      path: at(word),
    });
    const options: Action[] = [];
    const of = (type: number, change: (shape: Shape, open: Conjunct[]) => void): Action => {
      return (next) => {
        next.shape.othersUncertain = true;
        change(next.shape, next.open);
        return narrow(next.shape, type);
      };
    };
    let skipped = 0;
    for (const [word, value] of Object.entries(schema)) {
      if (describing.has(word) || word.startsWith("x-")) continue;
      const before = options.length;
      if (word === "type") options.push(...this.#notOfType(value));
      else if (word === "const") options.push(valuesLess([value]));
      else if (word === "enum" && Array.isArray(value)) options.push(valuesLess(value));
      else if (word === "$ref" && typeof value === "string") {
        const target = this.#resolve(value, schema, at(word));
        if (target !== undefined) options.push(pushing(part(target, word)));
      } else if (word === "allOf" && Array.isArray(value))
        options.push(...value.map((each, index) => pushing(part(each, `allOf[${index}]`))));
      else if (word === "anyOf" && Array.isArray(value))
        options.push(pushing(...value.map((each, index) => part(each, `anyOf[${index}]`))));
      else if (word === "oneOf" && Array.isArray(value)) {
        options.push(pushing(...value.map((each, index) => part(each, `oneOf[${index}]`))));
        for (const [index, one] of value.entries())
          for (const other of value.slice(index + 1))
            options.push(pushing(part(one, `oneOf[${index}]`, true), part(other, "oneOf", true)));
      } else if (word === "not")
        options.push((next) => {
          // Within a negation, nothing counts as evaluated.
          next.shape.othersUncertain = true;
          next.open.push(part(value, word, true));
          return true;
        });
      else if (word === "if") {
        options.push(pushing(part(value, "if", true), part(schema["then"] ?? true, "then")));
        options.push(pushing(part(value, "if"), part(schema["else"] ?? true, "else")));
      } else if (word === "then" || word === "else") continue;
      else if (word === "minLength" && typeof value === "number") {
        if (value > 0)
          options.push(of(types.string, (shape) => (shape.maxLength = Math.min(shape.maxLength, value - 1))));
        else continue;
      } else if (word === "maxLength" && typeof value === "number")
        options.push(of(types.string, (shape) => (shape.minLength = Math.max(shape.minLength, value + 1))));
      else if (word === "pattern" && typeof value === "string")
        options.push(
          of(
            types.string,
            (shape) =>
              (shape.patterns = [...shape.patterns, { source: value, negative: true, path: at(word) }]),
          ),
        );
      else if (word === "minimum" && typeof value === "number")
        options.push(of(types.number, (shape) => lowerMaximum(shape, value, true)));
      else if (word === "maximum" && typeof value === "number")
        options.push(of(types.number, (shape) => raiseMinimum(shape, value, true)));
      else if (word === "exclusiveMinimum" && typeof value === "number")
        options.push(of(types.number, (shape) => lowerMaximum(shape, value, false)));
      else if (word === "exclusiveMaximum" && typeof value === "number")
        options.push(of(types.number, (shape) => raiseMinimum(shape, value, false)));
      else if (word === "multipleOf" && typeof value === "number")
        options.push(
          of(
            types.number,
            (shape) =>
              (shape.multiples = [...shape.multiples, { of: value, negative: true, path: at(word) }]),
          ),
        );
      else if (word === "required" && Array.isArray(value))
        options.push(
          ...value.map(
            (name): Action =>
              (next) => {
                next.shape.forbidden.add(String(name));
                return narrow(next.shape, types.object) && !next.shape.required.has(String(name));
              },
          ),
        );
      else if (word === "properties" && isObject(value))
        for (const [name, inner] of Object.entries(value)) {
          if (inner === true) continue;
          options.push(
            of(types.object, (shape) => {
              shape.required.add(name);
              addNamed(shape, name, part(inner, `properties.${name}`));
            }),
          );
        }
      else if (word === "minItems" && typeof value === "number")
        options.push(of(types.array, (shape) => (shape.maxItems = Math.min(shape.maxItems, value - 1))));
      else if (word === "maxItems" && typeof value === "number")
        options.push(of(types.array, (shape) => (shape.minItems = Math.max(shape.minItems, value + 1))));
      else if (word === "items" && !Array.isArray(value) && schema["prefixItems"] === undefined)
        options.push(
          of(types.array, (shape) => {
            shape.contains = [
              ...shape.contains,
              { item: part(value, word), least: 1, most: Infinity, path: at(word) },
            ];
          }),
        );
      else if (word === "minProperties" && typeof value === "number")
        options.push(
          of(types.object, (shape) => (shape.maxProperties = Math.min(shape.maxProperties, value - 1))),
        );
      if (options.length === before && !(word === "properties" || word === "required")) skipped += 1;
    }
    if (skipped > 0) this.#isPartial = true;
    if (options.length === 0) {
      // The schema has no constraints, so its negation is a contradiction.
      if (skipped === 0) return false;
      this.#ignored.add(path);
      return true;
    }
    return this.#choose(branch, options, path);
  }

  #notOfType(type: unknown): Action[] {
    const all = Array.isArray(type) ? type : [type];
    let bits = everyType;
    for (const each of all) {
      if (each === "integer") this.#isPartial = true;
      if (each === "integer" || each === "number") bits &= ~types.number;
      else if (typeof each === "string" && Object.hasOwn(types, each))
        bits &= ~types[each as keyof typeof types];
    }
    return [(branch) => narrow(branch.shape, bits)];
  }

  #resolve(reference: string, from: SchemaObject, path: string): unknown {
    try {
      return this.#parts.document.resolve(reference, from, path);
    } catch (error) {
      if (!(error instanceof SchemaError) || !this.#parts.lenient) throw error;
      return undefined;
    }
  }

  #contradicted(shape: Shape, type: number): boolean {
    return narrow(shape, everyType & ~type);
  }

  #count(schema: SchemaObject, word: string, at: (word: string) => string): number | null {
    const value = schema[word];
    if (value === undefined) return null;
    if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
    this.#wrong(at(word), "must be a whole number from 0 on");
    return null;
  }

  #list(schema: SchemaObject, word: string, path: string): readonly unknown[] {
    const value = schema[word];
    if (value === undefined) return [];
    if (Array.isArray(value) && value.length > 0) return value;
    if (!Array.isArray(value) || word !== "prefixItems") this.#wrong(path, "must be a list of schemas");
    return [];
  }

  #object(schema: SchemaObject, word: string, at: (word: string) => string): SchemaObject {
    const value = schema[word];
    if (value === undefined) return {};
    if (isObject(value)) return value;
    this.#wrong(at(word), "must be an object");
    return {};
  }
}

function topOf({ schema, positive }: Conjunct): unknown {
  return positive ? schema : null;
}

function isOnlyReference(schema: SchemaObject): boolean {
  return Object.keys(schema).every((word) => word === "$ref" || describing.has(word));
}

function pushing(...conjuncts: Conjunct[]): Action {
  return (branch) => {
    branch.open.push(...conjuncts);
    return true;
  };
}

function valuesLess(values: readonly unknown[]): Action {
  return ({ shape }) => {
    shape.notValues = [...shape.notValues, ...values];
    return true;
  };
}

function addNamed(shape: Shape, name: string, value: Conjunct): void {
  const known = shape.named.get(name);
  shape.named.set(name, known === undefined ? [value] : [...known, value]);
}

function narrow(shape: Shape, bits: number): boolean {
  shape.types &= bits;
  return shape.types !== 0;
}

function raiseMinimum(shape: Shape, value: number, excluded: boolean): void {
  if (shape.minimum !== null && (value < shape.minimum || (value === shape.minimum && !excluded))) return;
  shape.minimum = value;
  shape.minimumExcluded = excluded;
}

function lowerMaximum(shape: Shape, value: number, excluded: boolean): void {
  if (shape.maximum !== null && (value > shape.maximum || (value === shape.maximum && !excluded))) return;
  shape.maximum = value;
  shape.maximumExcluded = excluded;
}

/** Keywords that only describe. */
export const describing: ReadonlySet<string> = new Set(
  "$schema $id id $comment $anchor $dynamicAnchor $vocabulary $defs definitions title description default examples example deprecated readOnly writeOnly contentEncoding contentMediaType contentSchema strict discriminator".split(
    " ",
  ),
);

const negatable = new Set(
  "type const enum $ref allOf anyOf not minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf required properties minItems maxItems items".split(
    " ",
  ),
);

const known: ReadonlySet<string> = new Set([
  ...negatable,
  ..."$dynamicRef oneOf if then else nullable format prefixItems additionalItems contains minContains maxContains uniqueItems unevaluatedItems patternProperties additionalProperties propertyNames minProperties maxProperties dependencies dependentRequired dependentSchemas unevaluatedProperties".split(
    " ",
  ),
]);

/** Whether shapes can express every violation of the schema. */
function canNegate(schema: unknown): boolean {
  if (!isObject(schema)) return true;
  return Object.keys(schema).every(
    (word) => negatable.has(word) || describing.has(word) || word.startsWith("x-"),
  );
}
