import { TemplateError, templateLimits } from "../limits.ts";
import { GoFloat, type GoMap, type GoSlice, GoStruct, type GoValue, sortedKeys, typeName } from "./value.ts";

/** Go's `fmt.Sprint`: puts a space between operands if neither is a string. */
export function sprint(values: readonly GoValue[]): string {
  let text = "";
  for (const [index, value] of values.entries()) {
    const before = values[index - 1];
    if (index > 0 && typeof value !== "string" && typeof before !== "string") text += " ";
    text += printed(value);
  }
  return text;
}

export function sprintln(values: readonly GoValue[]): string {
  return `${values.map((value) => printed(value)).join(" ")}\n`;
}

/** Formats a value with `%v`, or with `%+v` if `fieldNames` is set. */
export function printed(value: GoValue, fieldNames = false): string {
  if (value === null) return "<nil>";
  if (typeof value !== "object") return String(value);
  if (value instanceof GoFloat) return shortestFloat(value.value);
  if (value instanceof GoStruct) {
    if (value.print !== null) return value.print();
    const fields = [...value.fields].map(
      ([name, field]) => (fieldNames ? `${name}:` : "") + printed(field, fieldNames),
    );
    return `{${fields.join(" ")}}`;
  }
  if (value instanceof Map) {
    const own = (value as GoMap).print;
    if (own !== undefined) return own();
    const entries = sortedKeys(value).map((key) => `${key}:${printed(value.get(key) ?? null, fieldNames)}`);
    return `map[${entries.join(" ")}]`;
  }
  const list = value as GoSlice;
  return list.print?.() ?? `[${list.map((item) => printed(item, fieldNames)).join(" ")}]`;
}

/** Go's `%v` of a float64: the shortest digits, with an exponent below -4 and from 6 on. */
function shortestFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  const [digits, exponent] = value.toExponential().split("e") as [string, string];
  const power = Number(exponent);
  return power < -4 || power >= 6 ? `${digits}e${goExponent(power)}` : plainDecimal(value);
}

/** Prints a number without an exponent. JavaScript uses one for numbers from 1e21 on and below 1e-6. */
function plainDecimal(value: number): string {
  const text = String(value);
  if (!text.includes("e")) return text;
  return value.toFixed(20).replace(/0+$/, "");
}

function goExponent(power: number): string {
  return `${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

const directive = /%([-+# 0]*)(\d+|\*)?(?:\.(\d+|\*)?)?(.?)/gsu;

/** Go's `fmt.Sprintf`. It reports errors in the arguments like Go. */
export function sprintf(format: string, values: readonly GoValue[]): string {
  let used = 0;
  let star = "";
  const size = (given: string | undefined): number | null => {
    if (given === undefined) return null;
    const value = given === "*" ? values[used++] : Number(given);
    if (typeof value !== "number") {
      star = "%!(BADWIDTH)";
      return null;
    }
    if (Math.abs(value) > 1000) throw new TemplateError("printf with a width over 1000");
    return value;
  };
  const text = format.replace(
    directive,
    (whole, flags: string, width: string | undefined, precision: string | undefined, verb: string) => {
      star = "";
      const hasPrecision = /^%[-+# 0]*(?:\d+|\*)?\./.test(whole);
      const spec: Spec = {
        flags,
        width: size(width),
        precision: hasPrecision ? (size(precision) ?? 0) : null,
      };
      if (spec.width !== null && spec.width < 0) {
        spec.flags += "-";
        spec.width = -spec.width;
      }
      if (verb === "") return `${star}%!(NOVERB)`;
      if (verb === "%") return `${star}%`;
      if (used >= values.length) return `${star}%!${verb}(MISSING)`;
      return star + formatted(verb, values[used++]!, spec);
    },
  );
  const extra = values
    .slice(used)
    .map((value) => (value === null ? "<nil>" : `${typeName(value)}=${printed(value)}`));
  const whole = extra.length === 0 ? text : `${text}%!(EXTRA ${extra.join(", ")})`;
  if (whole.length > templateLimits.valueChars)
    throw new TemplateError("printf makes a text that is too long");
  return whole;
}

interface Spec {
  flags: string;
  width: number | null;
  readonly precision: number | null;
}

function formatted(verb: string, value: GoValue, spec: Spec): string {
  if (verb === "T") return pad(typeName(value) === "nil" ? "<nil>" : typeName(value), spec);
  if (value === null) return verb === "v" ? pad("<nil>", spec) : `%!${verb}(<nil>)`;
  if (typeof value === "string") return stringVerb(verb, value, spec) ?? bad(verb, value);
  if (typeof value === "boolean")
    return verb === "v" || verb === "t" ? pad(String(value), spec) : bad(verb, value);
  if (typeof value === "number") return intVerb(verb, value, spec) ?? bad(verb, value);
  if (value instanceof GoFloat) return floatVerb(verb, value.value, spec) ?? bad(verb, value);
  const own = value instanceof GoStruct ? value.print : ((value as GoSlice | GoMap).print ?? null);
  if (own !== null && "vsxXq".includes(verb)) return stringVerb(verb, own(), spec) ?? bad(verb, value);
  if (verb === "v") return pad(printed(value, spec.flags.includes("+")), spec);
  // A verb applies to every item.
  if (value instanceof Map) {
    const entries = sortedKeys(value).map(
      (key) => `${formatted(verb, key, spec)}:${formatted(verb, value.get(key) ?? null, spec)}`,
    );
    return `map[${entries.join(" ")}]`;
  }
  if (value instanceof GoStruct)
    return `{${[...value.fields.values()].map((field) => formatted(verb, field, spec)).join(" ")}}`;
  return `[${(value as readonly GoValue[]).map((item) => formatted(verb, item, spec)).join(" ")}]`;
}

function stringVerb(verb: string, text: string, spec: Spec): string | null {
  const cut = spec.precision === null ? text : [...text].slice(0, spec.precision).join("");
  switch (verb) {
    case "v":
    case "s":
      return pad(cut, spec);
    case "q":
      return pad(
        spec.flags.includes("#") && !cut.includes("`")
          ? `\`${cut}\``
          : quoteGo(cut, spec.flags.includes("+")),
        spec,
      );
    case "x":
    case "X": {
      const bytes = Buffer.from(text).subarray(0, spec.precision ?? undefined);
      const hex = [...bytes]
        .map((byte) => byte.toString(16).padStart(2, "0"))
        .join(spec.flags.includes(" ") ? " " : "");
      return pad(verb === "X" ? hex.toUpperCase() : hex, spec);
    }
    default:
      return null;
  }
}

function intVerb(verb: string, value: number, spec: Spec): string | null {
  const sign = value < 0 ? "-" : spec.flags.includes("+") ? "+" : spec.flags.includes(" ") ? " " : "";
  const number = (base: number, prefix: string) => {
    let digits = Math.abs(value).toString(base);
    if (spec.precision !== null)
      digits = spec.precision === 0 && value === 0 ? "" : digits.padStart(spec.precision, "0");
    const head = sign + (spec.flags.includes("#") ? prefix : "");
    if (
      spec.flags.includes("0") &&
      !spec.flags.includes("-") &&
      spec.precision === null &&
      spec.width !== null
    )
      digits = digits.padStart(spec.width - head.length, "0");
    return pad(head + digits, { ...spec, flags: spec.flags.replaceAll("0", "") });
  };
  switch (verb) {
    case "v":
    case "d":
      return number(10, "");
    case "b":
      return number(2, "0b");
    case "o":
      return number(8, "0");
    case "x":
      return number(16, "0x");
    case "X":
      return number(16, "0x").toUpperCase();
    case "c":
      return pad(codePoint(value), spec);
    case "q":
      return pad(
        `'${codePoint(value) === "'" ? "\\'" : quoteGo(codePoint(value)).slice(1, -1).replace('\\"', '"')}'`,
        spec,
      );
    case "U":
      return pad(`U+${value.toString(16).toUpperCase().padStart(4, "0")}`, spec);
    default:
      return null;
  }
}

function floatVerb(verb: string, value: number, spec: Spec): string | null {
  const text = floatText(verb, value, spec.precision);
  if (text === null) return null;
  const plus =
    value >= 0 && !text.startsWith("+")
      ? spec.flags.includes("+")
        ? "+"
        : spec.flags.includes(" ")
          ? " "
          : ""
      : "";
  const signed = plus + text;
  if (!spec.flags.includes("0") || spec.flags.includes("-") || spec.width === null) return pad(signed, spec);
  const [, sign = "", digits = ""] = /^([-+ ]?)(.*)$/.exec(signed) ?? [];
  return sign + digits.padStart(spec.width - sign.length, "0");
}

function floatText(verb: string, value: number, precision: number | null): string | null {
  if (precision !== null && precision > 100) throw new TemplateError("printf with a precision over 100");
  const exponential = (digits: number) =>
    value
      .toExponential(digits)
      .replace(/e([-+])(\d+)$/, (_, sign: string, power: string) => `e${sign}${power.padStart(2, "0")}`);
  switch (verb) {
    case "f":
    case "F":
      return Math.abs(value) < 1e21 ? value.toFixed(precision ?? 6) : null;
    case "e":
      return exponential(precision ?? 6);
    case "E":
      return exponential(precision ?? 6).toUpperCase();
    case "v":
    case "g":
    case "G": {
      if (precision === null) return verb === "G" ? shortestFloat(value).toUpperCase() : shortestFloat(value);
      const digits = Math.max(precision, 1);
      const power = value === 0 ? 0 : Number(value.toExponential(digits - 1).split("e")[1]);
      const text =
        power < -4 || power >= digits
          ? exponential(digits - 1).replace(/\.?0+e/, "e")
          : plainDecimal(Number(value.toPrecision(digits)));
      return verb === "G" ? text.toUpperCase() : text;
    }
    default:
      return null;
  }
}

function pad(text: string, { flags, width }: Spec): string {
  if (width === null) return text;
  const missing = width - [...text].length;
  if (missing <= 0) return text;
  if (flags.includes("-")) return text + " ".repeat(missing);
  return (flags.includes("0") ? "0" : " ").repeat(missing) + text;
}

function bad(verb: string, value: GoValue): string {
  return `%!${verb}(${typeName(value)}=${printed(value)})`;
}

function codePoint(value: number): string {
  return value >= 0 && value <= 0x10ffff ? String.fromCodePoint(value) : "\ufffd";
}

/** Go's `%q`: a Go string literal. */
export function quoteGo(text: string, ascii = false): string {
  const escapes: Record<string, string> = {
    "\x07": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
  };
  let quoted = "";
  for (const char of text) {
    const code = char.codePointAt(0)!;
    const known = escapes[char];
    if (known !== undefined) quoted += known;
    else if (code < 0x20 || code === 0x7f) quoted += `\\x${code.toString(16).padStart(2, "0")}`;
    else if (code > 0x7f && (ascii || !isPrintable(char)))
      quoted +=
        code > 0xffff
          ? `\\U${code.toString(16).padStart(8, "0")}`
          : `\\u${code.toString(16).padStart(4, "0")}`;
    else quoted += char;
  }
  return `"${quoted}"`;
}

export function isPrintable(char: string): boolean {
  return char === " " || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(char);
}
