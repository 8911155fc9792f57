import { type Budget, BudgetSpent } from "./budget.ts";
import { ExpressionError, readExpression } from "./expression.ts";
import { anyOf, charClass, literal, type Rules, repeat } from "./gbnf.ts";
import {
  anyArray,
  anyObject,
  anyValue,
  boolean as booleanRule,
  integer,
  number as numberRule,
  space,
  string as stringRule,
} from "./json-rules.ts";
import {
  ambiguousLanguageOf,
  everything,
  jsonChars,
  Language,
  languageOf,
  lengthsFrom,
  textsOf,
  writableLanguage,
} from "./language.ts";
import { decimalRange, integerRange, multiplesOf } from "./number-range.ts";
import { faultsOf } from "./schema-check.ts";
import { SchemaDocument } from "./schema-document.ts";
import { SchemaError, schemaLimits } from "./schema-error.ts";
import {
  type Conjunct,
  type Conjuncts,
  everyType,
  type Shape,
  type Shapes,
  shapesOf,
  types,
} from "./schema-shape.ts";
import { describingFormats, stringFormats } from "./string-formats.ts";

export interface SchemaGrammar {
  /** The body for the schema's values. */
  readonly body: string;
  /** Paths of words that the grammar does not keep to: a check of the finished answer is left. */
  readonly ignored: readonly string[];
}

/**
 * Adds the rules of a JSON schema. Every value that they allow satisfies the schema, except where `ignored` names a
 * word; not every value that satisfies it is allowed: objects are written in the order of their `properties`, and keys
 * that the schema does not name are written only where it asks for more keys than it names. Throws SchemaError and
 * BudgetSpent. With `lenient`, what is wrong in the schema is ignored and named.
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
    // The stack is too small for it.
    throw new SchemaError("", `is nested over ${schemaLimits.depth} deep`);
  }
}

class SchemaWriter {
  readonly ignored = new Set<string>();
  readonly #rules: Rules;
  readonly #document: SchemaDocument;
  readonly #budget: Budget;
  readonly #lenient: boolean;
  readonly #ids = new Map<unknown, number>();
  readonly #shapes = new Map<string, Shapes>();
  readonly #written = new Map<string, string>();
  readonly #emptiness = new Map<string, boolean>();
  readonly #open = new Set<string>();
  readonly #patterns = new Map<string, Language | null>();
  /** Patterns that spent their share of the budget. */
  readonly #costly = new Set<string>();
  readonly #strings = new Map<Shape, Language | null>();
  readonly #numbers = new Map<Shape, Language | null>();
  readonly #values = new Map<Shape, readonly unknown[]>();
  readonly #enumerations = new Map<unknown, ReadonlySet<string>>();
  /** Counts answers that rested on a schema whose own emptiness was still being asked. */
  #assumptions = 0;
  #depth = 0;

  constructor(rules: Rules, document: SchemaDocument, budget: Budget, lenient: boolean) {
    this.#rules = rules;
    this.#document = document;
    this.#budget = budget;
    this.#lenient = lenient;
  }

  /** The name of a rule, or a body without alternatives, for the values that satisfy all of these. */
  write(conjuncts: Conjuncts): string {
    const path = conjuncts[0]?.path ?? "";
    const key = this.#key(conjuncts);
    const known = this.#written.get(key);
    if (known !== undefined) return known;
    if (this.isEmpty(conjuncts)) throw new SchemaError(path, "allows nothing");
    if (this.#rules.count > schemaLimits.rules || this.#rules.size > schemaLimits.grammarChars)
      throw new SchemaError(path, "makes a grammar that is too large");
    this.#depth += 1;
    if (this.#depth > schemaLimits.depth)
      throw new SchemaError(path, `is nested over ${schemaLimits.depth} deep`);
    const { shapes, ignored } = this.#shapesOf(conjuncts);
    for (const each of ignored) this.ignored.add(each);
    const name = this.#rules.reserve(hintOf(path));
    this.#written.set(key, name);
    const bodies: string[] = [];
    const values = new Map<string, unknown>();
    for (const shape of shapes) {
      if (shape.values !== null) {
        for (const value of this.#valuesOf(shape, conjuncts)) values.set(JSON.stringify(value), value);
        continue;
      }
      if (isAnything(shape)) bodies.push(anyValue(this.#rules));
      else bodies.push(...this.#bodies(shape, conjuncts, path));
    }
    if (values.size > 0) bodies.push(this.#texts([...values.keys()], path));
    this.#rules.define(name, [...new Set(bodies)].join(" | "));
    this.#depth -= 1;
    return name;
  }

  #bodies(shape: Shape, conjuncts: Conjuncts, path: string): string[] {
    const possible = this.#typesOf(shape, conjuncts);
    // `minLength` alone speaks of strings: that other types would do, too, is nobody's wish.
    const wanted =
      shape.types === everyType && (possible & shape.hinted) !== 0 ? possible & shape.hinted : possible;
    const bodies: string[] = [];
    if ((wanted & types.object) !== 0) bodies.push(this.#object(shape, path));
    if ((wanted & types.array) !== 0) bodies.push(this.#array(shape, path));
    if ((wanted & types.string) !== 0) bodies.push(this.#string(shape, path));
    if ((wanted & types.number) !== 0) bodies.push(this.#number(shape, path));
    if ((wanted & types.boolean) !== 0) bodies.push(this.#booleans(shape));
    if ((wanted & types.null) !== 0) bodies.push('"null"');
    if (
      shape.notValues.some((value) => typeof value === "object" && value !== null) &&
      (wanted & (types.object | types.array)) !== 0
    )
      this.ignored.add(joined(path, "not"));
    return bodies;
  }

  /** Whether nothing satisfies all of these. A schema within itself counts as empty: values are finite. */
  isEmpty(conjuncts: Conjuncts): boolean {
    const key = this.#key(conjuncts);
    const known = this.#emptiness.get(key);
    if (known !== undefined) return known;
    if (this.#open.has(key)) {
      this.#assumptions += 1;
      return true;
    }
    this.#budget.spend(20);
    if (this.#open.size > schemaLimits.depth)
      throw new SchemaError(conjuncts[0]?.path ?? "", `is nested over ${schemaLimits.depth} deep`);
    const before = this.#assumptions;
    this.#open.add(key);
    const { shapes } = this.#shapesOf(conjuncts);
    const isEmpty = shapes.every((shape) =>
      shape.values === null
        ? this.#typesOf(shape, conjuncts) === 0
        : this.#valuesOf(shape, conjuncts).length === 0,
    );
    this.#open.delete(key);
    if (!isEmpty || before === this.#assumptions) this.#emptiness.set(key, isEmpty);
    return isEmpty;
  }

  #shapesOf(conjuncts: Conjuncts): Shapes {
    const key = this.#key(conjuncts);
    let shapes = this.#shapes.get(key);
    if (shapes === undefined) {
      const parts = {
        document: this.#document,
        budget: this.#budget,
        lenient: this.#lenient,
        areDisjoint: (a: Conjunct, b: Conjunct) => this.isEmpty([a, b]),
      };
      shapes = shapesOf(conjuncts, parts);
      this.#shapes.set(key, shapes);
      // Perhaps it is only empty because not every way to violate a schema can be written.
      if (shapes.isPartial && !this.#open.has(`${key}?`)) {
        this.#open.add(`${key}?`);
        const isEmpty = shapes.shapes.every((shape) =>
          shape.values === null
            ? this.#typesOf(shape, conjuncts) === 0
            : this.#valuesOf(shape, conjuncts).length === 0,
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

  /** Bits of the types of which there are values. */
  #typesOf(shape: Shape, conjuncts: Conjuncts): number {
    const { types: said } = shape;
    let bits = 0;
    if ((said & types.null) !== 0 && !shape.notValues.includes(null)) bits |= types.null;
    if ((said & types.boolean) !== 0 && [true, false].some((value) => !shape.notValues.includes(value)))
      bits |= types.boolean;
    if ((said & types.string) !== 0 && this.#hasStrings(shape)) bits |= types.string;
    if ((said & types.number) !== 0 && this.#hasNumbers(shape)) bits |= types.number;
    if ((said & types.array) !== 0 && this.#listOf(shape) !== null) bits |= types.array;
    if ((said & types.object) !== 0 && this.#entriesOf(shape) !== null) bits |= types.object;
    this.#budget.spend(conjuncts.length);
    return bits;
  }

  /** Of an enumeration, what the other words leave. */
  #valuesOf(shape: Shape, conjuncts: Conjuncts): readonly unknown[] {
    let values = this.#values.get(shape);
    if (values === undefined) {
      const check = (value: unknown, schema: unknown) =>
        faultsOf(value, schema, {
          document: this.#document,
          budget: this.#budget,
          matches: (pattern, text) => this.#pattern(pattern, false)?.has(text) ?? null,
          hasFormat: () => null,
          enumerations: this.#enumerations,
        }).length === 0;
      values = (shape.values ?? []).filter((value) =>
        conjuncts.every(({ schema, positive }) => check(value, schema) === positive),
      );
      this.#values.set(shape, values);
    }
    return values;
  }

  /** Some texts, their common heads written once: each character leaves one way. */
  #texts(texts: readonly string[], path: string): string {
    if (texts.length <= fewTexts) return anyOf(texts.map(literal));
    return textsOf(texts, this.#budget).body(this.#rules, hintOf(path), plainChars);
  }

  #booleans({ notValues }: Shape): string {
    const left = [true, false].filter((value) => !notValues.includes(value));
    return left.length === 2 ? booleanRule(this.#rules) : literal(String(left[0]));
  }

  // Strings

  #hasStrings(shape: Shape): boolean {
    if (shape.minLength > shape.maxLength) return false;
    const language = this.#stringLanguage(shape);
    return language === null || !language.isEmpty;
  }

  #string(shape: Shape, path: string): string {
    const language = this.#stringLanguage(shape);
    if (language !== null) return `"\\"" ${language.body(this.#rules, hintOf(path), jsonChars)} "\\""`;
    const { minLength, maxLength } = shape;
    if (minLength > schemaLimits.repetitions) this.ignored.add(joined(path, "minLength"));
    const least = Math.min(minLength, schemaLimits.repetitions);
    const most = Math.max(least, Math.min(maxLength, schemaLimits.repetitions));
    return stringRule(this.#rules, least, maxLength === Infinity ? null : most);
  }

  /** Null: any string of the right length. What cannot be kept to is named as soon as it is known. */
  #stringLanguage(shape: Shape): Language | null {
    const known = this.#strings.get(shape);
    if (known !== undefined) return known;
    const texts = shape.notValues.filter((value): value is string => typeof value === "string");
    let language: Language | null = null;
    const and = (part: Language | null, path: string) => {
      if (part === null) {
        this.ignored.add(path);
        return;
      }
      const both = this.#attempt(() => (language ?? writableLanguage).and(part, this.#budget));
      if (both === null) this.ignored.add(path);
      else language = both;
    };
    const positive = shape.patterns.filter(({ negative }) => !negative);
    const single = positive.length === 1 && shape.patterns.length === 1 && texts.length === 0;
    const isBounded = shape.minLength > 0 || shape.maxLength !== Infinity;
    for (const { name, path } of shape.formats) {
      const source = Object.hasOwn(stringFormats, name) ? stringFormats[name]! : null;
      if (source !== null) and(this.#wholePattern(source), path);
      else if (!describingFormats.has(name)) this.ignored.add(path);
    }
    for (const { source, negative, path } of shape.patterns) {
      const whole = single ? this.#wholePattern(source) : null;
      const before: Language | null = language;
      // From end to end is the usual meaning, also where the expression is not anchored.
      if (whole !== null) and(whole, path);
      const isTooNarrow = (language as Language | null)?.isEmpty ?? false;
      if (whole !== null && !isTooNarrow && !isBounded) continue;
      language = before;
      const found = this.#pattern(source, negative);
      if (found === null && single && language === null && !isBounded) language = this.#ambiguous(source);
      if (language === null || language === before) and(found, path);
      // A format says no more than is usual: where a pattern wants the rest of it, the pattern holds.
      if (
        (language as Language | null)?.isEmpty === true &&
        before?.isEmpty === false &&
        shape.formats.length > 0
      ) {
        language = found;
        for (const format of shape.formats) this.ignored.add(format.path);
      }
    }
    if (texts.length > 0)
      and(
        this.#attempt(() => textsOf(texts, this.#budget).not(this.#budget)),
        "not",
      );
    if (language !== null && isBounded) {
      const [least, most] = [shape.minLength, shape.maxLength];
      const length = this.#attempt(() => lengthsFrom(least, most, this.#budget));
      and(length, shape.patterns[0]?.path ?? shape.formats[0]?.path ?? "minLength");
    }
    this.#strings.set(shape, language);
    return language;
  }

  #wholePattern(source: string): Language | null {
    return this.#once(`=${source}`, (budget) => languageOf(readExpression(source, budget), true, budget));
  }

  /** The texts in which an expression is found, or (`negative`) is not. */
  #pattern(source: string, negative: boolean): Language | null {
    const found = this.#once(`~${source}`, (budget) =>
      languageOf(readExpression(source, budget), false, budget),
    );
    return negative && found !== null ? this.#once(`!${source}`, (budget) => found.not(budget)) : found;
  }

  #ambiguous(source: string): Language | null {
    return this.#once(`?${source}`, (budget) => ambiguousLanguageOf(readExpression(source, budget), budget));
  }

  #once(key: string, make: (budget: Budget) => Language): Language | null {
    let language = this.#patterns.get(key);
    if (language === undefined) {
      const source = key.slice(1);
      language = this.#costly.has(source) ? null : this.#withinShare(source, make);
      this.#patterns.set(key, language);
    }
    return language;
  }

  #withinShare(source: string, make: (budget: Budget) => Language): Language | null {
    try {
      return this.#attempt(() => make(this.#budget.part(patternSteps)));
    } catch (error) {
      if (!(error instanceof BudgetSpent) || !error.isPart) throw error;
      this.#costly.add(source);
      return null;
    }
  }

  /** Null where no automaton can do it. */
  #attempt(make: () => Language): Language | null {
    try {
      return make();
    } catch (error) {
      if (error instanceof ExpressionError) return null;
      throw error;
    }
  }

  // Numbers

  #hasNumbers(shape: Shape): boolean {
    const source = rangeOf(shape);
    if (source === null) return false;
    const language = this.#numberLanguage(shape, source);
    return language === null || !language.isEmpty;
  }

  #number(shape: Shape, path: string): string {
    const source = rangeOf(shape) ?? "";
    const language = this.#numberLanguage(shape, source);
    if (language !== null) return language.body(this.#rules, hintOf(path), plainChars);
    if (source === "") return shape.whole ? integer(this.#rules) : numberRule(this.#rules);
    return this.#wholePattern(source)!.body(this.#rules, hintOf(path), plainChars);
  }

  /** Null where the range says it all. */
  #numberLanguage(shape: Shape, source: string): Language | null {
    const known = this.#numbers.get(shape);
    if (known !== undefined) return known;
    const numbers = shape.notValues.filter((value): value is number => typeof value === "number");
    let language: Language | null = null;
    if (shape.multiples.length > 0 || numbers.length > 0) {
      const range =
        source === ""
          ? shape.whole
            ? "-?(?:0|[1-9]\\d{0,14})"
            : "-?(?:0|[1-9]\\d{0,14})(?:\\.\\d{1,9})?"
          : source;
      language = this.#wholePattern(range);
      for (const { of, negative, path } of shape.multiples) {
        const all = this.#attempt(() => multiplesOf(of, shape.whole, this.#budget));
        const part = all !== null && negative ? this.#attempt(() => all.not(this.#budget)) : all;
        const both =
          part === null || language === null ? null : this.#attempt(() => language!.and(part, this.#budget));
        if (both === null) this.ignored.add(path);
        else language = both;
      }
      for (const value of numbers) {
        const spelled = `^${String(value).replace(/[.+]/g, "\\$&")}${Number.isInteger(value) ? "(?:\\.0+)?" : "0*"}$`;
        const others = this.#pattern(spelled, true);
        language =
          others === null || language === null
            ? language
            : this.#attempt(() => language!.and(others, this.#budget));
      }
    }
    this.#numbers.set(shape, language);
    return language;
  }

  // Arrays

  /** Null where there is no such list. */
  #listOf(shape: Shape): {
    readonly prefix: readonly Conjuncts[];
    readonly rest: Conjuncts;
    readonly least: number;
    readonly most: number;
  } | null {
    const length = Math.max(0, ...shape.lists.map(({ prefix }) => prefix.length));
    const prefix = Array.from({ length }, (_, index) =>
      shape.lists.flatMap((list) => list.prefix[index] ?? list.rest ?? []),
    );
    const others = shape.lists.some(({ rest }) => rest !== null) ? [] : shape.otherItems;
    const rest = [...shape.lists.flatMap((list) => list.rest ?? []), ...others];
    let most = shape.maxItems;
    const firstEmpty = prefix.findIndex((item) => this.isEmpty(item));
    if (firstEmpty >= 0) most = Math.min(most, firstEmpty);
    if (most > length && this.isEmpty(rest)) most = length;
    const least = shape.minItems;
    const needed = shape.contains.some(
      (each) =>
        each.least > most ||
        each.least > each.most ||
        (each.least > 0 && length === 0 && this.isEmpty([...rest, each.item])),
    );
    if (least > most || needed) return null;
    if (shape.unique !== null && length === 0) {
      const values = this.#finiteValues(rest);
      if (values !== null) most = Math.min(most, values.length);
      if (least > most) return null;
    }
    return { prefix, rest, least, most };
  }

  #array(shape: Shape, path: string): string {
    const { prefix, rest, least, most } = this.#listOf(shape)!;
    if (shape.otherItems.length > 0 && shape.othersUncertain) this.ignored.add(shape.otherItems[0]!.path);
    if (most === 0) return `"[" ${space(this.#rules)} "]"`;
    if (prefix.length > 0) return this.#tuple(shape, prefix, rest, least, most, path);
    if (shape.contains.length === 0 && rest.length === 0 && least === 0 && most === Infinity) {
      if (shape.unique !== null) this.ignored.add(shape.unique);
      return anyArray(this.#rules);
    }
    if (shape.contains.length > 0) return this.#containing(shape, rest, least, most, path);
    if (shape.unique !== null && most > 1) {
      const values = this.#finiteValues(rest);
      if (values !== null && values.length <= mostUnique)
        return this.#permutations(values, least, most, path);
      this.ignored.add(shape.unique);
    }
    return this.#items(`${this.#item(rest)}`, least, most, path);
  }

  #items(item: string, least: number, most: number, path: string): string {
    const blank = space(this.#rules);
    const own = this.#rules.add(`${hintOf(path)}-item`, `${item} ${blank}`);
    const bound = schemaLimits.repetitions;
    if (least > bound) this.ignored.add(joined(path, "minItems"));
    const from = Math.max(Math.min(least, bound) - 1, 0);
    const to = Math.max(from, Math.min(most, bound) - 1);
    const more = `"," ${blank} ${own}`;
    const list = `${own} ${most === Infinity ? (from > 0 ? `(${more}){${from},}` : `(${more})*`) : repeat(more, from, to)}`;
    return `"[" ${blank} ${least === 0 ? `(${list})?` : list} "]"`;
  }

  #item(conjuncts: Conjuncts): string {
    return conjuncts.length === 0 ? anyValue(this.#rules) : this.write(conjuncts);
  }

  /** The named items and no more, unless more are asked for. */
  #tuple(
    shape: Shape,
    prefix: readonly Conjuncts[],
    rest: Conjuncts,
    least: number,
    most: number,
    path: string,
  ): string {
    if (shape.unique !== null) this.ignored.add(shape.unique);
    for (const each of shape.contains) this.ignored.add(each.path);
    if (shape.otherItems.length > 0 && shape.contains.length > 0)
      this.ignored.add(joined(path, "unevaluatedItems"));
    const asked = Math.max(prefix.length, least);
    if (asked > schemaLimits.repetitions && least > prefix.length) this.ignored.add(joined(path, "minItems"));
    const length = Math.min(most, Math.max(prefix.length, Math.min(asked, schemaLimits.repetitions)));
    const blank = space(this.#rules);
    const items = Array.from({ length }, (_, index) => `${this.#item(prefix[index] ?? rest)} ${blank}`);
    return `"[" ${blank} ${items.join(` "," ${blank} `)} "]"`;
  }

  /** Lists of which some items satisfy `contains`. */
  #containing(shape: Shape, rest: Conjuncts, least: number, most: number, path: string): string {
    const [first, ...others] = shape.contains;
    if (shape.unique !== null && most > 1) this.ignored.add(shape.unique);
    if (shape.otherItems.length > 0) this.ignored.add(joined(path, "unevaluatedItems"));
    for (const each of others) this.ignored.add(each.path);
    const { item, least: needed, path: own } = first!;
    const allowed = first!.most >= most ? Infinity : first!.most;
    if (needed > mostContained || (allowed !== Infinity && needed === 0)) this.ignored.add(own);
    const count = Math.min(needed, mostContained);
    let between = rest;
    if (allowed !== Infinity) {
      const not: Conjunct = { ...item, positive: !item.positive };
      if (this.#canSplit(rest, not)) between = [...rest, not];
      else this.ignored.add(own);
    }
    const found = [...rest, item];
    if (this.isEmpty(between)) {
      const end = Math.min(most, allowed);
      if (Math.max(least, count) > end) this.ignored.add(own);
      return this.#items(this.#item(found), Math.max(least, count), Math.max(end, least, count), path);
    }
    if (count === 0) return this.#items(this.#item(between), least, most, path);
    const blank = space(this.#rules);
    const any = `${this.#item(between)} ${blank}`;
    const needle = `${this.#item(found)} ${blank}`;
    const more = `"," ${blank} ${any}`;
    if (least <= count && most === Infinity) {
      const chain = Array.from({ length: count }, () => `(${any} "," ${blank})* ${needle}`);
      return `"[" ${blank} ${chain.join(` "," ${blank} `)} (${more})* "]"`;
    }
    // Where the length is bounded, too, the found items come first: fewer states, and all bounds hold.
    const from = Math.max(0, least - count);
    const to = Math.max(from, Math.min(most, schemaLimits.repetitions) - count);
    const tail = most === Infinity ? `(${more}){${from},}` : repeat(more, from, to);
    return `"[" ${blank} ${Array.from({ length: count }, () => needle).join(` "," ${blank} `)} ${tail} "]"`;
  }

  #canSplit(rest: Conjuncts, not: Conjunct): boolean {
    return this.#shapesOf([...rest, not]).ignored.length === 0;
  }

  /** The values of a schema that has few; null: many, or not known. */
  #finiteValues(conjuncts: Conjuncts): readonly unknown[] | null {
    if (conjuncts.length === 0) return null;
    const { shapes } = this.#shapesOf(conjuncts);
    const all = new Map<string, unknown>();
    for (const shape of shapes) {
      if (shape.values !== null)
        for (const value of this.#valuesOf(shape, conjuncts)) all.set(JSON.stringify(value), value);
      else {
        const possible = this.#typesOf(shape, conjuncts);
        if ((possible & ~(types.null | types.boolean)) !== 0) return null;
        if ((possible & types.null) !== 0) all.set("null", null);
        if ((possible & types.boolean) !== 0)
          for (const value of [true, false])
            if (!shape.notValues.includes(value)) all.set(String(value), value);
      }
    }
    return [...all.values()];
  }

  /** Lists without a repeated item: one rule for each set of values that are left. */
  #permutations(values: readonly unknown[], least: number, most: number, path: string): string {
    const blank = space(this.#rules);
    const bound = Math.min(most, values.length);
    const names = new Map<number, string>();
    const rest = (used: number): string => {
      const known = names.get(used);
      if (known !== undefined) return known;
      const name = this.#rules.reserve(`${hintOf(path)}-rest`);
      names.set(used, name);
      const count = values.filter((_, index) => (used & (1 << index)) !== 0).length;
      const bodies =
        count >= bound
          ? []
          : values.flatMap((value, index) =>
              (used & (1 << index)) === 0
                ? [
                    `${count > 0 ? `"," ${blank} ` : ""}${literal(JSON.stringify(value))} ${blank} ${rest(used | (1 << index))}`,
                  ]
                : [],
            );
      if (count >= least) bodies.push('""');
      this.#rules.define(name, bodies.join(" | "));
      return name;
    };
    return `"[" ${blank} ${rest(0)} "]"`;
  }

  // Objects

  /** Null where there is no such object. Properties that can have no value are left out. */
  #entriesOf(shape: Shape): readonly Entry[] | null {
    const names = new Set([...shape.named.keys(), ...shape.required]);
    this.#budget.spend(names.size);
    const entries: Entry[] = [];
    for (const name of names) {
      const isRequired = shape.required.has(name);
      const value = this.#propertyOf(shape, name);
      const isPossible =
        !shape.forbidden.has(name) && this.#isNameAllowed(shape, name) && !this.isEmpty(value);
      if (isPossible) entries.push({ name, value, isRequired });
      else if (isRequired) return null;
    }
    const needed = entries.filter(({ isRequired }) => isRequired).length;
    if (needed > shape.maxProperties || shape.minProperties > shape.maxProperties) return null;
    if (
      shape.minProperties > entries.length &&
      this.#othersOf(
        shape,
        entries.map(({ name }) => name),
      ).length === 0
    )
      return null;
    return entries;
  }

  #isNameAllowed(shape: Shape, name: string): boolean {
    return shape.names.every(({ schema }) => {
      const faults = faultsOf(name, schema, {
        document: this.#document,
        budget: this.#budget,
        matches: (pattern, text) => this.#pattern(pattern, false)?.has(text) ?? null,
        hasFormat: () => null,
        enumerations: this.#enumerations,
      });
      return faults.length === 0;
    });
  }

  #propertyOf(shape: Shape, name: string): Conjuncts {
    const own = shape.named.get(name) ?? [];
    const maps = shape.maps.flatMap((map) => {
      this.#budget.spend(2);
      const matched = map.patterns.filter(([source]) => this.#pattern(source, false)?.has(name) ?? false);
      if (map.named.has(name)) return matched.map(([, value]) => value);
      return matched.length > 0 ? matched.map(([, value]) => value) : (map.additional ?? []);
    });
    const others = own.length === 0 && maps.length === 0 ? shape.otherProperties : [];
    return [...own, ...maps, ...others];
  }

  #object(shape: Shape, path: string): string {
    const entries = this.#entriesOf(shape)!;
    const blank = space(this.#rules);
    const isUncertain = shape.othersUncertain || shape.maps.some(({ patterns }) => patterns.length > 0);
    if (shape.otherProperties.length > 0 && isUncertain) this.ignored.add(shape.otherProperties[0]!.path);
    const { minProperties: least, maxProperties: most } = shape;
    if (entries.length > 0 && least <= entries.length)
      return `"{" ${blank} ${this.#chain(entries, least, most, path)} "}"`;
    const others = this.#othersOf(
      shape,
      entries.map(({ name }) => name),
    ).map(
      ({ key, value }) =>
        `${key === null ? stringRule(this.#rules) : `"\\"" ${key.body(this.#rules, "key", jsonChars)} "\\""`} ":" ${blank} ${this.#item(value)} ${blank}`,
    );
    const isFree =
      shape.maps.length === 0 &&
      shape.names.length === 0 &&
      shape.otherProperties.length === 0 &&
      shape.forbidden.size === 0;
    if (entries.length === 0 && isFree && least === 0 && most === Infinity) return anyObject(this.#rules);
    if (others.length === 0 || most === 0) return `"{" ${blank} "}"`;
    const entry = this.#rules.add("entry", anyOf(others));
    const wanted = Math.min(Math.max(least - entries.length, 0), schemaLimits.repetitions);
    // A key may come twice, and then counts once.
    if (least > 1) this.ignored.add(joined(path, "minProperties"));
    const more = `"," ${blank} ${entry}`;
    if (entries.length > 0) {
      const chain = this.#chain(
        entries.map((each) => ({ ...each, isRequired: true })),
        0,
        Infinity,
        path,
      );
      return `"{" ${blank} ${chain} ${repeat(more, wanted, wanted)} "}"`;
    }
    const to = Math.min(most, schemaLimits.repetitions) - 1;
    const from = Math.max(wanted - 1, 0);
    const list = `${entry} ${most === Infinity ? (from > 0 ? `(${more}){${from},}` : `(${more})*`) : repeat(more, from, to)}`;
    return `"{" ${blank} ${least === 0 ? `(${list})?` : list} "}"`;
  }

  /** Keys in their order; of the optional ones so many that the count is right. */
  #chain(entries: readonly Entry[], least: number, most: number, path: string): string {
    const blank = space(this.#rules);
    const hint = hintOf(path);
    const required = entries.filter(({ isRequired }) => isRequired).length;
    const isCounted = least > required || most < entries.length;
    if (isCounted && entries.length * Math.min(entries.length, most) > mostCounted) {
      this.ignored.add(joined(path, least > required ? "minProperties" : "maxProperties"));
      return this.#chain(entries, 0, Infinity, path);
    }
    const pairs = entries.map(({ name, value }) =>
      this.#rules.add(
        `${hint}-${name}`,
        `${literal(JSON.stringify(name))} ":" ${blank} ${this.#item(value)} ${blank}`,
      ),
    );
    const needed = new Array<number>(entries.length + 1).fill(0);
    for (let index = entries.length - 1; index >= 0; index -= 1)
      needed[index] = needed[index + 1]! + (entries[index]!.isRequired ? 1 : 0);
    const known = new Map<string, string | null>();
    /** What may follow when `count` keys are written and those before `index` are decided. Null: nothing fits. */
    const from = (index: number, count: number): string | null => {
      const seen = isCounted ? count : Math.min(count, 1);
      const key = `${index},${seen}`;
      const ready = known.get(key);
      if (ready !== undefined) return ready;
      known.set(key, null);
      let body: string | null = null;
      if (index === entries.length) body = !isCounted || (count >= least && count <= most) ? '""' : null;
      else if (!isCounted || count + needed[index]! <= most) {
        const after = from(index + 1, count + 1);
        const taken =
          after === null
            ? null
            : `${count > 0 ? `"," ${blank} ` : ""}${pairs[index]!}${after === '""' ? "" : ` ${after}`}`;
        const left = entries[index]!.isRequired ? null : from(index + 1, count);
        const ways = [taken, left].filter((way) => way !== null);
        body = ways.length === 0 ? null : this.#rules.add(`${hint}-next`, ways.join(" | "));
      }
      known.set(key, body);
      return body;
    };
    // Bottom up, as deep recursion would be needed for many properties.
    for (let index = entries.length; index >= 0; index -= 1) {
      const counts = isCounted
        ? Array.from({ length: Math.min(index, most) + 1 }, (_, count) => count)
        : index === 0
          ? [0]
          : [0, 1];
      for (const count of counts) from(index, count);
    }
    return from(0, 0) ?? '""';
  }

  /** Kinds of keys that are not named, each with its values. */
  #othersOf(
    shape: Shape,
    names: readonly string[],
  ): { readonly key: Language | null; readonly value: Conjuncts }[] {
    const sources = [...new Set(shape.maps.flatMap(({ patterns }) => patterns.map(([source]) => source)))];
    const excluded = [...names, ...shape.named.keys(), ...shape.forbidden];
    let base: Language | null =
      excluded.length === 0
        ? null
        : this.#attempt(() => textsOf([...new Set(excluded)], this.#budget).not(this.#budget));
    for (const name of shape.names) base = this.#andKeys(base, name);
    const kinds = [...sources, null].map((own) => {
      let key: Language | null = base;
      for (const source of sources) {
        const language = this.#pattern(source, source !== own);
        const both =
          language === null
            ? null
            : this.#attempt(() => (key ?? writableLanguage).and(language, this.#budget));
        if (both === null)
          this.ignored.add(
            shape.maps.flatMap(({ patterns }) => patterns).find(([each]) => each === source)?.[1].path ?? "",
          );
        else key = both;
      }
      const value = shape.maps.flatMap((map) => {
        const matched = map.patterns.filter(([source]) => source === own).map(([, each]) => each);
        return matched.length > 0 ? matched : (map.additional ?? []);
      });
      return { key, value: value.length === 0 ? shape.otherProperties : value };
    });
    return kinds
      .map(({ key, value }) => ({
        key: key === null ? null : this.#attempt(() => key.and(writableLanguage, this.#budget)),
        value,
      }))
      .filter(({ key, value }) => !(key?.isEmpty ?? false) && !this.isEmpty(value));
  }

  #andKeys(base: Language | null, name: Conjunct): Language | null {
    const { shapes, ignored } = this.#shapesOf([name]);
    const strings = shapes.filter(({ types: said }) => (said & types.string) !== 0);
    const give = () => {
      this.ignored.add(name.path);
      return base;
    };
    if (strings.length === 0) return new Language([[]], [false]);
    if (strings.length > 1 || ignored.length > 0) return give();
    const shape = strings[0]!;
    let language: Language | null;
    if (shape.values !== null) {
      const texts = this.#valuesOf(shape, [name]).filter(
        (value): value is string => typeof value === "string",
      );
      language = texts.length === 0 ? new Language([[]], [false]) : textsOf(texts, this.#budget);
    } else {
      language = this.#stringLanguage(shape);
      const { minLength, maxLength } = shape;
      if (language === null && (minLength > 0 || maxLength !== Infinity))
        language = this.#attempt(() => lengthsFrom(minLength, maxLength, this.#budget));
      if (language === null) return minLength > 0 || maxLength !== Infinity ? give() : base;
    }
    const own = language;
    return this.#attempt(() => (base ?? everything).and(own, this.#budget)) ?? give();
  }
}

interface Entry {
  readonly name: string;
  readonly value: Conjuncts;
  readonly isRequired: boolean;
}

/** Of the whole budget, the share of one pattern: above it the pattern is left to a check of the answer. */
const patternSteps = 500_000;
const fewTexts = 12;
const mostUnique = 6;
const mostContained = 16;
const mostCounted = 2000;

/** Texts of JSON, written as they are. */
function plainChars(ranges: readonly { readonly from: number; readonly to: number }[]): string {
  const [only] = ranges;
  if (ranges.length === 1 && only!.from === only!.to) return literal(String.fromCodePoint(only!.from));
  return charClass(ranges);
}

/** A range of numbers as an expression; "": any, null: none. */
function rangeOf(shape: Shape): string | null {
  if (shape.minimum === null && shape.maximum === null) return "";
  // Beyond that all numbers that are written are within the bound.
  const [low, high] = [shape.minimum ?? -Infinity, shape.maximum ?? Infinity];
  const [least, most] = [inward(low, 1), inward(high, -1)];
  const bounds = {
    least: least <= -largest && most > -largest ? null : least,
    most: most >= largest && least < largest ? null : most,
    leastExcluded: shape.minimumExcluded && least === low,
    mostExcluded: shape.maximumExcluded && most === high,
  };
  if (bounds.least === null && bounds.most === null) return "";
  return shape.whole ? integerRange(bounds) : decimalRange(bounds);
}

/** A bound of so many digits that a number next to it would be rounded to it: the next that has fewer. */
function inward(bound: number, step: 1 | -1): number {
  const digits = String(bound).split(".")[1]?.length ?? 0;
  if (digits <= 12 && !String(bound).includes("e-")) return bound;
  let units = Math.round(bound * 1e8);
  while ((units / 1e8 - bound) * step < 0) units += step;
  return units / 1e8;
}

/** Numbers are written with at most 15 digits before the point. */
const largest = 1e15;

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

function hintOf(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1) || "answer";
}

function joined(path: string, word: string): string {
  return path === "" ? word : `${path}.${word}`;
}
