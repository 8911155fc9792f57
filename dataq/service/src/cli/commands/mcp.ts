import { randomUUID } from "node:crypto";
import type { ErrorBody } from "@dataq/contract";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Command } from "commander";
import type { DataQueryOptions } from "dataq-client";
import type { Api, ApiAnswer } from "../../mcp/api.ts";
import { mcpServer } from "../../mcp/mcp-server.ts";
import { readCount } from "../numbers.ts";

const examples = `
Examples:
  dataq mcp                                         the service on this machine, with its local key
  DATAQ_API_KEY=dq_live_… dataq mcp --budget 50000  at most 50,000 tokens for this process
  DATAQ_BASE_URL=https://data.example.com dataq mcp

An agent's configuration, such as mcp.json:
  {"mcpServers": {"dataq": {"command": "dataq", "args": ["mcp", "--budget", "50000"],
                            "env": {"DATAQ_API_KEY": "dq_live_…"}}}}

Agents that speak HTTP need no command: POST <address>/mcp, with the API key as bearer token.`;

/** `dataq mcp`: a running service as tools for an agent that starts this process. */
export function mcpCommand(connect: () => DataQueryOptions): Command {
  return new Command("mcp")
    .description("serve the operations to an agent over stdin and stdout (Model Context Protocol)")
    .option("--budget <tokens>", "tokens that this process may spend (default: the balance)", readCount)
    .addHelpText("after", examples)
    .action((options: { budget?: number }) => {
      const { baseUrl = "", apiKey } = connect();
      if (apiKey === undefined) throw new Error("No API key. Set DATAQ_API_KEY.");
      const api = remoteApi(baseUrl, {
        authorization: `Bearer ${apiKey}`,
        "x-session-id": `stdio-${randomUUID()}`,
        ...(options.budget !== undefined && { "x-tokens-budget": String(options.budget) }),
      });
      // It ends with stdin. Standard output belongs to the protocol.
      serveStdio(() => mcpServer(api), { onerror: (error) => console.error(`dataq mcp: ${error.message}`) });
      console.error(`dataq mcp: serving ${baseUrl}`);
    });
}

/** A service that is reached over HTTP. */
function remoteApi(baseUrl: string, headers: Readonly<Record<string, string>>): Api {
  const root = baseUrl.replace(/\/+$/, "");
  return {
    async send({ path, body, signal }) {
      const response = await fetch(root + path, {
        method: body === undefined ? "GET" : "POST",
        headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal,
      }).catch((error: Error) => {
        if (signal.aborted) throw error;
        return unavailable(
          root,
          `cannot be reached: ${(error.cause as Error | undefined)?.message ?? error.message}`,
        );
      });
      if (!(response instanceof Response)) return response;
      const answer = (await response.json().catch((error: Error) => {
        if (signal.aborted) throw error;
      })) as { readonly code?: unknown } | undefined;
      const isOurs = response.ok ? answer !== undefined : typeof answer?.code === "string";
      return isOurs ? { status: response.status, body: answer } : unavailable(root, "is not a dataq service");
    },
  };
}

function unavailable(root: string, reason: string): ApiAnswer {
  const message = `${root} ${reason}.`;
  const body: ErrorBody = {
    type: "/docs/errors/unavailable",
    title: "Unavailable",
    status: 503,
    detail: message,
    instance: "",
    code: "unavailable",
    retryable: true,
    next_action: "Start the service with dataq serve, or set DATAQ_BASE_URL to its address.",
    request_id: "",
    error: { type: "server_error", code: "unavailable", message, param: null, request_id: "", details: [] },
  };
  return { status: 503, body };
}
