import { Failure, invalid, type Operation, operations } from "@dataq/contract";
import { isObject } from "./request/json-object.ts";

/** Converts a request of the older published client (`domain`, `type`, `query`, `filters`, `top_k`) to ours. */
export interface OlderRequest {
  readonly body: Readonly<Record<string, unknown>>;
  /** Position of the first hit: any number, not only whole pages. */
  readonly offset: number;
  /** Adds `hits`, `total_hits` and `units` to the answer. */
  complete(json: Buffer): Buffer;
}

/**
 * Reads a request of the older client. Undefined for a body with `operation` or without `type`, which is not
 * from that client.
 */
export function readOlderRequest(body: unknown): OlderRequest | undefined {
  if (!isObject(body) || body["operation"] !== undefined || body["type"] === undefined) return undefined;
  const { domain, type, query = "", filters = {}, top_k: topK = 20, ...others } = body;
  const operation = findByOlderType(domain, type);
  if (!isObject(filters))
    throw invalid(
      "filters",
      "type",
      "filters must be an object",
      "send an object, or omit it",
      "请发送对象，或去掉 filters",
    );
  if (typeof query !== "string")
    throw invalid("query", "type", "query must be a string", "send a string", "请发送字符串");
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const shown = unknown.slice(0, 64);
    throw invalid(
      shown,
      "unknown",
      `${shown} is not a field of this profile`,
      "send domain, type, query, filters and top_k",
      "可用：domain、type、query、filters、top_k",
    );
  }
  const { offset: rawOffset, ...params } = filters;
  const offset = readInteger("filters.offset", rawOffset ?? 0, 0, 10_000);
  const size = readInteger("top_k", topK, 1, 200);
  const first = firstParameter(operation);
  if (query.trim() !== "" && first !== undefined && params[first] === undefined) params[first] = query;
  return {
    body: { operation: operation.name, params, page_size: size },
    offset,
    complete: (json) => complete(json, operation, offset, size),
  };
}

function complete(json: Buffer, operation: Operation, offset: number, size: number): Buffer {
  const answer = JSON.parse(json.toString()) as {
    data: object[] | object;
    total: number;
    usage: { tokens: number };
  };
  const all = Array.isArray(answer.data) ? answer.data : [answer.data];
  const hits = operation.paged ? all : all.slice(offset, offset + size);
  const completed = { ...answer, hits, total_hits: answer.total, units: answer.usage.tokens };
  return Buffer.from(JSON.stringify(completed));
}

function findByOlderType(domain: unknown, type: unknown): Operation {
  const list: readonly Operation[] = operations;
  const found = list.find(
    (operation) =>
      operation.olderType === type && (domain === undefined || domain === "" || operation.domain === domain),
  );
  if (found !== undefined) return found;
  const known = list.map((operation) => `${operation.domain}/${operation.olderType}`).join(", ");
  throw new Failure("invalid_capability", {
    capability: `${String(domain).slice(0, 40)}/${String(type).slice(0, 40)}`,
    details: [
      {
        param: "type",
        code: "unknown",
        message: "no operation has this domain and type",
        fix: `use one of ${known}`,
        fixZh: `可选：${known}`,
      },
    ],
  });
}

/** The parameter that the older `query` fills: `query` itself, or the first required one. */
function firstParameter(operation: Operation): string | undefined {
  const names = Object.entries(operation.params.shape);
  return (
    names.find(([name]) => name === "query")?.[0] ??
    names.find(([, schema]) => !schema.safeParse(undefined).success)?.[0]
  );
}

function readInteger(name: string, value: unknown, low: number, high: number): number {
  const number = typeof value === "string" && /^\d{1,6}$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && number >= low && number <= high)
    return number;
  throw invalid(
    name,
    "range",
    `${name} must be a whole number from ${low} to ${high}`,
    `send ${low} to ${high}`,
    `请发送 ${low} 至 ${high}`,
  );
}
