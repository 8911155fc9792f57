import type { FastifyInstance } from "fastify";
import type { Model } from "../../library/model.ts";
import { displayModelName, requireModelName } from "../../wire/model-name.ts";
import type { Parts } from "../parts.ts";

/** `GET /v1/models` and `/v1/models/{id}`; an id may contain slashes. */
export function modelRoutes(app: FastifyInstance, parts: Parts): void {
  app.get("/v1/models", async () => {
    const { models } = await parts.store.list();
    return { object: "list", data: models.map(modelObject) };
  });

  app.get<{ Params: { "*": string } }>("/v1/models/*", async (request) => {
    const id = request.params["*"];
    return modelObject(await parts.store.require(requireModelName(id), id));
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
