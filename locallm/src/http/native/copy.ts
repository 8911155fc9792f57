import type { FastifyInstance } from "fastify";
import { copyRequest } from "../../wire/api/library.ts";
import { LocallmError } from "../../wire/errors.ts";
import { parseModelName } from "../../wire/model-name.ts";
import { readBody } from "../body.ts";
import { requireWritableName, visibleName } from "../known-model.ts";
import type { Parts } from "../parts.ts";

/** `POST /api/copy`: adds a name for the same files. Answers 200 with an empty body. */
export function copyRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/api/copy", async (request, reply) => {
    const body = readBody(request, reply, copyRequest);
    const source = visibleName(request, body.source);
    const destination = parseModelName(body.destination);
    if (destination === null) {
      throw new LocallmError("invalid_destination", { destination: body.destination.slice(0, 200) });
    }
    requireWritableName(request, destination);
    await parts.store.copy(source, destination, body.source);
    return reply.code(200).send();
  });
}
