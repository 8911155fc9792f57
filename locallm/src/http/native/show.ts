import type { FastifyInstance } from "fastify";
import { showModel } from "../../library/show.ts";
import { showRequest } from "../../wire/api/library.ts";
import { requireModelName } from "../../wire/model-name.ts";
import { readBody } from "../body.ts";
import { modelCapabilities } from "../capabilities.ts";
import type { Parts } from "../parts.ts";

/** `POST /api/show`: everything that is known of a model. */
export function showRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/api/show", async (request, reply) => {
    const body = readBody(request, reply, showRequest);
    const typed = body.model || body.name;
    const model = await parts.store.require(requireModelName(typed), typed);
    return await showModel(parts.store, model, {
      verbose: body.verbose ?? false,
      capabilities: await modelCapabilities(parts, model),
      ...(body.system === undefined ? {} : { system: body.system }),
    });
  });
}
