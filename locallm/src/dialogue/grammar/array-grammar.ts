import { literal, repeat } from "./gbnf.ts";
import { anyArray, space } from "./json-rules.ts";
import { schemaLimits } from "./schema-error.ts";
import { hintOf, wordAt } from "./schema-path.ts";
import type { SchemaWriting } from "./schema-writing.ts";
import { type Conjunct, type Conjuncts, type Shape, types } from "./shape.ts";

const mostUnique = 6;
const mostContained = 16;

interface Lengths {
  readonly prefix: readonly Conjuncts[];
  /** What the items after the prefix satisfy. */
  readonly rest: Conjuncts;
  /** The same without `unevaluatedItems`, which says nothing of items that satisfy `contains`. */
  readonly known: Conjuncts;
  readonly least: number;
  readonly most: number;
}

/** Writes arrays: tuples, lists, `contains` and `uniqueItems`. */
export class ArrayGrammar {
  readonly #writing: SchemaWriting;

  constructor(writing: SchemaWriting) {
    this.#writing = writing;
  }

  exists(shape: Shape): boolean {
    return this.#lengths(shape) !== null;
  }

  /** Null if no list satisfies the shape. */
  #lengths(shape: Shape): Lengths | null {
    const length = Math.max(0, ...shape.lists.map(({ prefix }) => prefix.length));
    const prefix = Array.from({ length }, (_, index) =>
      shape.lists.flatMap((list) => list.prefix[index] ?? list.rest ?? []),
    );
    const others = shape.lists.some(({ rest }) => rest !== null) ? [] : shape.otherItems;
    const known = shape.lists.flatMap((list) => list.rest ?? []);
    const rest = [...known, ...others];
    const isContainable = ({ item }: { readonly item: Conjunct }) =>
      length === 0 && !this.#writing.isEmpty([...known, item]);
    let most = shape.maxItems;
    const firstEmpty = prefix.findIndex((item) => this.#writing.isEmpty(item));
    if (firstEmpty >= 0) most = Math.min(most, firstEmpty);
    if (most > length && this.#writing.isEmpty(rest) && !shape.contains.some(isContainable)) most = length;
    const least = shape.minItems;
    const needed = shape.contains.some(
      (each) =>
        each.least > most ||
        each.least > each.most ||
        (each.least > 0 && length === 0 && !isContainable(each)),
    );
    if (least > most || needed) return null;
    if (shape.unique !== null && length === 0) {
      const values = this.#finiteValues(shape.contains.length > 0 ? known : rest);
      if (values !== null) most = Math.min(most, values.length);
      if (least > most) return null;
    }
    return { prefix, rest, known, least, most };
  }

  body(shape: Shape, path: string): string {
    const { prefix, rest, known, least, most } = this.#lengths(shape)!;
    if (shape.otherItems.length > 0 && shape.othersUncertain)
      this.#writing.ignored.add(shape.otherItems[0]!.path);
    if (most === 0) return `"[" ${space(this.#writing.rules)} "]"`;
    if (prefix.length > 0) return this.#tuple(shape, prefix, rest, least, most, path);
    if (shape.contains.length === 0 && rest.length === 0 && least === 0 && most === Infinity) {
      if (shape.unique !== null) this.#writing.ignored.add(shape.unique);
      return anyArray(this.#writing.rules);
    }
    if (shape.contains.length > 0) return this.#containing(shape, { rest, known, least, most }, path);
    if (shape.unique !== null && most > 1) {
      const values = this.#finiteValues(rest);
      if (values !== null && values.length <= mostUnique)
        return this.#permutations(values, least, most, path);
      this.#writing.ignored.add(shape.unique);
    }
    return this.#items(`${this.#writing.item(rest)}`, least, most, path);
  }

  #items(item: string, least: number, most: number, path: string): string {
    const blank = space(this.#writing.rules);
    const own = this.#writing.rules.add(`${hintOf(path)}-item`, `${item} ${blank}`);
    const bound = schemaLimits.repetitions;
    if (least > bound) this.#writing.ignored.add(wordAt(path, "minItems"));
    const from = Math.max(Math.min(least, bound) - 1, 0);
    const to = Math.max(from, Math.min(most, bound) - 1);
    const more = `"," ${blank} ${own}`;
    const list = `${own} ${most === Infinity ? (from > 0 ? `(${more}){${from},}` : `(${more})*`) : repeat(more, from, to)}`;
    return `"[" ${blank} ${least === 0 ? `(${list})?` : list} "]"`;
  }

  /** Writes the items of the prefix. Writes further items only if `minItems` requires them. */
  #tuple(
    shape: Shape,
    prefix: readonly Conjuncts[],
    rest: Conjuncts,
    least: number,
    most: number,
    path: string,
  ): string {
    if (shape.unique !== null) this.#writing.ignored.add(shape.unique);
    for (const each of shape.contains) this.#writing.ignored.add(each.path);
    if (shape.otherItems.length > 0 && shape.contains.length > 0)
      this.#writing.ignored.add(wordAt(path, "unevaluatedItems"));
    const asked = Math.max(prefix.length, least);
    if (asked > schemaLimits.repetitions && least > prefix.length)
      this.#writing.ignored.add(wordAt(path, "minItems"));
    const length = Math.min(most, Math.max(prefix.length, Math.min(asked, schemaLimits.repetitions)));
    const blank = space(this.#writing.rules);
    const items = Array.from(
      { length },
      (_, index) => `${this.#writing.item(prefix[index] ?? rest)} ${blank}`,
    );
    return `"[" ${blank} ${items.join(` "," ${blank} `)} "]"`;
  }

  /** Writes lists in which some items satisfy `contains`. */
  #containing(shape: Shape, lengths: Omit<Lengths, "prefix">, path: string): string {
    const { rest, known, least, most } = lengths;
    const [first, ...others] = shape.contains;
    if (shape.unique !== null && most > 1) this.#writing.ignored.add(shape.unique);
    for (const each of others) this.#writing.ignored.add(each.path);
    const { item, least: needed, path: own } = first!;
    const allowed = first!.most >= most ? Infinity : first!.most;
    if (needed > mostContained || (allowed !== Infinity && needed === 0)) this.#writing.ignored.add(own);
    const count = Math.min(needed, mostContained);
    let between = rest;
    if (allowed !== Infinity) {
      const not: Conjunct = { ...item, positive: !item.positive };
      if (this.#canSplit(rest, not)) between = [...rest, not];
      else this.#writing.ignored.add(own);
    }
    const found = [...known, item];
    if (this.#writing.isEmpty(between)) {
      const end = Math.min(most, allowed);
      if (Math.max(least, count) > end) this.#writing.ignored.add(own);
      return this.#items(
        this.#writing.item(found),
        Math.max(least, count),
        Math.max(end, least, count),
        path,
      );
    }
    if (count === 0) return this.#items(this.#writing.item(between), least, most, path);
    const blank = space(this.#writing.rules);
    const any = `${this.#writing.item(between)} ${blank}`;
    const needle = `${this.#writing.item(found)} ${blank}`;
    const more = `"," ${blank} ${any}`;
    if (least <= count && most === Infinity) {
      const chain = Array.from({ length: count }, () => `(${any} "," ${blank})* ${needle}`);
      return `"[" ${blank} ${chain.join(` "," ${blank} `)} (${more})* "]"`;
    }
    // If the length is bounded too, the items that satisfy `contains` come first: fewer states, and all bounds hold.
    const from = Math.max(0, least - count);
    const to = Math.max(from, Math.min(most, schemaLimits.repetitions) - count);
    const tail = most === Infinity ? `(${more}){${from},}` : repeat(more, from, to);
    return `"[" ${blank} ${Array.from({ length: count }, () => needle).join(` "," ${blank} `)} ${tail} "]"`;
  }

  #canSplit(rest: Conjuncts, not: Conjunct): boolean {
    return this.#writing.shapesOf([...rest, not]).ignored.length === 0;
  }

  /**
   * Returns all values of a schema that has only a few. Returns null if it has many, or if the number is
   * unknown.
   */
  #finiteValues(conjuncts: Conjuncts): readonly unknown[] | null {
    if (conjuncts.length === 0) return null;
    const { shapes } = this.#writing.shapesOf(conjuncts);
    const all = new Map<string, unknown>();
    for (const shape of shapes) {
      if (shape.values !== null)
        for (const value of this.#writing.valuesOf(shape, conjuncts)) all.set(JSON.stringify(value), value);
      else {
        const possible = this.#writing.typesOf(shape, conjuncts);
        if ((possible & ~(types.null | types.boolean)) !== 0) return null;
        if ((possible & types.null) !== 0) all.set("null", null);
        if ((possible & types.boolean) !== 0)
          for (const value of [true, false])
            if (!shape.notValues.includes(value)) all.set(String(value), value);
      }
    }
    return [...all.values()];
  }

  /** Writes lists without repeated items, with one rule for each set of remaining values. */
  #permutations(values: readonly unknown[], least: number, most: number, path: string): string {
    const blank = space(this.#writing.rules);
    const bound = Math.min(most, values.length);
    const names = new Map<number, string>();
    const rest = (used: number): string => {
      const known = names.get(used);
      if (known !== undefined) return known;
      const name = this.#writing.rules.reserve(`${hintOf(path)}-rest`);
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
      this.#writing.rules.define(name, bodies.join(" | "));
      return name;
    };
    return `"[" ${blank} ${rest(0)} "]"`;
  }
}
