import {
  answerSchema,
  type ErrorCode,
  errorSchema,
  errors,
  fill,
  type JsonSchema,
  type MoreChoices,
  type Operation,
  operations,
  paramsSchema,
} from "@dataq/contract";
import {
  answerBody,
  dryRun,
  errorCodesOf,
  mostQueries,
  type Route,
  requestBody,
  routes,
  severalAnswers,
  summariesZh,
} from "@dataq/contract/wire";
import { z } from "zod";
import { mostInteger } from "../../query/request/controls.ts";
import { exampleOf, notice, type TermsOf } from "./terms.ts";

/** The whole public API as OpenAPI 3.1, made from the contract. `x-zh` has a text in Chinese beside the English one. */
export function openApi(more: MoreChoices, termsOf: TermsOf): JsonSchema {
  const list: readonly Operation[] = operations;
  const answers = list.map((operation) => [`${operation.name}.answer`, answerSchema(operation)] as const);
  const requests = list.map(
    (operation) => [`${operation.name}.request`, requestSchema(operation, more, termsOf)] as const,
  );
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const [name, route] of Object.entries<Route>(routes)) {
    paths[route.path] ??= {};
    paths[route.path]![route.method.toLowerCase()] = describe(name, route);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "dataq",
      version: "1",
      description:
        "A paid data query service over Chinese sources. Every operation is a call of `POST /v1/data/query`; the other routes manage keys, tokens and members.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "The service that this document comes from" }],
    tags,
    security: [{ bearer: [] }, { header: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        header: { type: "apiKey", in: "header", name: "X-API-Key" },
      },
      schemas: {
        ...Object.fromEntries([...requests, ...answers]),
        queries: queriesSchema,
        "queries.answers": answerBody(severalAnswers),
        error: errorSchema(),
      },
    },
  };
}

const tags = [
  { name: "data", description: "Call operations", "x-zh": "调用接口" },
  {
    name: "account",
    description: "Balance, ledger, usage and requests of your account",
    "x-zh": "账户的余额、账本、用量与请求记录",
  },
  { name: "keys", description: "API keys of your account", "x-zh": "账户的 API 密钥" },
  { name: "members", description: "People of your account", "x-zh": "账户的成员" },
  {
    name: "webhooks",
    description: "Signed messages to your own endpoints",
    "x-zh": "发往您自己地址的签名消息",
  },
  {
    name: "catalog",
    description: "Operations, prices and the state of the data",
    "x-zh": "接口、价格与数据状态",
  },
  { name: "service", description: "For monitoring", "x-zh": "监控" },
  { name: "admin", description: "For the operator of the service", "x-zh": "供服务的运营方使用" },
];

function describe(name: string, route: Route): JsonSchema {
  const takesQuery = route.path.startsWith("/v1/data/");
  const several = name === "query" ? [{ $ref: "#/components/schemas/queries" }] : [];
  const body = takesQuery
    ? { oneOf: [...oneOf("request").oneOf, ...several] }
    : route.body && requestBody(route.body);
  return {
    operationId: name,
    summary: route.summary,
    "x-zh": summariesZh[name as keyof typeof routes],
    tags: [route.tag],
    ...(route.access === "public" && { security: [] }),
    parameters: [...pathParameters(route), ...queryParameters(route), ...headers(name)],
    ...(body && { requestBody: { required: !route.isBodyOptional, content: json(body) } }),
    ...(name === "uploadPiece" && { requestBody: { required: true, content: bytes } }),
    responses: {
      [route.status]: success(name, route),
      ...refusals(name, route),
      ...(name === "callMcp" && { 406: notAcceptable }),
    },
  };
}

const bytes = { "application/octet-stream": { schema: { type: "string", format: "binary" } } };

/** Each status with the codes that it can carry. */
function refusals(name: string, route: Route): JsonSchema {
  const statuses = Map.groupBy(errorCodesOf(route), (code) => errors[code].status);
  return Object.fromEntries(
    [...statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, codes]) => [
        status,
        {
          description: codes.map(describeError).join("\n"),
          ...((status === 429 || status === 503) && { headers: retryAfter }),
          content: {
            "application/json": {
              schema:
                name === "callMcp" && status === 400
                  ? { anyOf: [errorReference, protocolError] }
                  : errorReference,
            },
            "application/problem+json": { schema: errorReference },
          },
        },
      ]),
  );
}

/** What is not a message of the Model Context Protocol is refused by its own rules (JSON-RPC 2.0). */
const protocolError: JsonSchema = {
  type: "object",
  properties: {
    jsonrpc: { const: "2.0" },
    id: { type: ["string", "number", "null"] },
    error: {
      type: "object",
      properties: { code: { type: "integer" }, message: { type: "string" } },
      required: ["code", "message"],
    },
  },
  required: ["jsonrpc", "error"],
};
const notAcceptable: JsonSchema = {
  description: "The client must accept both application/json and text/event-stream",
  content: { "application/json": { schema: protocolError } },
};
const errorReference = { $ref: "#/components/schemas/error" };
const retryAfter = { "Retry-After": { description: "Seconds to wait", schema: { type: "integer" } } };

function describeError(code: ErrorCode): string {
  return `- \`${code}\`: ${fill(errors[code].message, {})}`;
}

function success(name: string, route: Route): JsonSchema {
  const description = route.summary;
  const several = { $ref: "#/components/schemas/queries.answers" };
  if (name === "query")
    return {
      description,
      content: {
        ...json({ anyOf: [...oneOf("answer").oneOf, several, answerBody(dryRun)] }),
        "text/csv": { schema: { type: "string" } },
        "application/x-ndjson": { schema: { type: "string" } },
      },
    };
  const { answer } = route;
  if (answer === undefined) return { description };
  if (answer instanceof z.ZodType) return { description, content: json(answerBody(answer)) };
  // A schema of a stream would be that of its events.
  const content = [answer]
    .flat()
    .map((type) => [type, type === "text/event-stream" ? {} : { schema: { type: "string" } }]);
  return { description, content: Object.fromEntries(content) };
}

/** An integer, or the same as a string; null means the same as leaving it out. */
const wholeNumber = { type: ["integer", "string", "null"] };
const maxTokens = {
  ...wholeNumber,
  minimum: 0,
  maximum: mostInteger,
  pattern: "^(0|[1-9][0-9]{0,14})$",
};

/** Not a reference to the requests: an invalid query makes only its own item an error, not the call. */
const severalItem = {
  description:
    "A query as it would be sent alone: operation, params and its other fields. Each is checked separately",
};

/** Several queries in one call. */
const queriesSchema: JsonSchema = {
  type: "object",
  description: "Up to 20 queries in one call, each with its own answer, price and error",
  properties: {
    queries: { type: "array", minItems: 1, maxItems: mostQueries, items: severalItem },
    max_tokens: { ...maxTokens, description: "For all queries together" },
  },
  required: ["queries"],
  additionalProperties: false,
};

function oneOf(kind: "request" | "answer") {
  return { oneOf: operations.map(({ name }) => ({ $ref: `#/components/schemas/${name}.${kind}` })) };
}

function pathParameters({ path }: Route): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: pathSchemas[name!] ?? { type: "string" },
  }));
}

const operationName = { type: "string", enum: operations.map(({ name }) => name) };
const pathSchemas: Readonly<Record<string, object>> = {
  operation: operationName,
  code: { type: "string", enum: Object.keys(errors) },
  month: { type: "string", pattern: "^20\\d\\d-(0[1-9]|1[0-2])$", examples: ["2026-01"] },
};

function queryParameters({ query }: Route): object[] {
  if (!query) return [];
  const { properties = {} } = requestBody(query) as { properties?: Record<string, JsonSchema> };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    // Not read from the schema: what is converted from a text may be anything there, also nothing.
    ...(!query.shape[name]!.safeParse(undefined).success && { required: true }),
    ...(description !== undefined && { description }),
    schema,
  }));
}

function headers(name: string): object[] {
  if (name !== "query") return [];
  return [
    {
      name: "Idempotency-Key",
      in: "header",
      description: "Calls with the same key and body are charged once; later ones get the first answer",
      schema: { type: "string", pattern: "^[ -~]{1,255}$" },
    },
    {
      name: "X-Tokens-Budget",
      in: "header",
      description: "What the calls of a session may spend together; beyond it 402 budget_exceeded",
      schema: { type: "string", pattern: "^[0-9]{1,15}$" },
    },
    {
      name: "X-Session-Id",
      in: "header",
      description: "The session of X-Tokens-Budget; without it, all calls of the key that name no session",
      schema: { type: "string", pattern: "^[!-~]{1,128}$" },
    },
  ];
}

function requestSchema(operation: Operation, more: MoreChoices, termsOf: TermsOf): JsonSchema {
  const terms = termsOf(operation);
  const params = paramsSchema(operation, more);
  const isNeeded = Array.isArray(params["required"]) && params["required"].length > 0;
  return {
    type: "object",
    description: `${operation.description.en} ${notice(terms).en}.`,
    properties: {
      domain: { const: operation.domain },
      operation: { const: operation.name },
      params: isNeeded ? params : { ...params, type: ["object", "null"] },
      page: operation.paged
        ? { ...wholeNumber, minimum: 1, maximum: 10_000, pattern: "^([1-9][0-9]{0,3}|10000)$" }
        : { ...wholeNumber, minimum: 1, maximum: 1, pattern: "^1$" },
      page_size: {
        ...wholeNumber,
        minimum: 1,
        maximum: 200,
        pattern: "^([1-9][0-9]?|1[0-9]{2}|200)$",
        description: "page × page_size must not exceed 10,000",
      },
      cache: { type: "string", enum: ["default", "bypass", "only"] },
      fields: {
        type: "array",
        minItems: 1,
        items: { type: "string", enum: Object.keys(operation.record.shape) },
      },
      snapshot: { type: ["string", "null"], minLength: 1, maxLength: 128 },
      max_tokens: maxTokens,
      dry_run: { type: "boolean" },
    },
    required: ["operation", ...(isNeeded ? ["params"] : [])],
    additionalProperties: false,
    examples: [{ operation: operation.name, params: exampleOf(operation, terms) }],
  };
}

function json(schema: JsonSchema) {
  return { "application/json": { schema } };
}
