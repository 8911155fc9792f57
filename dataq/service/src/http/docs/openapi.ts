import {
  answerSchema,
  errorSchema,
  type JsonSchema,
  type MoreChoices,
  type Operation,
  operations,
  paramsSchema,
} from "@dataq/contract";

/** The service as OpenAPI 3.1, made from the contract. */
export function openApi(more: MoreChoices): JsonSchema {
  const list: readonly Operation[] = operations;
  const answers = Object.fromEntries(
    list.map((operation) => [`${operation.name}.answer`, answerSchema(operation)]),
  );
  const requests = Object.fromEntries(
    list.map((operation) => [`${operation.name}.request`, requestSchema(operation, more)]),
  );
  const references = (kind: string) =>
    list.map(({ name }) => ({ $ref: `#/components/schemas/${name}.${kind}` }));
  const body = { required: true, content: json({ oneOf: references("request") }) };
  return {
    openapi: "3.1.0",
    info: {
      title: "dataq",
      version: "1",
      description: "A data query service over Chinese sources: one endpoint, many operations, pay per call.",
      license: { name: "MIT", identifier: "MIT" },
    },
    security: [{ bearer: [] }, { header: [] }],
    paths: {
      "/v1/data/query": {
        post: {
          operationId: "query",
          summary: "Ask one operation",
          requestBody: body,
          responses: {
            200: answer("The answer; with dry_run its price", { anyOf: [...references("answer"), estimate] }),
            default: failure,
          },
        },
      },
      "/v1/data/estimate": {
        post: {
          operationId: "estimate",
          summary: "What a call would cost now; free",
          requestBody: body,
          responses: {
            200: answer("The price", estimate),
            default: failure,
          },
        },
      },
      "/v1/balance": get(
        "balance",
        "Spendable tokens",
        objectOf({ balance: integer, held: integer, currency: string }),
      ),
      "/v1/catalog": open(
        get("catalog", "Every operation with its parameters, record and price", catalog, [
          { name: "format", in: "query", schema: { type: "string", enum: ["openai-tools"] } },
        ]),
      ),
      "/v1/catalog/{operation}": open(
        get("catalogEntry", "One operation", objectOf({ operation: string }), [
          {
            name: "operation",
            in: "path",
            required: true,
            schema: { type: "string", enum: list.map(({ name }) => name) },
          },
        ]),
      ),
      "/v1/pricing": open(get("pricing", "Prices and their versions", objectOf({ data: { type: "array" } }))),
      "/v1/status": open(
        get("status", "Indexes, their age, and what is being built", objectOf({ data: { type: "object" } })),
      ),
      "/healthz": open(get("health", "Whether the process lives", objectOf({ status: string }))),
    },
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        header: { type: "apiKey", in: "header", name: "X-API-Key" },
      },
      schemas: { ...requests, ...answers, error: errorSchema() },
    },
  };
}

/** The catalogue itself, or with `format=openai-tools` a list of function definitions. */
const catalog = {
  anyOf: [objectOf({ data: { type: "array" } }), { type: "array", items: { type: "object" } }],
};

/** An integer, or the same as a string; null is as good as left out. */
const wholeNumber = { type: ["integer", "string", "null"] };
const integer = { type: "integer" };
const string = { type: "string" };
const boolean = { type: "boolean" };
const estimate = objectOf({ tokens: integer, cached: boolean, balance_after: integer });
const failure = {
  description: "An error; `code` says which",
  content: json({ $ref: "#/components/schemas/error" }),
};

function requestSchema(operation: Operation, more: MoreChoices): JsonSchema {
  const params = paramsSchema(operation, more);
  const isNeeded = Array.isArray(params["required"]) && params["required"].length > 0;
  return {
    type: "object",
    description: operation.description.en,
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
        description: "page × page_size may reach 10,000",
      },
      cache: { type: "string", enum: ["default", "bypass", "only"] },
      fields: {
        type: "array",
        minItems: 1,
        items: { type: "string", enum: Object.keys(operation.record.shape) },
      },
      snapshot: { type: ["string", "null"], minLength: 1, maxLength: 128 },
      max_tokens: { ...wholeNumber, minimum: 0, pattern: "^(0|[1-9][0-9]{0,14})$" },
      dry_run: boolean,
    },
    required: ["operation", ...(isNeeded ? ["params"] : [])],
    additionalProperties: false,
    examples: [{ operation: operation.name, params: operation.example }],
  };
}

function get(operationId: string, summary: string, schema: JsonSchema, parameters: readonly object[] = []) {
  return {
    get: { operationId, summary, parameters, responses: { 200: answer(summary, schema), default: failure } },
  };
}

/** A path that needs no key. */
function open(path: { readonly get: object }) {
  return { get: { ...path.get, security: [] } };
}

function answer(description: string, schema: JsonSchema) {
  return { description, content: json(schema) };
}

function json(schema: JsonSchema) {
  return { "application/json": { schema } };
}

function objectOf(properties: JsonSchema): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties) };
}
