import type { FastifyInstance } from "fastify";
import { transferRequest } from "../../wire/api/library.ts";
import { readBody } from "../body.ts";
import { visibleName } from "../known-model.ts";
import type { Parts } from "../parts.ts";
import { sendProgress } from "./progress.ts";

/** `POST /api/push`: uploads a model to the registry in its name. */
export function pushRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/api/push", async (request, reply) => {
    const body = readBody(request, reply, transferRequest);
    const typed = body.model || body.name;
    const name = visibleName(request, typed);
    await parts.store.require(name, typed);
    const task = parts.pulls.preparePush(name, {
      insecure: body.insecure ?? false,
      credentials:
        body.username === undefined ? null : { username: body.username, password: body.password ?? "" },
    });
    return await sendProgress(request, reply, body.stream, task);
  });
}
