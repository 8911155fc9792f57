import { attempt } from "./expression.ts";
import { anyOf, literal, repeat } from "./gbnf.ts";
import { anyObject, space, string } from "./json-rules.ts";
import { everything, jsonChars, Language, lengthsFrom, textsOf, writableLanguage } from "./language.ts";
import { schemaLimits } from "./schema-error.ts";
import { hintOf, wordAt } from "./schema-path.ts";
import type { SchemaWriting } from "./schema-writing.ts";
import { type Conjunct, type Conjuncts, type Shape, types } from "./shape.ts";
import type { StringGrammar } from "./string-grammar.ts";

interface Entry {
  readonly name: string;
  readonly value: Conjuncts;
  readonly isRequired: boolean;
}

/** With more states than this, a bound on the number of properties is not enforced. */
const mostCounted = 2000;

/** Writes objects: named properties in their order, and the keys that patterns allow. */
export class ObjectGrammar {
  readonly #writing: SchemaWriting;
  readonly #strings: StringGrammar;

  constructor(writing: SchemaWriting, strings: StringGrammar) {
    this.#writing = writing;
    this.#strings = strings;
  }

  exists(shape: Shape): boolean {
    return this.#entriesOf(shape) !== null;
  }

  /** Null if no object satisfies the shape. Properties that cannot have a value are omitted. */
  #entriesOf(shape: Shape): readonly Entry[] | null {
    const names = new Set([...shape.named.keys(), ...shape.required]);
    this.#writing.budget.spend(names.size);
    const entries: Entry[] = [];
    for (const name of names) {
      const isRequired = shape.required.has(name);
      const value = this.#propertyOf(shape, name);
      const isPossible =
        !shape.forbidden.has(name) && this.#isNameAllowed(shape, name) && !this.#writing.isEmpty(value);
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
    return shape.names.every(({ schema }) => this.#writing.satisfies(name, schema));
  }

  #propertyOf(shape: Shape, name: string): Conjuncts {
    const own = shape.named.get(name) ?? [];
    const maps = shape.maps.flatMap((map) => {
      this.#writing.budget.spend(2);
      const matched = map.patterns.filter(
        ([source]) => this.#writing.patterns.found(source, false)?.has(name) ?? false,
      );
      if (map.named.has(name)) return matched.map(([, value]) => value);
      return matched.length > 0 ? matched.map(([, value]) => value) : (map.additional ?? []);
    });
    const others = own.length === 0 && maps.length === 0 ? shape.otherProperties : [];
    return [...own, ...maps, ...others];
  }

  body(shape: Shape, path: string): string {
    const entries = this.#entriesOf(shape)!;
    const blank = space(this.#writing.rules);
    const isUncertain = shape.othersUncertain || shape.maps.some(({ patterns }) => patterns.length > 0);
    if (shape.otherProperties.length > 0 && isUncertain)
      this.#writing.ignored.add(shape.otherProperties[0]!.path);
    const { minProperties: least, maxProperties: most } = shape;
    if (entries.length > 0 && least <= entries.length)
      return `"{" ${blank} ${this.#chain(entries, least, most, path)} "}"`;
    const others = this.#othersOf(
      shape,
      entries.map(({ name }) => name),
    ).map(
      ({ key, value }) =>
        `${key === null ? string(this.#writing.rules) : `"\\"" ${key.body(this.#writing.rules, "key", jsonChars)} "\\""`} ":" ${blank} ${this.#writing.item(value)} ${blank}`,
    );
    const isFree =
      shape.named.size === 0 &&
      shape.maps.length === 0 &&
      shape.names.length === 0 &&
      shape.otherProperties.length === 0 &&
      shape.forbidden.size === 0;
    if (entries.length === 0 && isFree && least === 0 && most === Infinity)
      return anyObject(this.#writing.rules);
    if (others.length === 0 || most === 0) return `"{" ${blank} "}"`;
    const entry = this.#writing.rules.add("entry", anyOf(others));
    const wanted = Math.min(Math.max(least - entries.length, 0), schemaLimits.repetitions);
    // A repeated key counts only once.
    if (least > 1) this.#writing.ignored.add(wordAt(path, "minProperties"));
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

  /** Writes the keys in their order, with as many optional keys as the bounds allow. */
  #chain(entries: readonly Entry[], least: number, most: number, path: string): string {
    const blank = space(this.#writing.rules);
    const hint = hintOf(path);
    const required = entries.filter(({ isRequired }) => isRequired).length;
    const isCounted = least > required || most < entries.length;
    if (isCounted && entries.length * Math.min(entries.length, most) > mostCounted) {
      this.#writing.ignored.add(wordAt(path, least > required ? "minProperties" : "maxProperties"));
      return this.#chain(entries, 0, Infinity, path);
    }
    const pairs = entries.map(({ name, value }) =>
      this.#writing.rules.add(
        `${hint}-${name}`,
        `${literal(JSON.stringify(name))} ":" ${blank} ${this.#writing.item(value)} ${blank}`,
      ),
    );
    const needed = new Array<number>(entries.length + 1).fill(0);
    for (let index = entries.length - 1; index >= 0; index -= 1)
      needed[index] = needed[index + 1]! + (entries[index]!.isRequired ? 1 : 0);
    const known = new Map<string, string | null>();
    /**
     * Writes what may follow after `count` keys if the keys before `index` are decided. Null if nothing fits.
     */
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
        body = ways.length === 0 ? null : this.#writing.rules.add(`${hint}-next`, ways.join(" | "));
      }
      known.set(key, body);
      return body;
    };
    // Works from the end to the start, because many properties would need deep recursion.
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

  /** Returns the groups of keys that the schema does not name, each with its values. */
  #othersOf(
    shape: Shape,
    names: readonly string[],
  ): { readonly key: Language | null; readonly value: Conjuncts }[] {
    const sources = [...new Set(shape.maps.flatMap(({ patterns }) => patterns.map(([source]) => source)))];
    const excluded = [...names, ...shape.named.keys(), ...shape.forbidden];
    let base: Language | null =
      excluded.length === 0
        ? null
        : attempt(() => textsOf([...new Set(excluded)], this.#writing.budget).not(this.#writing.budget));
    for (const name of shape.names) base = this.#andKeys(base, name);
    const kinds = [...sources, null].map((own) => {
      let key: Language | null = base;
      for (const source of sources) {
        const language = this.#writing.patterns.found(source, source !== own);
        const both =
          language === null
            ? null
            : attempt(() => (key ?? writableLanguage).and(language, this.#writing.budget));
        if (both === null)
          this.#writing.ignored.add(
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
        key: key === null ? null : attempt(() => key.and(writableLanguage, this.#writing.budget)),
        value,
      }))
      .filter(({ key, value }) => !(key?.isEmpty ?? false) && !this.#writing.isEmpty(value));
  }

  #andKeys(base: Language | null, name: Conjunct): Language | null {
    const { shapes, ignored } = this.#writing.shapesOf([name]);
    const strings = shapes.filter(({ types: said }) => (said & types.string) !== 0);
    const give = () => {
      this.#writing.ignored.add(name.path);
      return base;
    };
    if (strings.length === 0) return new Language([[]], [false]);
    if (strings.length > 1 || ignored.length > 0) return give();
    const shape = strings[0]!;
    let language: Language | null;
    if (shape.values !== null) {
      const texts = this.#writing
        .valuesOf(shape, [name])
        .filter((value): value is string => typeof value === "string");
      language = texts.length === 0 ? new Language([[]], [false]) : textsOf(texts, this.#writing.budget);
    } else {
      language = this.#strings.language(shape);
      const { minLength, maxLength } = shape;
      if (language === null && (minLength > 0 || maxLength !== Infinity))
        language = attempt(() => lengthsFrom(minLength, maxLength, this.#writing.budget));
      if (language === null) return minLength > 0 || maxLength !== Infinity ? give() : base;
    }
    const own = language;
    return attempt(() => (base ?? everything).and(own, this.#writing.budget)) ?? give();
  }
}
