import { counted, type Operation, operations, paramsSchema, tokensPerCny } from "@dataq/contract";
import { exampleOf, notice, type TermsOf } from "./terms.ts";

/** An introduction for agents, in the form of https://llmstxt.org. Links are relative to the service. */
export function llmsText(termsOf: TermsOf): string {
  const list: readonly Operation[] = operations;
  const [first] = list as readonly [Operation, ...Operation[]];
  const domains = [...new Set(list.map(({ domain }) => domain))];
  const body = JSON.stringify({
    operation: first.name,
    params: exampleOf(first, termsOf(first)),
    page: 1,
    page_size: 20,
  });
  return `# dataq

> A paid data query service over Chinese sources: ${domains.join(", ")}. One endpoint, ${list.length} operations, JSON answers whose records name their source. You pay per call in tokens (1 CNY buys ${number(tokensPerCny)}); failed calls are free.

Every operation uses the same call:

    POST /v1/data/query
    Authorization: Bearer <API_KEY>
    Content-Type: application/json

    ${body}

- An answer has \`data\` (a list or one record), \`page\` and \`total_pages\` for lists, and \`usage\` with the tokens charged and the remaining balance.
- An error has \`code\`, \`retryable\`, \`next_action\` and sometimes \`retry_after\` in seconds. Retry only 429 and 5xx, and send an \`Idempotency-Key\` header so that no retry is charged twice.
- \`"dry_run": true\` returns the price and costs nothing; \`"max_tokens"\` rejects a call that would cost more; \`"fields"\` selects the fields of each record.
- An operation that has samples only answers \`"sample": true\` beside \`data\`, and is free. It knows the values in its \`samples\` (/v1/catalog) and answers 501 \`not_configured\` to any other. A record with \`source.kind\` \`sample\` is generated. It is not a fact.

## Getting a key

- [Console](/console/): sign in and create a key under API keys. On the service's own machine: \`dataq keys create\`.
- A key that starts with \`dq_test_\` returns samples and is never charged.

## Operations

${list.map((operation) => line(operation, termsOf)).join("\n")}

## Clients

- TypeScript (package \`dataq-client\`, from the repository: not published yet): \`new DataQuery().${first.name}({…})\`
- Python (package \`dataq-client\`, from the repository: not published yet): \`DataQuery().${first.name}(…)\`
- Both read DATAQ_API_KEY and DATAQ_BASE_URL, retry only what is safe to retry, send an \`Idempotency-Key\`, and have every operation as a typed method.

## Agents (MCP)

- \`POST /mcp\` speaks the Model Context Protocol (Streamable HTTP) with the API key as bearer token: a tool for each operation, \`estimate\` and \`balance\`.
- \`dataq mcp\` does the same over stdio, with DATAQ_API_KEY and DATAQ_BASE_URL.
- The header \`X-Tokens-Budget: 20000\` is what a session may spend; \`X-Session-Id\` names the session. Both also work with \`/v1/data/query\`.

## Reference

- [OpenAPI 3.1](/openapi.json): every route, and every operation with its request and record
- [Tool definitions](/v1/catalog?format=openai-tools): the operations as functions that a model can call
- [Documentation](/docs/dataq/start): for people; [in Chinese](/docs/zh/dataq/start)
- [Documentation as Markdown](/docs/llms.txt): the same pages, one by one; [in one file](/docs/llms-full.txt)
- [Prices](/v1/pricing): current and announced
- [Data status](/v1/status): what answers each operation (a vendor, imported records, samples), and how old it is
`;
}

/** `- [name](its schema): what it gives; parameters; price`. */
function line(operation: Operation, termsOf: TermsOf): string {
  const { properties = {}, required = [] } = paramsSchema(operation) as {
    properties?: object;
    required?: string[];
  };
  const names = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`));
  const params = names.length === 0 ? "No parameters" : `Parameters: ${names.join(", ")}`;
  const terms = termsOf(operation);
  const { tokens, cachedTokens } = terms;
  const price = `${counted(tokens, "token")}${cachedTokens === null ? "" : ` (repeated: ${number(cachedTokens)})`}`;
  const per =
    operation.pricedPer === undefined
      ? ""
      : ` per ${operation.pricedPer.count} ${operation.pricedPer.what.en}, rounded up`;
  const paged = operation.paged ? "; paged" : "";
  return `- [${operation.name}](/v1/catalog/${operation.name}): ${operation.description.en} ${params}${paged}; ${price}${per}. ${notice(terms).en}.`;
}

function number(value: number): string {
  return value.toLocaleString("en");
}
