import type { FastifyInstance } from "fastify";
import { modelDetails } from "../../library/details.ts";
import type { Model } from "../../library/model.ts";
import { LocallmError } from "../../wire/errors.ts";
import { displayModelName } from "../../wire/model-name.ts";
import { modelCapabilities } from "../capabilities.ts";
import type { Parts } from "../parts.ts";

/** `GET /api/tags`: every model, newest first. One that is damaged is left out, and the log says so. */
export function tagsRoute(app: FastifyInstance, parts: Parts): void {
  app.get("/api/tags", async (request) => {
    const { models, broken } = await parts.store.list();
    const damaged = broken.map(({ name }) => displayModelName(name));
    const entries = [];
    for (const model of models) {
      try {
        entries.push(await entry(parts, model));
      } catch (error) {
        if (!(error instanceof LocallmError) && (error as NodeJS.ErrnoException).code !== "ENOENT")
          throw error;
        damaged.push(displayModelName(model.name));
      }
    }
    if (damaged.length > 0) request.logFields["damagedModels"] = damaged;
    return { models: entries };
  });
}

async function entry(parts: Parts, model: Model) {
  const name = displayModelName(model.name);
  return {
    name,
    model: name,
    modified_at: model.modifiedAt.toISOString(),
    size: model.sizeBytes,
    digest: model.digest,
    details: await modelDetails(parts.store, model),
    capabilities: await modelCapabilities(parts, model),
  };
}
