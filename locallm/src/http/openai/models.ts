import type { FastifyInstance } from "fastify";
import type { Model } from "../../library/model.ts";
import { displayModelName } from "../../wire/model-name.ts";
import { modelInfo, modelPage } from "../anthropic/models.ts";
import { speaksAnthropic } from "../error-reply.ts";
import { requireModel } from "../known-model.ts";
import type { Parts } from "../parts.ts";

/** `GET /v1/models` and `/v1/models/{id}`, in the client's format; an id may contain slashes. */
export function modelRoutes(app: FastifyInstance, parts: Parts): void {
  app.get("/v1/models", async (request) => {
    const models = (await parts.store.list()).models.filter(({ name }) => request.caller.seesModel(name));
    if (speaksAnthropic(request.headers)) return modelPage(models, request.query);
    return { object: "list", data: models.map(modelObject) };
  });

  app.get<{ Params: { "*": string } }>("/v1/models/*", async (request) => {
    const id = request.params["*"];
    const model = await requireModel(parts, request, id);
    return speaksAnthropic(request.headers) ? modelInfo(model) : modelObject(model);
  });
}

function modelObject(model: Model) {
  return {
    id: displayModelName(model.name),
    object: "model",
    created: Math.floor(model.modifiedAt.getTime() / 1000),
    owned_by: model.name.namespace,
  };
}
