import { ArrayGrammar } from "./array-grammar.ts";
import type { Budget } from "./budget.ts";
import { anyOf, literal, plainChars, type Rules } from "./gbnf.ts";
import { anyValue, boolean } from "./json-rules.ts";
import { textsOf } from "./language.ts";
import { NumberGrammar } from "./number-grammar.ts";
import { ObjectGrammar } from "./object-grammar.ts";
import { PatternLanguages } from "./pattern-languages.ts";
import { faultsOf } from "./schema-check.ts";
import { SchemaDocument } from "./schema-document.ts";
import { SchemaError, schemaLimits } from "./schema-error.ts";
import { hintOf, wordAt } from "./schema-path.ts";
import { type Shapes, shapesOf } from "./schema-shapes.ts";
import type { SchemaWriting } from "./schema-writing.ts";
import { type Conjunct, type Conjuncts, everyType, type Shape, types } from "./shape.ts";
import { StringGrammar } from "./string-grammar.ts";

export interface SchemaGrammar {
  /** The body for the schema's values. */
  readonly body: string;
  /** Paths of keywords that the grammar does not enforce. The finished answer must be checked for these. */
  readonly ignored: readonly string[];
}

/**
 * Adds the rules of a JSON schema. Every value that they allow satisfies the schema, except for the keywords
 * in `ignored`. They do not allow every valid value: objects are written in the order of their `properties`,
 * and keys that the schema does not name are written only if it requires more keys than it names. Throws
 * SchemaError and BudgetSpent. With `lenient`, ignores and names invalid parts of the schema.
 */
export function schemaGrammar(rules: Rules, schema: unknown, budget: Budget, lenient = false): SchemaGrammar {
  const text = writtenOut(schema);
  if (text.length > schemaLimits.textChars)
    throw new SchemaError("", `is over ${schemaLimits.textChars} characters`);
  budget.spend(text.length / 16);
  const writer = new SchemaWriter(rules, new SchemaDocument(schema), budget, lenient);
  const body = writer.write([{ schema, positive: true, path: "" }]);
  return { body, ignored: [...writer.ignored] };
}

function writtenOut(schema: unknown): string {
  try {
    return JSON.stringify(schema) ?? "";
  } catch {
    // The stack is too small to print it.
    throw new SchemaError("", `is nested more than ${schemaLimits.depth} levels deep`);
  }
}

class SchemaWriter implements SchemaWriting {
  readonly ignored = new Set<string>();
  readonly rules: Rules;
  readonly patterns: PatternLanguages;
  readonly #document: SchemaDocument;
  readonly budget: Budget;
  readonly #lenient: boolean;
  readonly #ids = new Map<unknown, number>();
  readonly #shapes = new Map<string, Shapes>();
  readonly #written = new Map<string, string>();
  readonly #emptiness = new Map<string, boolean>();
  readonly #open = new Set<string>();
  readonly #strings = new StringGrammar(this);
  readonly #numbers = new NumberGrammar(this);
  readonly #arrays = new ArrayGrammar(this);
  readonly #objects = new ObjectGrammar(this, this.#strings);
  readonly #values = new Map<Shape, readonly unknown[]>();
  readonly #enumerations = new Map<unknown, ReadonlySet<string>>();
  /**
   * The number of results that assumed something about a schema while its emptiness was still being
   * determined.
   */
  #assumptions = 0;
  #depth = 0;

  constructor(rules: Rules, document: SchemaDocument, budget: Budget, lenient: boolean) {
    this.rules = rules;
    this.patterns = new PatternLanguages(budget);
    this.#document = document;
    this.budget = budget;
    this.#lenient = lenient;
  }

  /**
   * Returns the name of a rule, or a body without alternatives, for the values that satisfy all of these
   * schemas.
   */
  write(conjuncts: Conjuncts): string {
    const path = conjuncts[0]?.path ?? "";
    const key = this.#key(conjuncts);
    const known = this.#written.get(key);
    if (known !== undefined) return known;
    if (this.isEmpty(conjuncts)) throw new SchemaError(path, "allows nothing");
    if (this.rules.count > schemaLimits.rules || this.rules.size > schemaLimits.grammarChars)
      throw new SchemaError(path, "makes a grammar that is too large");
    this.#depth += 1;
    if (this.#depth > schemaLimits.depth)
      throw new SchemaError(path, `is nested more than ${schemaLimits.depth} levels deep`);
    const { shapes, ignored } = this.shapesOf(conjuncts);
    for (const each of ignored) this.ignored.add(each);
    const name = this.rules.reserve(hintOf(path));
    this.#written.set(key, name);
    const bodies: string[] = [];
    const values = new Map<string, unknown>();
    for (const shape of shapes) {
      if (shape.values !== null) {
        for (const value of this.valuesOf(shape, conjuncts)) values.set(JSON.stringify(value), value);
        continue;
      }
      if (isAnything(shape)) bodies.push(anyValue(this.rules));
      else bodies.push(...this.#bodies(shape, conjuncts, path));
    }
    if (values.size > 0) bodies.push(this.#texts([...values.keys()], path));
    this.rules.define(name, [...new Set(bodies)].join(" | "));
    this.#depth -= 1;
    return name;
  }

  #bodies(shape: Shape, conjuncts: Conjuncts, path: string): string[] {
    const possible = this.typesOf(shape, conjuncts);
    // Schemas with only `minLength` are meant for strings, although values of other types would also satisfy
    // them.
    const wanted =
      shape.types === everyType && (possible & shape.hinted) !== 0 ? possible & shape.hinted : possible;
    const bodies: string[] = [];
    if ((wanted & types.object) !== 0) bodies.push(this.#objects.body(shape, path));
    if ((wanted & types.array) !== 0) bodies.push(this.#arrays.body(shape, path));
    if ((wanted & types.string) !== 0) bodies.push(this.#strings.body(shape, path));
    if ((wanted & types.number) !== 0) bodies.push(this.#numbers.body(shape, path));
    if ((wanted & types.boolean) !== 0) bodies.push(this.#booleans(shape));
    if ((wanted & types.null) !== 0) bodies.push('"null"');
    if (
      shape.notValues.some((value) => typeof value === "object" && value !== null) &&
      (wanted & (types.object | types.array)) !== 0
    )
      this.ignored.add(wordAt(path, "not"));
    return bodies;
  }

  /**
   * Whether no value satisfies all of these schemas. A schema that requires itself counts as empty, because values
   * are finite.
   */
  isEmpty(conjuncts: Conjuncts): boolean {
    const key = this.#key(conjuncts);
    const known = this.#emptiness.get(key);
    if (known !== undefined) return known;
    if (this.#open.has(key)) {
      this.#assumptions += 1;
      return true;
    }
    this.budget.spend(20);
    if (this.#open.size > schemaLimits.depth)
      throw new SchemaError(
        conjuncts[0]?.path ?? "",
        `is nested more than ${schemaLimits.depth} levels deep`,
      );
    const before = this.#assumptions;
    this.#open.add(key);
    const { shapes } = this.shapesOf(conjuncts);
    const isEmpty = shapes.every((shape) =>
      shape.values === null
        ? this.typesOf(shape, conjuncts) === 0
        : this.valuesOf(shape, conjuncts).length === 0,
    );
    this.#open.delete(key);
    if (!isEmpty || before === this.#assumptions) this.#emptiness.set(key, isEmpty);
    return isEmpty;
  }

  shapesOf(conjuncts: Conjuncts): Shapes {
    const key = this.#key(conjuncts);
    let shapes = this.#shapes.get(key);
    if (shapes === undefined) {
      const parts = {
        document: this.#document,
        budget: this.budget,
        lenient: this.#lenient,
        areDisjoint: (a: Conjunct, b: Conjunct) => this.isEmpty([a, b]),
      };
      shapes = shapesOf(conjuncts, parts);
      this.#shapes.set(key, shapes);
      // The result may be wrong, because some ways to violate a schema cannot be written.
      if (shapes.isPartial && !this.#open.has(`${key}?`)) {
        this.#open.add(`${key}?`);
        const isEmpty = shapes.shapes.every((shape) =>
          shape.values === null
            ? this.typesOf(shape, conjuncts) === 0
            : this.valuesOf(shape, conjuncts).length === 0,
        );
        this.#open.delete(`${key}?`);
        if (isEmpty) shapes = shapesOf(conjuncts, parts, false);
        this.#shapes.set(key, shapes);
      }
    }
    return shapes;
  }

  #key(conjuncts: Conjuncts): string {
    const keys = conjuncts.map(({ schema, positive }) => {
      let id = this.#ids.get(schema);
      if (id === undefined) {
        id = this.#ids.size;
        this.#ids.set(schema, id);
      }
      return `${positive ? "+" : "-"}${id}`;
    });
    return [...new Set(keys)].sort().join("");
  }

  /** Bits of the types that have values in this shape. */
  typesOf(shape: Shape, conjuncts: Conjuncts): number {
    const { types: said } = shape;
    let bits = 0;
    if ((said & types.null) !== 0 && !shape.notValues.includes(null)) bits |= types.null;
    if ((said & types.boolean) !== 0 && [true, false].some((value) => !shape.notValues.includes(value)))
      bits |= types.boolean;
    if ((said & types.string) !== 0 && this.#strings.exists(shape)) bits |= types.string;
    if ((said & types.number) !== 0 && this.#numbers.exists(shape)) bits |= types.number;
    if ((said & types.array) !== 0 && this.#arrays.exists(shape)) bits |= types.array;
    if ((said & types.object) !== 0 && this.#objects.exists(shape)) bits |= types.object;
    this.budget.spend(conjuncts.length);
    return bits;
  }

  /** The values of an enumeration that satisfy the other keywords. */
  valuesOf(shape: Shape, conjuncts: Conjuncts): readonly unknown[] {
    let values = this.#values.get(shape);
    if (values === undefined) {
      values = (shape.values ?? []).filter((value) =>
        conjuncts.every(({ schema, positive }) => this.satisfies(value, schema) === positive),
      );
      this.#values.set(shape, values);
    }
    return values;
  }

  satisfies(value: unknown, schema: unknown): boolean {
    const faults = faultsOf(value, schema, {
      document: this.#document,
      budget: this.budget,
      matches: (pattern, text) => this.patterns.found(pattern, false)?.has(text) ?? null,
      enumerations: this.#enumerations,
    });
    return faults.length === 0;
  }

  item(conjuncts: Conjuncts): string {
    return conjuncts.length === 0 ? anyValue(this.rules) : this.write(conjuncts);
  }

  /** Writes texts with common beginnings once, so that each character leaves only one alternative. */
  #texts(texts: readonly string[], path: string): string {
    if (texts.length <= fewTexts) return anyOf(texts.map(literal));
    return textsOf(texts, this.budget).body(this.rules, hintOf(path), plainChars);
  }

  #booleans({ notValues }: Shape): string {
    const left = [true, false].filter((value) => !notValues.includes(value));
    return left.length === 2 ? boolean(this.rules) : literal(String(left[0]));
  }
}

const fewTexts = 12;

function isAnything(shape: Shape): boolean {
  return (
    shape.types === everyType &&
    shape.hinted === 0 &&
    shape.notValues.length === 0 &&
    shape.otherItems.length === 0 &&
    shape.otherProperties.length === 0 &&
    shape.forbidden.size === 0
  );
}
