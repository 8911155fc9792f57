import { createRequire } from "node:module";
import type { ErrorBody } from "@dataq/contract";
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from "@modelcontextprotocol/server";
import type { Api } from "./api.ts";
import { pathOf, resources, resourceTemplates } from "./resources.ts";
import { resultOf } from "./result.ts";
import { isTool, type OfferedOperation, requestOf, toolsFor } from "./tools.ts";

const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };

const instructions = `Answers about Chinese law, companies, content, parcels and research. Every record names its source in \`source\`; a record whose \`source.kind\` is \`sample\` is generated and not a fact.
Calls cost tokens; failed calls are free. \`estimate\` tells the price beforehand, \`max_tokens\` rejects a call that would cost more, and every answer tells its cost and the balance. Ask in Chinese, in the words of the source.
An error has a code, \`next_action\`, and \`retryable\`. Retry only if it is retryable, after \`retry_after\` seconds.`;

/** Interval of progress notifications while a call runs. */
const PROGRESS_EVERY_MS = 2_000;

/** How long clients may keep the lists. They change with an import or a price. */
const cache = { ttlMs: 60_000, cacheScope: "private" } as const;

/** An MCP server whose tools and resources are requests to the API. */
export function mcpServer(api: Api): Server {
  const server = new Server(
    { name: "dataq", title: "dataq", version },
    {
      capabilities: { tools: {}, resources: {} },
      instructions,
      cacheHints: {
        "tools/list": cache,
        "resources/list": cache,
        "resources/templates/list": cache,
        "resources/read": cache,
        "server/discover": cache,
      },
    },
  );

  server.setRequestHandler("tools/list", async (_request, { mcpReq: { signal } }) => {
    const offered = await read(api, "/v1/catalog?format=openai-tools", signal);
    return { tools: toolsFor(offered as OfferedOperation[]) };
  });

  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const { name, arguments: given = {} } = params;
    if (!isTool(name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 100)}`);
    const token = mcpReq._meta?.progressToken;
    const progress = async (step: number) => {
      if (token === undefined) return;
      const message = step === 0 ? `Calling ${name}` : `Waiting for the answer of ${name}`;
      await mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken: token, progress: step, message },
      });
    };
    await progress(0);
    let step = 0;
    // A lost notification must not end the call.
    const timer = setInterval(() => void progress(++step).catch(() => {}), PROGRESS_EVERY_MS);
    try {
      return resultOf(name, await api.send({ ...requestOf(name, given), signal: mcpReq.signal }));
    } finally {
      clearInterval(timer);
    }
  });

  server.setRequestHandler("resources/list", () => ({ resources: [...resources] }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...resourceTemplates] }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }, { mcpReq: { signal } }) => {
    const path = pathOf(uri);
    if (path === undefined) throw new ResourceNotFoundError(uri);
    const text = JSON.stringify(await read(api, path, signal));
    return { contents: [{ uri, mimeType: "application/json", text }] };
  });
  return server;
}

/** The body of a public route. An error status becomes an error of the protocol. */
async function read(api: Api, path: string, signal: AbortSignal): Promise<unknown> {
  const { status, body } = await api.send({ path, signal });
  if (status < 400) return body;
  const { code, detail, next_action } = body as ErrorBody;
  throw new ProtocolError(ProtocolErrorCode.InternalError, `${detail} ${next_action}`, { code, next_action });
}
