/**
 * Go's values as templates see them. JavaScript numbers represent Go's `int`. A `float64` is a GoFloat,
 * because the two types print and compare differently. Maps and structs are never JavaScript objects, so
 * templates cannot reach a prototype.
 */
export type GoValue = null | boolean | number | string | GoFloat | GoMap | GoStruct | GoSlice;
/** `print` is the String method, for slice types that have one. */
export type GoSlice = readonly GoValue[] & { readonly print?: () => string };
/**
 * `print` is the String method, for map types that have one. `json` is the object that the map was made from,
 * with its original order.
 */
export type GoMap = ReadonlyMap<string, GoValue> & { readonly print?: () => string; readonly json?: unknown };

export class GoFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A struct. A missing field is an error, unlike a missing key of a map. */
export class GoStruct {
  readonly typeName: string;
  readonly fields: GoMap;
  /** The String method, for types that have one. */
  readonly print: (() => string) | null;
  /** The value that `json` prints. Null prints the fields. */
  readonly json: unknown;

  constructor(
    typeName: string,
    fields: Record<string, GoValue>,
    parts: { print?: () => string; json?: unknown } = {},
  ) {
    this.typeName = typeName;
    this.fields = new Map(Object.entries(fields));
    this.print = parts.print ?? null;
    this.json = parts.json ?? null;
  }
}

/** Converts JSON like Go's decoder, which makes every number a float64. */
export function fromJson(value: unknown): GoValue {
  if (value === undefined || value === null) return null;
  if (typeof value === "number") return new GoFloat(value);
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map(fromJson);
  return new Map(Object.entries(value as object).map(([key, item]) => [key, fromJson(item)]));
}

export function isTrue(value: GoValue): boolean {
  if (value === null) return false;
  if (typeof value === "object") {
    if (value instanceof GoFloat) return value.value !== 0;
    if (value instanceof Map) return value.size > 0;
    if (Array.isArray(value)) return value.length > 0;
    return true;
  }
  return value !== 0 && value !== "" && value !== false;
}

export function typeName(value: GoValue): string {
  if (value === null) return "nil";
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "number":
      return "int";
    case "string":
      return "string";
    default:
      if (value instanceof GoFloat) return "float64";
      if (value instanceof GoStruct) return value.typeName;
      return value instanceof Map ? "map[string]interface {}" : "[]interface {}";
  }
}

export function sortedKeys(map: GoMap): string[] {
  return [...map.keys()].sort(byCodePoint);
}

/** Compares like Go, by bytes of UTF-8. This is the order of code points, not of UTF-16 units. */
export function byCodePoint(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
