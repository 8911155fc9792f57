import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { Failure } from "@dataq/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type HttpParts, leaveSignal } from "../app.ts";
import { admitOperator } from "./session.ts";

/** What of the model server's interface the console may reach, and how. */
const passages = { tags: "GET", ps: "GET", pull: "POST", chat: "POST" } as const;

/** The model server next door, for operators: these four requests are passed on, answers stream back as they come. */
export function addModelRoutes(app: FastifyInstance, parts: HttpParts, address: string): void {
  for (const [name, method] of Object.entries(passages)) {
    app.route({
      method,
      url: `/console/api/models/${name}`,
      handler: async (request, reply) => {
        await admitOperator(parts, request);
        const answer = await ask(request, leaveSignal(reply), new URL(`/api/${name}`, address), method);
        reply.code(answer.status).header("cache-control", "no-store");
        reply.type(answer.headers.get("content-type") ?? "application/json");
        if (!answer.body) return reply.send();
        return reply.send(Readable.fromWeb(answer.body as ReadableStream<Uint8Array>));
      },
    });
  }
}

async function ask(
  request: FastifyRequest,
  signal: AbortSignal,
  url: URL,
  method: string,
): Promise<Response> {
  const body = request.body as Buffer | undefined;
  try {
    return await fetch(url, {
      method,
      redirect: "error",
      signal,
      ...(method === "POST" && {
        headers: { "content-type": "application/json" },
        body: new Uint8Array(body ?? []),
      }),
    });
  } catch (error) {
    throw new Failure("unavailable", { retry_after: 5 }, error);
  }
}
