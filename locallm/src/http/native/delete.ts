import type { FastifyInstance } from "fastify";
import { deleteRequest } from "../../wire/api/library.ts";
import { LocallmError } from "../../wire/errors.ts";
import { readBody } from "../body.ts";
import { visibleName } from "../known-model.ts";
import type { Parts } from "../parts.ts";

/**
 * `DELETE /api/delete`: removes the name first, so that no new request finds the model; lets running requests finish;
 * then deletes the files that no other model uses.
 */
export function deleteRoute(app: FastifyInstance, parts: Parts): void {
  app.delete("/api/delete", async (request, reply) => {
    const body = readBody(request, reply, deleteRequest);
    const typed = body.model || body.name;
    const removed = await parts.store.remove(visibleName(request, typed));
    if (removed === null) throw new LocallmError("model_not_found", { model: typed ?? "" });
    const unused = new Set(removed.unusedPaths);
    await parts.scheduler.unload(
      ({ modelPath, furtherPaths = [], adapters, draftPath }) =>
        [modelPath, ...furtherPaths, ...adapters.map(({ path }) => path), draftPath ?? []]
          .flat()
          .some((path) => unused.has(path)),
      "deleted",
    );
    await removed.freeBlobs();
    return reply.code(200).send();
  });
}
