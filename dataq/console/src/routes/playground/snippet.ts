import type { QueryBody } from "../../service/catalog.ts";

export const dialects = ["curl", "typescript", "python", "mcp"] as const;
export type Dialect = (typeof dialects)[number];

/** Code that makes the same call with the key from DATAQ_API_KEY. */
export function snippet(dialect: Dialect, body: QueryBody, baseUrl: string): string {
  return { curl, typescript, python, mcp }[dialect](body, baseUrl);
}

/** How to get the clients, which no registry has yet: run in the repository. */
export const clientPackages = {
  typescript:
    "(cd dataq/client && npm pack --pack-destination /tmp)\nnpm install /tmp/dataq-client-0.1.0.tgz",
  python: "pip install ./dataq/client-python",
};

function curl(body: QueryBody, baseUrl: string): string {
  // Inside single quotes, the single quote is the only special character of a shell.
  const text = JSON.stringify(body).replaceAll("'", "'\\''");
  return `curl ${baseUrl}/v1/data/query \\
  -H "Authorization: Bearer $DATAQ_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${text}'`;
}

/** What a method or a tool is given: the parameters, and the size of a page beside them. */
function argumentsOf({ params, page_size: pageSize }: QueryBody) {
  return { ...params, ...(pageSize !== undefined && { page_size: pageSize }) };
}

function typescript(body: QueryBody, baseUrl: string): string {
  const values = argumentsOf(body);
  const given = Object.keys(values).length === 0 ? "" : JSON.stringify(values, null, 2);
  return `import { DataQuery } from "dataq-client";

// The key is read from DATAQ_API_KEY.
const dataq = new DataQuery({ baseUrl: ${JSON.stringify(baseUrl)} });
const { data, usage } = await dataq.${body.operation}(${given});
console.log(data, usage?.tokens);`;
}

function python(body: QueryBody, baseUrl: string): string {
  // JSON strings and numbers are also valid Python.
  const given = Object.entries(argumentsOf(body)).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `from dataq_client import DataQuery

# The key is read from DATAQ_API_KEY.
with DataQuery(base_url=${JSON.stringify(baseUrl)}) as dataq:
    result = dataq.${body.operation}(${given.join(", ")})
    print(result.data, result.usage["tokens"])`;
}

/** How an agent is given the tools, and what it then calls. */
function mcp(body: QueryBody, baseUrl: string): string {
  const server = { type: "http", url: `${baseUrl}/mcp`, headers: { Authorization: "Bearer $DATAQ_API_KEY" } };
  const tool = { name: body.operation, arguments: argumentsOf(body) };
  return `// The agent's settings\n${JSON.stringify({ mcpServers: { dataq: server } }, null, 2)}\n\n// The tool that it calls\n${JSON.stringify(tool, null, 2)}`;
}
