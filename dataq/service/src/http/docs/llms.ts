import { type Operation, operations, paramsSchema, tokensPerCny } from "@dataq/contract";
import type { PricesInForce } from "./prices.ts";

/** The service for a program that reads before it calls: https://llmstxt.org. Links are relative to where it stands. */
export function llmsText(prices: PricesInForce): string {
  const list: readonly Operation[] = operations;
  const [first] = list as readonly [Operation, ...Operation[]];
  const domains = [...new Set(list.map(({ domain }) => domain))];
  const body = JSON.stringify({ operation: first.name, params: first.example, page: 1, page_size: 20 });
  return `# dataq

> A paid data query service over Chinese sources: ${domains.join(", ")}. One endpoint, ${list.length} operations, JSON answers whose records name their source. Pay per call in tokens (1 CNY buys ${number(tokensPerCny)}); what fails costs nothing.

Every operation is the same call:

    POST /v1/data/query
    Authorization: Bearer <API_KEY>
    Content-Type: application/json

    ${body}

- An answer has \`data\` (a list, or one record), for lists \`page\` and \`total_pages\`, and \`usage\` with the tokens charged and the balance left.
- An error has \`code\`, \`retryable\`, \`next_action\` and where it helps \`retry_after\` in seconds. Retry 429 and 5xx only, with an \`Idempotency-Key\` header: then no retry is charged twice.
- \`"dry_run": true\` tells the price and costs nothing; \`"max_tokens"\` refuses a call that would cost more; \`"fields"\` names the fields wanted.
- A record of \`source.kind\` \`sample\` is generated, not a fact.

## Getting a key

- [Console](/console/): sign in, then make a key under API keys. On the service's own machine: \`dataq keys create\`.
- A key that begins with \`dq_test_\` is answered with samples and never charged.

## Operations

${list.map((operation) => line(operation, prices)).join("\n")}

## Reference

- [OpenAPI 3.1](/openapi.json): every operation with its request and record
- [Functions for a model](/v1/catalog?format=openai-tools): the operations as tool definitions
- [Reference for people](/docs): parameters, fields and errors
- [Prices](/v1/pricing): in force and announced
- [State of the data](/v1/status): what is imported, what is sample, and how old it is
`;
}

/** `- [name](its schema): what it gives; parameters; price`. */
function line(operation: Operation, prices: PricesInForce): string {
  const { properties = {}, required = [] } = paramsSchema(operation) as {
    properties?: object;
    required?: string[];
  };
  const names = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`));
  const params = names.length === 0 ? "No parameters" : `Parameters: ${names.join(", ")}`;
  const { tokens, cachedTokens } = prices(operation);
  const price = `${number(tokens)} tokens${cachedTokens === null ? "" : ` (repeated: ${number(cachedTokens)})`}`;
  const paged = operation.paged ? "; paged" : "";
  return `- [${operation.name}](/v1/catalog/${operation.name}): ${operation.description.en} ${params}${paged}; ${price}.`;
}

function number(value: number): string {
  return value.toLocaleString("en");
}
