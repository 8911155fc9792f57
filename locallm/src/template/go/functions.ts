import { goEscaped } from "../../wire/go-json.ts";
import { TemplateError } from "../limits.ts";
import { isPrintable, printed, sprint, sprintf, sprintln } from "./format.ts";
import { GoFloat, type GoMap, GoStruct, type GoValue, isTrue, sortedKeys, typeName } from "./value.ts";

/** A function that templates may call. `and` and `or` are missing because they do not evaluate all their arguments. */
export interface GoFunction {
  readonly least: number;
  /** The maximum number of arguments. Infinity means any number. */
  readonly most: number;
  call(args: readonly GoValue[]): GoValue;
}

const any = Number.POSITIVE_INFINITY;

/** Go's built-in functions and those that model templates add. */
export function goFunctions(now: () => Date): ReadonlyMap<string, GoFunction> {
  const day = (offset: number) => () => {
    const date = now();
    date.setDate(date.getDate() + offset);
    const two = (value: number) => String(value).padStart(2, "0");
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  };
  return new Map<string, GoFunction>([
    ["not", { least: 1, most: 1, call: ([value]) => !isTrue(value!) }],
    ["len", { least: 1, most: 1, call: ([value]) => length(value!) }],
    [
      "index",
      { least: 1, most: any, call: ([item, ...indexes]) => indexes.reduce(indexed, nonNil(item!, "index")) },
    ],
    ["slice", { least: 1, most: any, call: ([item, ...indexes]) => slice(nonNil(item!, "slice"), indexes) }],
    ["print", { least: 0, most: any, call: (values) => sprint(values) }],
    ["println", { least: 0, most: any, call: (values) => sprintln(values) }],
    ["printf", { least: 1, most: any, call: ([format, ...values]) => sprintf(text(format!), values) }],
    ["html", { least: 0, most: any, call: (values) => escapeHtml(sprint(values)) }],
    ["js", { least: 0, most: any, call: (values) => escapeJs(sprint(values)) }],
    ["urlquery", { least: 0, most: any, call: (values) => escapeQuery(sprint(values)) }],
    [
      "call",
      {
        least: 1,
        most: any,
        call: ([value]) => failed(`cannot call ${typeName(value!)}: it is not a function`),
      },
    ],
    ["eq", { least: 1, most: any, call: ([first, ...others]) => anyEqual(first!, others) }],
    ["ne", { least: 2, most: 2, call: ([a, b]) => !anyEqual(a!, [b!]) }],
    ["lt", { least: 2, most: 2, call: ([a, b]) => compare(a!, b!) < 0 }],
    ["le", { least: 2, most: 2, call: ([a, b]) => compare(a!, b!) <= 0 }],
    ["gt", { least: 2, most: 2, call: ([a, b]) => compare(a!, b!) > 0 }],
    ["ge", { least: 2, most: 2, call: ([a, b]) => compare(a!, b!) >= 0 }],
    ["json", { least: 1, most: 1, call: ([value]) => goJson(value!) }],
    ["currentDate", { least: 0, most: any, call: day(0) }],
    ["yesterdayDate", { least: 0, most: any, call: day(-1) }],
    ["toTypeScriptType", { least: 1, most: 1, call: ([value]) => typeScriptType(value!) }],
  ]);
}

function failed(problem: string): never {
  throw new TemplateError(problem);
}

function nonNil(value: GoValue, what: string): GoValue {
  return value === null ? failed(`${what} of untyped nil`) : value;
}

function text(value: GoValue): string {
  return typeof value === "string"
    ? value
    : failed(`wrong type for value; expected string; got ${typeName(value)}`);
}

/** Returns the length of a value. Strings count in bytes of UTF-8, as in Go. */
function length(value: GoValue): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (value instanceof Map) return value.size;
  if (Array.isArray(value)) return value.length;
  return failed(`len of type ${typeName(value)}`);
}

function indexed(item: GoValue, index: GoValue): GoValue {
  if (item instanceof Map) {
    if (typeof index !== "string") return failed(`value has type ${typeName(index)}; should be string`);
    return item.get(index) ?? null;
  }
  if (typeof item === "string") return Buffer.from(item)[position(index, Buffer.byteLength(item) - 1)]!;
  if (Array.isArray(item)) return (item as readonly GoValue[])[position(index, item.length - 1)]!;
  return failed(item === null ? "index of nil pointer" : `can't index item of type ${typeName(item)}`);
}

function position(index: GoValue, last: number): number {
  if (typeof index !== "number") return failed(`cannot index slice/array with type ${typeName(index)}`);
  if (index < 0 || index > last) return failed(`index out of range: ${index}`);
  return index;
}

function slice(item: GoValue, indexes: readonly GoValue[]): GoValue {
  if (indexes.length > 3) return failed(`too many slice indexes: ${indexes.length}`);
  const cut = (size: number) => {
    const [from = 0, to = size] = indexes.map((index) => position(index, size));
    if (from > to) return failed(`invalid slice index: ${from} > ${to}`);
    return [from, to] as const;
  };
  if (typeof item === "string") {
    if (indexes.length === 3) return failed("cannot 3-index slice a string");
    const bytes = Buffer.from(item);
    return bytes.subarray(...cut(bytes.length)).toString();
  }
  if (Array.isArray(item)) return (item as readonly GoValue[]).slice(...cut(item.length));
  return failed(`can't slice item of type ${typeName(item)}`);
}

function basicKind(value: GoValue): string | null {
  if (value === null) return null;
  if (typeof value !== "object") return typeof value;
  return value instanceof GoFloat ? "float" : null;
}

function anyEqual(first: GoValue, others: readonly GoValue[]): boolean {
  if (others.length === 0) return failed("missing argument for comparison");
  const kind = basicKind(first);
  return others.some((other) => {
    if (basicKind(other) !== kind) {
      if (first === null || other === null) return false;
      return failed(`incompatible types for comparison: ${typeName(first)} and ${typeName(other)}`);
    }
    if (kind !== null) return plain(first) === plain(other);
    if (first === null || other === null) return first === other;
    return failed(`non-comparable type ${typeName(other)}`);
  });
}

function compare(a: GoValue, b: GoValue): number {
  const kind = basicKind(a);
  if (kind === null || kind === "boolean" || basicKind(b) === null)
    return failed("invalid type for comparison");
  if (basicKind(b) !== kind)
    return failed(`incompatible types for comparison: ${typeName(a)} and ${typeName(b)}`);
  if (typeof a === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b as string));
  return (plain(a) as number) - (plain(b) as number);
}

function plain(value: GoValue): unknown {
  return value instanceof GoFloat ? value.value : value;
}

/** Prints JSON like Go's encoder: maps sorted by key, and `<`, `>`, `&` escaped. */
function goJson(value: GoValue): string {
  return goEscaped(toJson(value));
}

function toJson(value: GoValue): string {
  if (value === null || typeof value === "boolean" || typeof value === "number") return String(value);
  if (typeof value === "string") return JSON.stringify(value.toWellFormed());
  if (value instanceof GoFloat) return JSON.stringify(value.value).replace(/e([-+])(\d)$/, "e$10$2");
  if (value instanceof GoStruct) {
    if (value.json !== null) return JSON.stringify(value.json);
    return `{${[...value.fields].map(([key, item]) => `${JSON.stringify(key)}:${toJson(item)}`).join(",")}}`;
  }
  if (value instanceof Map) {
    const { json } = value as GoMap;
    if (json !== undefined) return JSON.stringify(json);
    const entries = sortedKeys(value).map(
      (key) => `${JSON.stringify(key)}:${toJson(value.get(key) ?? null)}`,
    );
    return `{${entries.join(",")}}`;
  }
  return `[${(value as readonly GoValue[]).map(toJson).join(",")}]`;
}

function escapeHtml(value: string): string {
  const escapes: Record<string, string> = {
    "\0": "\ufffd",
    '"': "&#34;",
    "'": "&#39;",
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
  };
  return value.replace(/[\0"'&<>]/g, (char) => escapes[char]!);
}

function escapeJs(value: string): string {
  return value.replace(/[\\'"<>&=\p{Cc}\P{ASCII}]/gu, (char) => {
    if ("\\'\"".includes(char)) return `\\${char}`;
    const code = char.codePointAt(0)!;
    // Go leaves the last of ASCII's control characters as it is.
    if (code === 0x7f || (code > 0x7f && isPrintable(char))) return char;
    return `\\u${code.toString(16).toUpperCase().padStart(4, "0")}`;
  });
}

function escapeQuery(value: string): string {
  return encodeURIComponent(value.toWellFormed())
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}

/**
 * Prints a property of a tool's parameters as a TypeScript type, for templates that show tools in that form.
 */
function typeScriptType(value: GoValue): string {
  const property = value instanceof GoStruct ? value.fields : value;
  if (!(property instanceof Map)) return "any";
  const choices = property.get("AnyOf") ?? property.get("anyOf") ?? null;
  if (Array.isArray(choices) && choices.length > 0) return choices.map(typeScriptType).join(" | ");
  const type = property.get("Type") ?? property.get("type") ?? null;
  const names = (Array.isArray(type) ? type : [type]).map((name) => printed(name));
  const known: Record<string, string> = {
    string: "string",
    number: "number",
    integer: "number",
    boolean: "boolean",
    array: "any[]",
    object: "Record<string, any>",
    null: "null",
  };
  return names.map((name) => (Object.hasOwn(known, name) ? known[name]! : "any")).join(" | ");
}
