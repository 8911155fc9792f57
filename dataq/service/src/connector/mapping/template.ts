import { createHash, createHmac, randomBytes } from "node:crypto";
import { z } from "zod";

/** The values that placeholders such as `{tax_id}` stand for. */
export type Values = Readonly<Record<string, string>>;

/**
 * A value that is computed for each request: the time, a random text, the JSON of a template, or a template, which may be
 * hashed (`md5`, `sha1`, `sha256`) or signed (`hmac-sha1`, `hmac-sha256` with `secret`). `HEX` is upper case. It may use
 * those that stand before it.
 */
export const computedValue = z.union([
  z.strictObject({ now: z.enum(["s", "ms", "iso", "china"]) }),
  z.strictObject({ random: z.number().int().min(1).max(64) }),
  z.strictObject({ json: z.unknown() }),
  z.strictObject({
    of: z.string(),
    hash: z.enum(["none", "md5", "sha1", "sha256", "hmac-sha1", "hmac-sha256"]).default("none"),
    secret: z.string().optional(),
    as: z.enum(["hex", "HEX", "base64"]).default("hex"),
  }),
]);
export type ComputedValue = z.infer<typeof computedValue>;

const placeholder = /\{([a-z][a-z0-9_]*)\}/gi;

export function filled(
  template: string,
  values: Values,
  encode: (text: string) => string = (text) => text,
): string {
  return template.replace(placeholder, (_, name: string) => encode(valueNamed(values, name)));
}

/** Fills every text inside a JSON value. A member whose placeholders are all empty is left out. */
export function filledDeep(value: unknown, values: Values): unknown {
  if (typeof value === "string") return filled(value, values);
  if (Array.isArray(value)) return value.map((item) => filledDeep(item, values));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => typeof inner !== "string" || !isEmpty(inner, values))
      .map(([name, inner]) => [name, filledDeep(inner, values)]),
  );
}

/** Whether a template has placeholders and none of them has a value. */
export function isEmpty(template: string, values: Values): boolean {
  const names = placeholdersOf(template);
  return names.length > 0 && names.every((name) => valueNamed(values, name) === "");
}

export function placeholdersOf(template: string): string[] {
  return [...template.matchAll(placeholder)].map(([, name = ""]) => name);
}

/** Computes the values one after the other; gives those that were made from a credential, too. */
export function computed(
  definitions: Readonly<Record<string, ComputedValue>>,
  given: Values,
  credentials: ReadonlySet<string>,
  now: Date,
): { readonly values: Values; readonly secrets: readonly string[] } {
  const values: Record<string, string> = { ...given };
  const secretNames = new Set(credentials);
  for (const [name, definition] of Object.entries(definitions)) {
    values[name] = valueBy(definition, values, now);
    if (inputsOf(definition).some((input) => secretNames.has(input))) secretNames.add(name);
  }
  const derived = Object.keys(definitions).filter((name) => secretNames.has(name));
  return { values, secrets: derived.map((name) => valueNamed(values, name)) };
}

function valueBy(definition: ComputedValue, values: Values, now: Date): string {
  if ("now" in definition) return timeAs(definition.now, now);
  if ("random" in definition)
    return randomBytes(definition.random).toString("hex").slice(0, definition.random);
  if ("json" in definition) return JSON.stringify(filledDeep(definition.json, values));
  if (definition.hash === "none" && isEmpty(definition.of, values)) return "";
  const text = filled(definition.of, values);
  if (definition.hash === "none") return text;
  const hash = definition.hash.startsWith("hmac-")
    ? createHmac(definition.hash.slice("hmac-".length), filled(definition.secret ?? "", values))
    : createHash(definition.hash);
  const digest = hash.update(text).digest();
  if (definition.as === "base64") return digest.toString("base64");
  const hex = digest.toString("hex");
  return definition.as === "HEX" ? hex.toUpperCase() : hex;
}

function timeAs(form: "s" | "ms" | "iso" | "china", now: Date): string {
  if (form === "s") return String(Math.floor(now.getTime() / 1000));
  if (form === "ms") return String(now.getTime());
  if (form === "iso") return now.toISOString();
  return new Date(now.getTime() + 8 * 3_600_000).toISOString().slice(0, 19).replace("T", " ");
}

function inputsOf(definition: ComputedValue): string[] {
  if ("json" in definition) return placeholdersOf(JSON.stringify(definition.json) ?? "");
  if ("of" in definition) return placeholdersOf(`${definition.of} ${definition.secret ?? ""}`);
  return [];
}

function valueNamed(values: Values, name: string): string {
  return Object.hasOwn(values, name) ? (values[name] ?? "") : "";
}
