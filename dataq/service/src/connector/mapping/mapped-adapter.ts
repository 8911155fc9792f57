import type { Params } from "@dataq/contract";
import {
  type Adapter,
  type Fields,
  type Found,
  jsonOf,
  type NotReadable,
  refusalByStatus,
  retryAfterOf,
  type Send,
  type StatedBalance,
  type Trace,
  type VendorAnswer,
  type VendorRequest,
  wrong,
} from "../adapter.ts";
import { isSecretName } from "../masking.ts";
import { at, put } from "./answer-path.ts";
import { pathsOf, placeOf, readBy } from "./field-rule.ts";
import type {
  AnswerFile,
  BalanceFile,
  Condition,
  ErrorRule,
  OperationMapping,
  Paging,
  RequestFile,
  Shared,
  Step,
} from "./mapping-file.ts";
import { computed, filled, filledDeep, isEmpty, placeholdersOf, type Values } from "./template.ts";

export interface MappedParts {
  readonly operation: string;
  readonly mapping: OperationMapping;
  readonly shared: Shared;
  /** The operator's credentials, by their names in the preset. */
  readonly credentials: Values;
  /** Further values for placeholders, such as the vendor's address. */
  readonly constants?: Values;
  readonly now?: () => Date;
}

/** Asks a vendor that is described by data. */
export function mappedAdapter(parts: MappedParts): Adapter {
  const { operation, mapping } = parts;
  return {
    operation,
    takes: new Set([...mapping.steps, mapping].flatMap(({ request }) => placeholdersIn(request))),
    ...(mapping.cost_fen !== undefined && { costFen: mapping.cost_fen }),
    ask: (params, send) => ask(parts, params, send),
    ...(mapping.by_number && {
      byNumber: {
        kind: numberKinds[mapping.by_number.kind],
        find: (numbers: readonly string[], send: Send) => findByNumber(parts, numbers, send),
      },
    }),
  };
}

/** How the terms of numbers begin in the index. */
const numberKinds = { doi: "d:", arxiv: "x:", issn: "n:", orcid: "o:", patent: "n:" } as const;

async function findByNumber(parts: MappedParts, numbers: readonly string[], send: Send): Promise<Found> {
  const { mapping, shared } = parts;
  const { request, separator, most } = mapping.by_number!;
  const list: Fields[] = [];
  for (let at = 0; at < Math.min(numbers.length, most * mostPieces); at += most) {
    const some = numbers.slice(at, at + most);
    const asked = { numbers: some.join(separator), number: some[0] ?? "" };
    const read = readAnswer(await send(requestOf(request, parts, asked)), shared, mapping.answer);
    const found = "found" in read ? read.found : recordsOf(read.body, mapping.answer, asked);
    if (found.outcome === "records") list.push(...found.list);
    else if (found.outcome === "record") list.push(found.fields);
    else if (found.outcome !== "not_found") return found;
  }
  return { outcome: "records", list, total: list.length };
}

/** Reads what a vendor says is left. Without a request of its own, `ask` is absent and every answer is read. */
export function statedBalance(
  { path, unit, request }: BalanceFile,
  parts: Omit<MappedParts, "operation" | "mapping">,
): StatedBalance {
  const read = (answer: VendorAnswer) => {
    const found = at(parsed(answer).body, path);
    const amount = typeof found === "string" && found.trim() !== "" ? Number(found) : found;
    return typeof amount === "number" && Number.isFinite(amount) ? amount : undefined;
  };
  return {
    unit,
    read,
    ...(request && {
      ask: async (send: Send) => read(await send({ ...requestOf(request, parts, {}), isFree: true })),
    }),
  };
}

async function ask(parts: MappedParts, params: Params, send: Send): Promise<Found> {
  const { mapping, shared } = parts;
  let asked: Values = params;
  for (const step of mapping.steps) {
    const read = readAnswer(await send(requestOf(step.request, parts, asked)), shared, step);
    if ("found" in read) return read.found;
    const took = take(step, read.body);
    if ("found" in took) return took.found;
    asked = { ...asked, ...took.values };
  }
  if (mapping.paging !== undefined && params["page"] !== undefined)
    return askInPieces(parts, mapping.paging, asked, send);
  const read = readAnswer(await send(requestOf(mapping.request, parts, asked)), shared, mapping.answer);
  return "found" in read ? read.found : recordsOf(read.body, mapping.answer, params);
}

/** A page of ours, put together from the pieces that the vendor gives. */
async function askInPieces(parts: MappedParts, paging: Paging, params: Values, send: Send): Promise<Found> {
  const { mapping, shared } = parts;
  const size = Number(params["page_size"] ?? 20);
  const from = (Number(params["page"]) - 1) * size;
  if (paging.deepest !== undefined && from >= paging.deepest)
    return { outcome: "records", list: [], total: paging.deepest };
  // Pieces of one size start at its multiples. Our own size is the best one if it is allowed.
  const most = Math.min(size, paging.most);
  const list: Fields[] = [];
  let place = paging.by === "cursor" ? 0 : Math.floor(from / most) * most;
  const start = place;
  const isCounted = mapping.answer.total !== undefined;
  let cursor: string | undefined = paging.start;
  let first: Extract<Found, { outcome: "records" }> | undefined;
  for (let piece = 0; piece < mostPieces && cursor !== undefined; piece++) {
    const asked = {
      ...params,
      page: String(place / most + paging.first),
      page_size: String(most),
      offset: String(place),
      cursor,
    };
    const read = readAnswer(await send(requestOf(mapping.request, parts, asked)), shared, mapping.answer);
    if ("found" in read) {
      // Some vendors say so of a piece after the last one.
      if (read.found.outcome === "not_found" && first !== undefined) return { ...first, list };
      return read.found;
    }
    const found = recordsOf(read.body, mapping.answer, asked);
    if (found.outcome !== "records") return found;
    first ??= found;
    list.push(...found.list.slice(Math.max(0, from - place), Math.max(0, from + size - place)));
    place += found.list.length;
    const isFull = found.list.length >= most;
    if (paging.by === "cursor") cursor = textAt(read.body, paging.next ?? "");
    // Only a cursor says that more follows a piece that is not full.
    const isCut = isCounted && isFull;
    const isEnd =
      found.list.length === 0 || (paging.by === "cursor" ? cursor === undefined && !isCut : !isFull);
    const wanted = from + size;
    if (isEnd || place >= (isCounted ? Math.min(found.total, wanted) : wanted)) {
      if (isCounted) return { ...first, list, total: found.total };
      // Nobody can tell how many there are until the last one was seen.
      const isAll = isEnd && (place > start || start === 0);
      return { ...first, list, total: place > start ? place : 0, ...(!isAll && { isAtLeast: true }) };
    }
    // What cannot be reached is not asked for, because each request costs.
    const last = isCounted ? Math.min(found.total, wanted) : from + 1;
    if (last - start > mostPieces * most) break;
  }
  return {
    ...wrong(
      `this page needs more than ${mostPieces} requests, or the vendor gives no further pieces`,
      `该页需要超过 ${mostPieces} 次请求，或供应商不再提供后续数据`,
    ),
    // Whoever asks for pages that are too far must not make the vendor pause for all others.
    isBlameless: true,
  };
}

/** One call never becomes more requests than this. */
const mostPieces = 10;

type Read = { readonly body: unknown } | { readonly found: Found };

/** The body of an answer, or what the answer means instead. */
function readAnswer(
  answer: VendorAnswer,
  shared: Shared,
  { ok = shared.ok, not_found }: { ok?: Condition | undefined; not_found?: Condition | undefined },
): Read {
  const { body, problem } = parsed(answer);
  const said = whyOf(body, shared);
  const rule = shared.errors.find((each) => applies(each, answer, body));
  if (rule !== undefined) return { found: meaningOf(rule, answer, body, said) };
  const refusal = refusalByStatus(answer);
  if (refusal !== undefined) return { found: refusal };
  if (problem !== undefined) throw problem;
  if (not_found !== undefined && holds(body, not_found)) return { found: { outcome: "not_found" } };
  if (ok !== undefined && !holds(body, ok)) {
    const seen = shown(at(body, ok.path));
    return {
      found: wrong(
        `${ok.path} is ${seen}, not one of ${ok.equals.join(", ")}${said}`,
        `${ok.path} 是 ${seen}，应为 ${ok.equals.join("、")} 之一${said}`,
      ),
    };
  }
  return { body };
}

/** Errors of a vendor often have a status of their own and a body that is not JSON. */
function parsed(answer: VendorAnswer): { readonly body: unknown; readonly problem?: NotReadable } {
  try {
    return { body: jsonOf(answer) };
  } catch (problem) {
    return { body: undefined, problem: problem as NotReadable };
  }
}

function applies({ path, equals, status }: ErrorRule, answer: VendorAnswer, body: unknown): boolean {
  if (status !== undefined && !status.includes(answer.status)) return false;
  return path === undefined || equals === undefined || holds(body, { path, equals });
}

function meaningOf(
  { means, path, status, record }: ErrorRule,
  answer: VendorAnswer,
  body: unknown,
  said: string,
): Found {
  if (means === "record") return { outcome: "record", fields: record ?? {} };
  if (means === "not_found" || means === "verification_required") return { outcome: means };
  const place = path === undefined ? `status ${answer.status}` : `${path} ${shown(at(body, path))}`;
  const why = {
    en: `the vendor answered with ${place}${status === undefined ? "" : `, status ${answer.status}`}${said}`,
    zh: `供应商返回 ${place}${said}`,
  };
  if (means === "wrong") return { outcome: "wrong", why };
  const reason = means === "again" ? "busy" : means;
  return { outcome: "unavailable", reason, why, retryAfterS: retryAfterOf(answer.headers) };
}

/** What the vendor says about its refusal, for the operator. */
function whyOf(body: unknown, { message }: Shared): string {
  const said = message === undefined ? undefined : at(body, message);
  return typeof said === "string" && said !== "" ? ` (${said.slice(0, 200)})` : "";
}

function take(step: Step, body: unknown): { readonly values: Values } | { readonly found: Found } {
  const values: Record<string, string> = {};
  for (const [name, path] of Object.entries(step.take)) {
    const found = textAt(body, path);
    if (found === undefined && step.missing === "not_found") return { found: { outcome: "not_found" } };
    if (found === undefined)
      return { found: wrong(`${path} is missing from the answer`, `响应中缺少 ${path}`) };
    values[name] = found;
  }
  return { values };
}

function textAt(body: unknown, path: string): string | undefined {
  const found = at(body, path);
  return (typeof found === "string" && found !== "") || typeof found === "number" ? String(found) : undefined;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "missing").slice(0, 100);
}

function requestOf(
  file: RequestFile,
  parts: Omit<MappedParts, "operation" | "mapping">,
  asked: Values,
): VendorRequest {
  const { shared, credentials, constants = {} } = parts;
  const { values, secrets } = computed(
    shared.computed,
    { ...asked, ...constants, ...credentials },
    new Set(Object.keys(credentials)),
    parts.now?.() ?? new Date(),
  );
  const body = bodyOf(file, values);
  return {
    method: file.method,
    url: addressOf(file, shared, values),
    headers: {
      ...(file.json !== undefined && { "content-type": "application/json" }),
      ...(file.form !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
      ...filledHeaders({ ...shared.headers, ...file.headers }, values),
    },
    ...(body !== undefined && { body }),
    ...(secrets.length > 0 && { secrets }),
    ...(file.free && { isFree: true }),
  };
}

function addressOf(file: RequestFile, shared: Shared, values: Values): string {
  // A base address such as {base} stays as it is; everything else is one piece of the address.
  const url = filled(
    file.url.replace(/^\{(\w+)\}/, (_, name: string) => values[name] ?? ""),
    values,
    encodeURIComponent,
  );
  const pairs = Object.entries({ ...shared.query, ...file.query })
    .filter(([, template]) => !isEmpty(template, values))
    .map(([name, template]) => `${encodeURIComponent(name)}=${encodeURIComponent(filled(template, values))}`);
  if (pairs.length === 0) return url;
  return `${url}${url.includes("?") ? "&" : "?"}${pairs.join("&")}`;
}

/** A value from a caller could end a header and begin another one. */
function filledHeaders(headers: Readonly<Record<string, string>>, values: Values): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([, template]) => !isEmpty(template, values))
      .map(([name, template]) => [name, filled(template, values).replace(/[^\t\x20-\x7e\x80-\xff]/g, "")]),
  );
}

function bodyOf({ form, json }: RequestFile, values: Values): string | undefined {
  if (json !== undefined) return JSON.stringify(filledDeep(json, values));
  if (form === undefined) return undefined;
  return new URLSearchParams(filledDeep(form, values) as Record<string, string>).toString();
}

/** The parameters that a request sends. */
function placeholdersIn({ url, query, form, json, headers }: RequestFile): string[] {
  return placeholdersOf(`${url} ${JSON.stringify([query, form, json, headers])}`);
}

/** The credentials that stand in a mapping itself, recognised by their names. */
export function secretsIn({ request, steps }: OperationMapping): string[] {
  return [request, ...steps.map((step) => step.request)].flatMap(secretsOf);
}

function secretsOf({ url, query, headers, form, json }: RequestFile): string[] {
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
  for (const part of [query, form, json]) look("", part);
  return found.filter((secret) => !/^(?:bearer|basic|appcode)?$/i.test(secret));
}

/**
 * Reads the records. Missing or contradictory data is `wrong`, because in a check "no records" means that
 * nothing is on record.
 */
function recordsOf(body: unknown, answer: AnswerFile, params: Values): Found {
  return { ...read(body, answer, params), trace: () => trace(body, answer) };
}

function read(body: unknown, answer: AnswerFile, params: Values): Found {
  const found = newestOf(at(body, answer.record), answer);
  const counted = answer.total === undefined ? undefined : Number(at(body, answer.total) ?? Number.NaN);
  const isFirst = (params["page"] ?? "1") === "1" && (params["offset"] ?? "0") === "0";
  const isEmpty = found === null || found === undefined || (Array.isArray(found) && found.length === 0);
  if (isEmpty && isFirst && counted !== undefined && counted > 0)
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
    return { outcome: "records", list: found.map((item) => fieldsOf(item, answer, body)), total };
  }
  if (found === null || found === undefined) return { outcome: "not_found" };
  if (typeof found !== "object")
    return wrong(`${answer.record} is not an object`, `${answer.record} 不是对象`);
  const fields = fieldsOf(found, answer, body);
  const other = identifying.find((name) => isOther(params[name], fields[name]));
  return other === undefined
    ? { outcome: "record", fields }
    : wrong(
        `${other} is ${fields[other]}, but ${params[other]} was asked for`,
        `查询的 ${other} 是 ${params[other]}，响应中却是 ${fields[other]}`,
      );
}

/** Parameters that the record of the answer must repeat: a record of somebody else must not be sold. */
const identifying = ["tax_id", "express_no"];

function isOther(asked: string | undefined, got: unknown): boolean {
  if (asked === undefined || typeof got !== "string") return false;
  return asked.trim().toUpperCase() !== got.trim().toUpperCase();
}

/** The newest of a list, if the vendor gives all. Null if there is none. */
function newestOf(found: unknown, { newest }: AnswerFile): unknown {
  if (newest === undefined || !Array.isArray(found)) return found;
  const yearOf = (one: unknown) => Number(/\d{4}/.exec(String(at(one, newest) ?? ""))?.[0] ?? -1);
  return found.toSorted((a, b) => yearOf(b) - yearOf(a))[0] ?? null;
}

function fieldsOf(item: unknown, { fields, constants, values }: AnswerFile, body: unknown): Fields {
  const out: Record<string, unknown> = { ...constants };
  for (const [name, rule] of Object.entries(fields)) {
    const value = readBy(rule, item, body);
    const renamed =
      typeof value === "string" || typeof value === "number" ? values[name]?.[String(value)] : undefined;
    put(out, name.split("."), renamed ?? value);
  }
  return out;
}

/** Where each field was read from; for a list, in its first record. */
function trace(body: unknown, answer: AnswerFile): Trace[] {
  const { record, fields, constants } = answer;
  const found = newestOf(at(body, record), answer);
  const item = Array.isArray(found) ? found[0] : found;
  return [
    ...Object.entries(constants).map(([field, value]) => ({ field, path: null, found: value })),
    ...Object.entries(fields).map(([field, rule]) => {
      const paths = pathsOf(rule);
      const place = placeOf(rule, item, body);
      const path = paths.find((each) => at(place, each) !== undefined) ?? paths[0] ?? "";
      return { field, path, found: at(place, path) };
    }),
  ];
}

function holds(body: unknown, { path, equals }: Condition): boolean {
  const found = at(body, path);
  // Vendors send codes as numbers or as text, and some switch between both.
  return equals.some(
    (value) => value === found || (isPlain(value) && isPlain(found) && `${value}` === `${found}`),
  );
}

function isPlain(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}
