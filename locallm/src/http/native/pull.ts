import type { FastifyInstance } from "fastify";
import { parseReference } from "../../sources/reference.ts";
import { transferRequest } from "../../wire/api/library.ts";
import { LocallmError } from "../../wire/errors.ts";
import { readBody } from "../body.ts";
import { requireAllModels, requireWritableName } from "../known-model.ts";
import type { Parts } from "../parts.ts";
import { sendProgress } from "./progress.ts";

/** `POST /api/pull`: downloads a model from a registry or another source, and reports progress. */
export function pullRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/api/pull", async (request, reply) => {
    const body = readBody(request, reply, transferRequest);
    const reference = body.model || body.name;
    if (reference === undefined || reference === "") throw new LocallmError("model_required", {});
    requireWritableName(request, parseReference(reference).name);
    const task = parts.pulls.prepare(reference, {
      insecure: body.insecure ?? false,
      onRemote: () => requireAllModels(request.caller),
      credentials:
        body.username === undefined ? null : { username: body.username, password: body.password ?? "" },
    });
    return await sendProgress(request, reply, body.stream, task);
  });
}
