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

export function anyShape(): Shape {
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

export function copyOf(shape: Shape): Shape {
  return {
    ...shape,
    lists: [...shape.lists],
    named: new Map(shape.named),
    maps: [...shape.maps],
    required: new Set(shape.required),
    forbidden: new Set(shape.forbidden),
  };
}

export function sizeOf({ lists, maps, named, required, forbidden }: Shape): number {
  return lists.length + maps.length + named.size + required.size + forbidden.size;
}

export function addNamed(shape: Shape, name: string, value: Conjunct): void {
  const known = shape.named.get(name);
  shape.named.set(name, known === undefined ? [value] : [...known, value]);
}

/** Returns false if no type is left. */
export function narrow(shape: Shape, bits: number): boolean {
  shape.types &= bits;
  return shape.types !== 0;
}

export function raiseMinimum(shape: Shape, value: number, excluded: boolean): void {
  if (shape.minimum !== null && (value < shape.minimum || (value === shape.minimum && !excluded))) return;
  shape.minimum = value;
  shape.minimumExcluded = excluded;
}

export function lowerMaximum(shape: Shape, value: number, excluded: boolean): void {
  if (shape.maximum !== null && (value > shape.maximum || (value === shape.maximum && !excluded))) return;
  shape.maximum = value;
  shape.maximumExcluded = excluded;
}
