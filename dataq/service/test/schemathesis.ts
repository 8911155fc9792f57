import { type Effort, schemathesis } from "../../../testing/schemathesis.ts";
import type { CallResult } from "./service-process.ts";

interface FuzzedService {
  readonly url: string;
  call(path: string): Promise<CallResult>;
}

/**
 * Sends every example, random requests for each operation of /openapi.json that asks for data or for the account, and
 * perhaps every edge of a schema, with the test key `key`. The report is "<count> generated" if every answer is as the
 * document says, and otherwise the end of what schemathesis printed.
 */
export async function fuzz(service: FuzzedService, key: string, effort: Effort): Promise<string> {
  return send(service, key, effort, bounded((await service.call("/openapi.json")).body));
}

/** The same for all other operations, which change the account, with the operator's key. */
export async function fuzzOthers(service: FuzzedService, key: string, effort: Effort): Promise<string> {
  const document = (await service.call("/openapi.json")).body as OpenApi;
  for (const path of fuzzed) delete document.paths[path];
  // Other tests send wrong keys to every route. Here they would be too many, because 20 from one address are let through.
  return send(service, key, effort, document, ["--exclude-checks", "ignored_auth"]);
}

async function send(
  service: FuzzedService,
  key: string,
  effort: Effort,
  document: OpenApi,
  checks: readonly string[] = [],
): Promise<string> {
  const words = ["--header", `Authorization: Bearer ${key}`, ...checks];
  const folder = new URL("./", import.meta.url);
  return (await schemathesis({ ...effort, document, url: service.url, folder, words })).slice(-4_000);
}

interface OpenApi {
  readonly paths: Record<string, { post: { requestBody: { content: object } } }>;
  readonly components: { readonly schemas: Record<string, { readonly properties: Record<string, unknown> }> };
}

/**
 * Reduces the document to what is fuzzed. The fields that all operations share stay in one operation only, and the
 * estimate accepts one operation only; otherwise each case would run 32 times. `page` and `page_size` are tried in
 * different operations, because no schema can limit their product. `snapshot` and `fields` are removed: the first
 * comes from an answer, and the second removes fields from the records.
 */
function bounded(document: OpenApi): OpenApi {
  for (const path of Object.keys(document.paths)) if (!fuzzed.includes(path)) delete document.paths[path];
  const requests = Object.entries(document.components.schemas).filter(([name]) => name.endsWith(".request"));
  for (const [place, [, { properties }]] of requests.entries()) {
    const kept = ["operation", "params", ...(place === 0 ? shared : [])];
    for (const name of Object.keys(properties)) if (!kept.includes(name)) delete properties[name];
  }
  // 500 pages of 20, the default size, are the maximum.
  const page = { type: ["integer", "string", "null"], minimum: 1, maximum: 500 };
  requests[1]![1].properties["page"] = { ...page, pattern: "^([1-9][0-9]?|[1-4][0-9]{2}|500)$" };
  const schema = { $ref: `#/components/schemas/${requests[0]![0]}` };
  document.paths["/v1/data/estimate"]!.post.requestBody.content = { "application/json": { schema } };
  return document;
}

/** Requests that change nothing in the account and need no more than the key may do. */
const fuzzed = [
  "/v1/data/query",
  "/v1/data/estimate",
  "/v1/balance",
  "/v1/account",
  "/v1/ledger",
  "/v1/usage",
  "/v1/catalog",
  "/v1/catalog/{operation}",
  "/v1/pricing",
  "/v1/status",
  "/healthz",
];

const shared = ["domain", "page_size", "cache", "max_tokens", "dry_run"];
