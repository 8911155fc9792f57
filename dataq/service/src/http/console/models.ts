import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { Failure } from "@dataq/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { writeAudit } from "../../accounts/audit.ts";
import { leaveSignal } from "../app.ts";
import { authorOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";

/** The requests that the console may send to the model server. */
const passages = { tags: "GET", ps: "GET", pull: "POST", chat: "POST" } as const;

/** Forwards these requests of operators to the model server on this machine, and streams the answers back. */
export function addModelRoutes(
  app: FastifyInstance,
  parts: Pick<HttpParts, "database" | "clock">,
  address: string,
): void {
  for (const [name, method] of Object.entries(passages)) {
    app.route({
      method,
      url: `/console/api/models/${name}`,
      handler: async (request, reply) => {
        if (name === "pull")
          await writeAudit(
            parts.database,
            authorOf(parts, request),
            "model.pull",
            modelIn(request.body),
            null,
            null,
          );
        const answer = await ask(request, leaveSignal(reply), new URL(`/api/${name}`, address), method);
        reply.code(answer.status).header("cache-control", "no-store");
        reply.type(answer.headers.get("content-type") ?? "application/json");
        if (!answer.body) return reply.send();
        return reply.send(Readable.fromWeb(answer.body as ReadableStream<Uint8Array>));
      },
    });
  }
}

/** The name of the model in a body that the model server reads itself. */
function modelIn(body: unknown): string {
  try {
    const { model, name } = JSON.parse(String(body)) as { model?: unknown; name?: unknown };
    return String(model ?? name).slice(0, 200);
  } catch {
    return "unknown";
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
