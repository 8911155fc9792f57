import { findOperation, type Params } from "@dataq/contract";
import { z } from "zod";
import { isSecretName } from "./masking.ts";
import type { Fields, Found, Trace, Vendor } from "./vendor.ts";

const condition = z.object({
  path: z.string(),
  equals: z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])),
});

/** A vendor's API described in a file: the request, and how the vendor's fields become ours. */
export const mappingFile = z.strictObject({
  vendor: z.literal("mapping"),
  operation: z.string().refine((name) => findOperation(name) !== undefined, "the name of an operation"),
  name: z.string().min(1),
  kind: z.enum(["official", "licensed", "third_party"]).default("licensed"),
  licence: z.string().nullable().default(null),
  cost_fen: z.number().int().min(0).default(0),
  request: z.strictObject({
    method: z.enum(["GET", "POST"]).default("GET"),
    /** Placeholders such as `{tax_id}` are replaced with the encoded parameters of the call. */
    url: z.string().regex(/^https?:\/\//),
    headers: z.record(z.string(), z.string()).default({}),
    /** Sent as JSON, with placeholders replaced. */
    json: z.unknown().optional(),
  }),
  answer: z.strictObject({
    ok: condition.optional(),
    not_found: condition.optional(),
    /** Path of the object, or of the list for list operations. */
    record: z.string(),
    /** Path of the number of hits, for lists. */
    total: z.string().optional(),
    /** For each of our fields: its path below the record. */
    fields: z.record(z.string(), z.string()),
    constants: z.record(z.string(), z.unknown()).default({}),
    /** For each of our fields: the vendor's values and ours. */
    values: z.record(z.string(), z.record(z.string(), z.string())).default({}),
  }),
});
export type MappingFile = z.infer<typeof mappingFile>;

export function mappedVendor(file: MappingFile): Vendor {
  const { request, answer } = file;
  return {
    operation: file.operation,
    name: file.name,
    kind: file.kind,
    licence: file.licence,
    costFen: file.cost_fen,
    takes: placeholdersOf(request),
    secrets: secretsOf(request),
    request: (params) => ({
      method: request.method,
      url: filled(request.url, params, encodeURIComponent),
      headers: {
        ...(request.json !== undefined && { "content-type": "application/json" }),
        ...request.headers,
      },
      ...(request.json !== undefined && { body: JSON.stringify(filledDeep(request.json, params)) }),
    }),
    read: (body, params) => read(body, answer, params),
    trace: (body) => trace(body, answer),
  };
}

/**
 * Reads an answer. Missing or contradictory data is `wrong`, because in a check "no records" means that
 * nothing is on record.
 */
function read(body: unknown, answer: MappingFile["answer"], params: Params): Found {
  if (answer.not_found !== undefined && holds(body, answer.not_found)) return { outcome: "not_found" };
  if (answer.ok !== undefined && !holds(body, answer.ok)) {
    const found = JSON.stringify(at(body, answer.ok.path)) ?? "missing";
    return wrong(
      `${answer.ok.path} is ${found.slice(0, 100)}, not one of ${answer.ok.equals.join(", ")}`,
      `${answer.ok.path} 是 ${found.slice(0, 100)}，应为 ${answer.ok.equals.join("、")} 之一`,
    );
  }
  const found = at(body, answer.record);
  const counted = answer.total === undefined ? undefined : Number(at(body, answer.total) ?? Number.NaN);
  const isFirstPage = (params["page"] ?? "1") === "1";
  const isEmpty = found === null || found === undefined || (Array.isArray(found) && found.length === 0);
  if (isEmpty && isFirstPage && counted !== undefined && counted > 0)
    return wrong(
      `${answer.total} is ${counted}, but ${answer.record} has no records`,
      `${answer.total} 是 ${counted}，但 ${answer.record} 中没有记录`,
    );
  if (found === undefined && counted !== 0)
    return wrong(`${answer.record} is missing from the answer`, `响应中缺少 ${answer.record}`);
  if (Array.isArray(found)) {
    const total = counted ?? found.length;
    if (!Number.isSafeInteger(total) || total < 0)
      return wrong(`${answer.total} is not a count`, `${answer.total} 不是记录数`);
    return { outcome: "records", list: found.map((item) => fieldsOf(item, answer)), total };
  }
  if (found === null || found === undefined) return { outcome: "not_found" };
  if (typeof found !== "object")
    return wrong(`${answer.record} is not an object`, `${answer.record} 不是对象`);
  const fields = fieldsOf(found, answer);
  const other = identifying.find((name) => isOther(params[name], fields[name]));
  return other === undefined
    ? { outcome: "record", fields }
    : wrong(
        `${other} is ${fields[other]}, but ${params[other]} was asked for`,
        `查询的 ${other} 是 ${params[other]}，响应中却是 ${fields[other]}`,
      );
}

function wrong(en: string, zh: string): Found {
  return { outcome: "wrong", why: { en, zh } };
}

/** Parameters that the record of the answer must repeat: a record of somebody else must not be sold. */
const identifying = ["tax_id", "express_no"];

function isOther(asked: string | undefined, got: unknown): boolean {
  if (asked === undefined || typeof got !== "string") return false;
  return asked.trim().toUpperCase() !== got.trim().toUpperCase();
}

function fieldsOf(item: unknown, { fields, constants, values }: MappingFile["answer"]): Fields {
  const out: Record<string, unknown> = { ...constants };
  for (const [name, path] of Object.entries(fields)) {
    const value = at(item, path);
    const renamed =
      typeof value === "string" || typeof value === "number" ? values[name]?.[String(value)] : undefined;
    put(out, name.split("."), renamed ?? value);
  }
  return out;
}

/** Where each field was read from; for a list, in its first record. */
function trace(body: unknown, { record, fields, constants }: MappingFile["answer"]): Trace[] {
  const found = at(body, record);
  const item = Array.isArray(found) ? found[0] : found;
  return [
    ...Object.entries(constants).map(([field, value]) => ({ field, path: null, found: value })),
    ...Object.entries(fields).map(([field, path]) => ({ field, path, found: at(item, path) })),
  ];
}

/** The credentials in the request, recognised by their names. */
function secretsOf({ url, headers, json }: MappingFile["request"]): string[] {
  const found: string[] = [];
  const look = (name: string, value: unknown): void => {
    if (typeof value === "object" && value !== null)
      for (const [inner, innerValue] of Object.entries(value)) look(inner, innerValue);
    else if (isSecretName(name)) found.push(String(value).replace(/\{\w+\}/g, ""));
  };
  for (const [name, value] of Object.entries(headers)) {
    look(name, value);
    // In "Bearer …" only the second word is secret.
    if (isSecretName(name)) found.push(...value.split(" "));
  }
  for (const pair of (url.split("?")[1] ?? "").split("&")) {
    const [name = "", value = ""] = pair.split("=");
    look(name, decodeURIComponent(value));
  }
  look("", json);
  return found.filter((secret) => !/^(?:bearer|basic|appcode)?$/i.test(secret));
}

/** The value at a path such as `a.b.0.c` in nested objects and lists. Reads own properties only. */
function at(value: unknown, path: string): unknown {
  let here = value;
  for (const step of path === "" ? [] : path.split(".")) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string, unknown>)[step];
  }
  return here;
}

function put(target: Record<string, unknown>, [first = "", ...rest]: string[], value: unknown): void {
  if (first === "__proto__") return;
  if (rest.length === 0) {
    target[first] = value;
    return;
  }
  const inner = (typeof target[first] === "object" && target[first] !== null ? target[first] : {}) as Record<
    string,
    unknown
  >;
  target[first] = inner;
  put(inner, rest, value);
}

function holds(body: unknown, { path, equals }: z.infer<typeof condition>): boolean {
  const found = at(body, path);
  // Vendors send codes as numbers or as text, and some switch between both.
  return equals.some(
    (value) => value === found || (isPlain(value) && isPlain(found) && `${value}` === `${found}`),
  );
}

function isPlain(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function filled(template: string, params: Params, encode: (text: string) => string): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encode(params[name] ?? ""));
}

/** The parameters that a request sends. */
function placeholdersOf({ url, json }: MappingFile["request"]): Set<string> {
  const text = url + (JSON.stringify(json) ?? "");
  return new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name));
}

function filledDeep(value: unknown, params: Params): unknown {
  if (typeof value === "string") return filled(value, params, (text) => text);
  if (Array.isArray(value)) return value.map((item) => filledDeep(item, params));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filledDeep(inner, params)]));
}
