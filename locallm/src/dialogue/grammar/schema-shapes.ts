import { type Action, type Branch, pushing } from "./branch.ts";
import type { Budget } from "./budget.ts";
import { violationsOf } from "./negation.ts";
import { isObject, type SchemaDocument, type SchemaObject } from "./schema-document.ts";
import { SchemaError, schemaLimits } from "./schema-error.ts";
import { canNegate, constraining, describing } from "./schema-keywords.ts";
import { wordAt } from "./schema-path.ts";
import {
  addNamed,
  anyShape,
  type Conjunct,
  type Conjuncts,
  copyOf,
  everyType,
  lowerMaximum,
  narrow,
  raiseMinimum,
  type Shape,
  sizeOf,
  types,
} from "./shape.ts";

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
      if (!constraining.has(word) && !describing.has(word) && !word.startsWith("x-"))
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
      if (typeof reference !== "string") this.#wrong(at(word), "must be a string");
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
    // To compare all of them with each other takes too long.
    const many = all.length > 40;
    return all.map((one, index) => {
      const others = all.filter(
        (other, place) => place !== index && (many || !this.#parts.areDisjoint(one, other)),
      );
      if (others.length === 0) return pushing(one);
      if (many || !this.#withNegations || !others.every(({ schema }) => canNegate(schema))) {
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
      if (typeof pattern !== "string") this.#wrong(at("pattern"), "must be a string");
      else shape.patterns = [...shape.patterns, { source: pattern, negative: false, path: at("pattern") }];
    }
    if (format !== undefined) {
      if (typeof format !== "string") this.#wrong(at("format"), "must be a string");
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
    const resolve = this.#resolve.bind(this);
    const { ways, isPartial, isConstrained } = violationsOf(schema, path, resolve);
    if (isPartial) this.#isPartial = true;
    if (ways.length > 0) return this.#choose(branch, ways, path);
    // The negation of a schema without constraints is a contradiction.
    if (isConstrained) this.#ignored.add(path);
    return isConstrained;
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
    this.#wrong(at(word), "must be a whole number, 0 or more");
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
