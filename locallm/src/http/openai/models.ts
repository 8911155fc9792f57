import type { FastifyInstance } from "fastify";
import type { Model } from "../../library/model.ts";
import { LocallmError } from "../../wire/errors.ts";
import { displayModelName } from "../../wire/model-name.ts";
import { modelInfo, modelPage } from "../anthropic/models.ts";
import { listPatience, modelCapabilities } from "../capabilities.ts";
import { speaksAnthropic } from "../error-reply.ts";
import { requireModel } from "../known-model.ts";
import type { Parts } from "../parts.ts";

/** `GET /v1/models` and `/v1/models/{id}`, in the client's format; an id may contain slashes. */
export function modelRoutes(app: FastifyInstance, parts: Parts): void {
  app.get("/v1/models", async (request) => {
    const models = (await parts.store.list()).models.filter(({ name }) => request.caller.seesModel(name));
    if (speaksAnthropic(request.headers)) return modelPage(models, request.query);
    const patience = listPatience();
    const data = await Promise.all(models.map((model) => modelObject(parts, model, patience.late)));
    patience.end();
    return { object: "list", data };
  });

  app.get<{ Params: { "*": string } }>("/v1/models/*", async (request) => {
    const id = request.params["*"];
    const model = await requireModel(parts, request, id);
    return speaksAnthropic(request.headers) ? modelInfo(model) : await modelObject(parts, model);
  });
}

/** `capabilities` is an extension of locallm, as in `/api/show`. A model whose weights cannot be read has none. */
async function modelObject(parts: Parts, model: Model, late?: Promise<void>) {
  const capabilities = await modelCapabilities(parts, model, late).catch((error: unknown) => {
    if (error instanceof LocallmError) return [];
    throw error;
  });
  return {
    id: displayModelName(model.name),
    object: "model",
    created: Math.floor(model.modifiedAt.getTime() / 1000),
    owned_by: model.name.namespace,
    capabilities,
  };
}
