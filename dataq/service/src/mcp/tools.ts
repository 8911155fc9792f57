import { answerSchema, findOperation, type JsonSchema, type Operation } from "@dataq/contract";
import { answerBody, balance, estimate } from "@dataq/contract/wire";
import type { Tool } from "@modelcontextprotocol/server";
import type { ApiRequest } from "./api.ts";

/** An operation as `GET /v1/catalog?format=openai-tools` lists it. */
export interface OfferedOperation {
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonSchema;
  };
}

type Arguments = Readonly<Record<string, unknown>>;

/** A tool for each operation that the service offers, then `estimate` and `balance`. */
export function toolsFor(offered: readonly OfferedOperation[]): Tool[] {
  const operations = offered.flatMap(({ function: { name, description, parameters } }) => {
    const operation = findOperation(name);
    return operation === undefined ? [] : [operationTool(operation, description, parameters)];
  });
  return [...operations, estimateTool(operations), balanceTool];
}

/** Whether a tool of this name can exist. */
export function isTool(name: unknown): boolean {
  return typeof name === "string" && (name === "estimate" || name === "balance" || isOperation(name));
}

/** The request that a tool call sends. */
export function requestOf(name: string, given: Arguments): Omit<ApiRequest, "signal"> {
  if (name === "balance") return { path: "/v1/balance" };
  if (name === "estimate") return { path: "/v1/data/estimate", body: given };
  // `fields` and similar options are not parameters of the operation, but to a model all of them are arguments.
  const known = controlsOf(findOperation(name)!);
  const controls = Object.keys(given).filter((argument) => Object.hasOwn(known, argument));
  const params = Object.fromEntries(
    Object.entries(given).filter(([argument]) => !controls.includes(argument)),
  );
  return {
    path: "/v1/data/query",
    body: {
      ...Object.fromEntries(controls.map((control) => [control, given[control]])),
      operation: name,
      params,
    },
  };
}

function isOperation(name: string): boolean {
  return findOperation(name) !== undefined;
}

function operationTool(operation: Operation, description: string, parameters: JsonSchema): Tool {
  const { properties = {} } = parameters as { properties?: object };
  return {
    name: operation.name,
    title: operation.title.en,
    description,
    inputSchema: {
      ...parameters,
      type: "object",
      properties: { ...properties, ...controlsOf(operation) },
    } as Tool["inputSchema"],
    outputSchema: outputSchema(operation),
    annotations: {
      title: operation.title.en,
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true,
    },
  };
}

/** The answer of an operation. With `fields`, a record has only some of its fields. */
function outputSchema(operation: Operation): Tool["outputSchema"] {
  const schema = answerSchema(operation) as { readonly properties: { readonly data: JsonSchema } };
  const { data } = schema.properties;
  const items = data["items"] as JsonSchema | undefined;
  const partial = items ? { ...data, items: { ...items, required: ["id"] } } : { ...data, required: ["id"] };
  return {
    ...schema,
    type: "object",
    properties: { ...schema.properties, data: partial },
  } as Tool["outputSchema"];
}

/** Arguments that an operation's tool has besides the parameters of the operation. */
function controlsOf(operation: Operation): Readonly<Record<string, JsonSchema>> {
  return {
    ...(operation.paged && {
      page: {
        type: "integer",
        minimum: 1,
        maximum: 10_000,
        description: "Page, from 1. Each page is a call",
      },
      page_size: {
        type: "integer",
        minimum: 1,
        maximum: 200,
        description: "Records on a page, 20 by default",
      },
    }),
    fields: {
      type: "array",
      minItems: 1,
      maxItems: Object.keys(operation.record.shape).length,
      uniqueItems: true,
      items: { type: "string", enum: Object.keys(operation.record.shape) },
      description: "Return only these fields of each record; all by default",
    },
    max_tokens: {
      type: "integer",
      minimum: 0,
      description: "Reject the call, free of charge, if it would cost more tokens",
    },
  };
}

function estimateTool(operations: readonly Tool[]): Tool {
  const title = "Price of a call";
  return {
    name: "estimate",
    title,
    description:
      "Price of a call in tokens, and the balance after it. Free. 查询一次调用的价格（点数）及调用后的余额，免费。",
    inputSchema: {
      type: "object",
      properties: {
        operation: { type: "string", enum: operations.map(({ name }) => name) },
        params: { type: "object", description: "The operation's parameters", additionalProperties: true },
        page: { type: "integer", minimum: 1 },
        page_size: { type: "integer", minimum: 1, maximum: 200 },
        pages: { type: "integer", minimum: 1, maximum: 100, description: "How many pages, from `page` on" },
      },
      required: ["operation"],
      additionalProperties: false,
    },
    outputSchema: { ...answerBody(estimate), type: "object" },
    annotations: { title, ...readsOwnAccount },
  };
}

const readsOwnAccount = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

const balanceTool: Tool = {
  name: "balance",
  title: "Balance",
  description:
    "What the account can spend, in tokens, and what is left of the session's budget. Free. 账户可用点数及会话预算的剩余，免费。",
  inputSchema: { type: "object", properties: {}, additionalProperties: false },
  outputSchema: { ...answerBody(balance), type: "object" },
  annotations: { title: "Balance", ...readsOwnAccount },
};
