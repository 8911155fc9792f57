import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import type { Target } from "../../../fuzz/target.ts";
import type { ApiRequest } from "../src/mcp/api.ts";
import { mcpServer } from "../src/mcp/mcp-server.ts";

/**
 * A message of a client, after a correct beginning. The server answers every request once, and asks the API only for
 * paths of its own.
 */
export const target: Target = {
  covers: ["dataq/service/src/mcp"],
  seeds: [
    { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
    {
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: {
        name: "legal_laws",
        arguments: { query: "民法典 577", fields: ["id"], max_tokens: 5 },
        _meta: { progressToken: "p" },
      },
    },
    {
      jsonrpc: "2.0",
      id: "3",
      method: "tools/call",
      params: { name: "estimate", arguments: { operation: "legal_laws", params: {} } },
    },
    { jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "balance" } },
    { jsonrpc: "2.0", id: 5, method: "resources/read", params: { uri: "dataq://catalog/legal_laws" } },
    { jsonrpc: "2.0", id: 6, method: "resources/templates/list" },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } },
  ].map((message) => JSON.stringify(message)),
  words: ["toString", "constructor", "__proto__", "dataq://catalog", "dataq://pricing", "../..", "?", "%2e"],
  bounds: { ms: 250, mib: 64 },
  async read(input) {
    let message: unknown;
    try {
      message = JSON.parse(input.toString());
    } catch {
      return;
    }
    // The transport of the service gives only objects on.
    if (typeof message !== "object" || message === null || Array.isArray(message)) return;
    const asked: ApiRequest[] = [];
    const server = mcpServer({
      send: async (request) => {
        asked.push(request);
        return { status: 200, body: request.path.includes("openai-tools") ? [] : { data: {} } };
      },
    });
    const answers: JSONRPCMessage[] = [];
    const transport: Transport = {
      start: async () => {},
      close: async () => {},
      send: async (answer) => void answers.push(answer),
    };
    await server.connect(transport);
    transport.onmessage?.(first);
    transport.onmessage?.(message as JSONRPCMessage);
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await server.close();
    for (const { path, body } of asked) {
      if (!/^\/(?:v1\/|openapi|llms|healthz)/.test(new URL(path, "http://service").pathname))
        throw new Error(`asks for ${path}`);
      // What is not an option of all operations is a parameter, also if every object has something of that name.
      if (path === "/v1/data/query" && Object.hasOwn(body ?? {}, "constructor"))
        throw new Error("a parameter became an option");
    }
    const ids = answers.flatMap((answer) => ("id" in answer ? [JSON.stringify(answer.id)] : []));
    if (new Set(ids).size < ids.length && !ids.includes("0"))
      throw new Error(`answers twice: ${ids.join(", ")}`);
  },
};

const first = {
  ...{ jsonrpc: "2.0" as const, id: 0, method: "initialize" },
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "fuzz", version: "1" } },
};
