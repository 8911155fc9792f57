import type { FastifyInstance } from "fastify";
import { checkTemplate } from "../../dialogue/dialogue.ts";
import { createModel } from "../../library/create.ts";
import { requestedRemotes } from "../../library/remote.ts";
import { createRequest } from "../../wire/api/library.ts";
import { requireModelName } from "../../wire/model-name.ts";
import { readBody } from "../body.ts";
import { requireAllModels, requireWritableName, visibleName } from "../known-model.ts";
import type { Parts } from "../parts.ts";
import { sendProgress } from "./progress.ts";

/** `POST /api/create`: creates a model from another model or from uploaded blobs. */
export function createRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/api/create", async (request, reply) => {
    const body = readBody(request, reply, createRequest);
    const name = requireModelName(body.model || body.name);
    requireWritableName(request, name);
    if (requestedRemotes(body) !== null) requireAllModels(request.caller);
    else if (body.from) visibleName(request, body.from);
    return await sendProgress(request, reply, body.stream, async (onProgress, signal) => {
      await createModel(name, body, {
        store: parts.store,
        checkTemplate: (text) => checkTemplate(text, parts.templates),
        requireRemote: (url) => parts.remoteHosts.require(url),
        onStatus: (status) => onProgress({ status }),
        quantizing: { quantizer: parts.quantizer, availableBytes: parts.availableBytes, signal, onProgress },
      });
    });
  });
}
