import { z } from "zod";
import { counted } from "./counted.ts";
import { LocallmError } from "./errors.ts";

export interface CheckedBody<Body> {
  readonly body: Body;
  /** Fields unknown to the schema: ignored, but reported. */
  readonly unknown: readonly string[];
}

/** Checks a parsed body. The error names the first wrong field and what it must be. */
export function checkBody<Schema extends z.ZodObject>(
  schema: Schema,
  value: unknown,
): CheckedBody<z.output<Schema>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new LocallmError("invalid_field", { field: "body", problem: "must be a JSON object" });
  const result = schema.safeParse(value);
  if (!result.success) throw fieldError(result.error.issues[0], value);
  const unknown = Object.keys(value).filter((key) => !Object.hasOwn(schema.shape, key));
  return { body: result.data, unknown };
}

/** Checks a part of a body whose schema depends on other fields. The error's field begins with `at`. */
export function checkPart<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  at: string,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = issue === undefined || issue.path.length === 0 ? at : `${at}.${pathText(issue.path)}`;
  throw new LocallmError("invalid_field", { field, problem: problemOf(issue, value) });
}

/** An optional field. Null counts as absent, because clients written in Go send it. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value): z.output<Schema> | undefined => value ?? undefined);
}

/** An optional field whose empty value counts as absent: clients written in Go, including Ollama's, always send it. */
export function given<Schema extends z.ZodType<{ readonly length: number }>>(schema: Schema) {
  return optional(schema).transform((value) => (value?.length === 0 ? undefined : value));
}

const items = new WeakMap<z.ZodType, z.ZodType>();

/** The schema of an item of a `list`, for descriptions: the array that it is made of knows nothing of it. */
export function itemOf(bounded: z.ZodType): z.ZodType | undefined {
  return items.get(bounded);
}

/**
 * An array of a request. Unlike `z.array`, it stops at the first wrong item: describing 200,000 wrong items
 * blocks the server for half a second.
 */
export function list<Item extends z.ZodType>(item: Item, { min = 0, max = Infinity } = {}) {
  let bounded = z.array(z.unknown()).min(min);
  if (max !== Infinity) bounded = bounded.max(max);
  items.set(bounded, item);
  return bounded.transform((values, context): z.output<Item>[] => {
    const checked: z.output<Item>[] = [];
    for (const [index, value] of values.entries()) {
      const result = item.safeParse(value);
      if (!result.success) {
        const [issue] = result.error.issues;
        context.issues.push({
          ...issue!,
          path: [index, ...issue!.path],
          input: value,
        } as z.core.$ZodRawIssue);
        return z.NEVER;
      }
      checked.push(result.data);
    }
    return checked;
  });
}

type Issue = z.core.$ZodIssue;

function fieldError(issue: Issue | undefined, body: object): LocallmError {
  const field = pathText(issue?.path ?? []);
  if (field === "model" && isAbsent(valueAt(body, ["model"]))) return new LocallmError("model_required", {});
  return new LocallmError("invalid_field", { field, problem: problemOf(issue, body) });
}

function problemOf(issue: Issue | undefined, body: unknown): string {
  switch (issue?.code) {
    case "invalid_type":
      return isAbsent(valueAt(body, issue.path)) ? "is required" : `must be ${withArticle(issue.expected)}`;
    case "invalid_value":
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "too_small":
      return issue.origin === "number" || issue.origin === "int"
        ? `must be at least ${issue.minimum}`
        : `must have at least ${amount(Number(issue.minimum), issue.origin)}`;
    case "too_big":
      return issue.origin === "number" || issue.origin === "int"
        ? `must be at most ${issue.maximum}`
        : `must have at most ${amount(Number(issue.maximum), issue.origin)}`;
    case "invalid_union":
      return isAbsent(valueAt(body, issue.path)) ? "is required" : `must be ${expectedOf(issue.errors)}`;
    default:
      return issue?.message ?? "is not valid";
  }
}

function amount(count: number, origin: string): string {
  return counted(count, origin === "string" ? "character" : "item");
}

/** The types that a union accepts, in words. */
function expectedOf(branches: readonly (readonly Issue[])[]): string {
  const kinds = branches.map((issues) => {
    const issue = issues[0];
    if (issue?.code === "invalid_type") {
      const inside =
        issue.path.length > 0 ? "an array or object with valid items" : withArticle(issue.expected);
      return inside;
    }
    if (issue?.code === "invalid_value")
      return issue.values.map((value) => JSON.stringify(value)).join(" or ");
    return null;
  });
  const named = [...new Set(kinds.filter((kind) => kind !== null))];
  return named.length > 0 ? named.join(" or ") : "of another type";
}

const typeNames: Record<string, string> = {
  int: "an integer",
  record: "an object",
  object: "an object",
  array: "an array",
  nonoptional: "given",
};

function withArticle(expected: string): string {
  return typeNames[expected] ?? `a ${expected}`;
}

function pathText(path: readonly PropertyKey[]): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else text += text === "" ? String(key) : `.${String(key)}`;
  }
  return text === "" ? "body" : text;
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  let value = body;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
