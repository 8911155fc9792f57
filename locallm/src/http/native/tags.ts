import type { FastifyInstance } from "fastify";
import type { Model } from "../../library/model.ts";
import { modelDetails } from "../../library/model-details.ts";
import { remoteFields } from "../../library/remote.ts";
import type { ModelList } from "../../library/store.ts";
import { LocallmError } from "../../wire/errors.ts";
import { displayModelName } from "../../wire/model-name.ts";
import { listPatience, modelCapabilities } from "../capabilities.ts";
import type { Parts } from "../parts.ts";

/** `GET /api/tags`: all models, newest first. Lists damaged models in `damaged`, a field that Ollama does not have. */
export function tagsRoute(app: FastifyInstance, parts: Parts): void {
  /** The complete answers of lists without damaged models, as JSON. */
  const known = new WeakMap<ModelList, string>();
  app.get("/api/tags", async (request, reply) => {
    const { caller } = request;
    const list = await parts.store.list();
    const json = caller.seesAllModels ? known.get(list) : undefined;
    if (json !== undefined) return reply.type("application/json; charset=utf-8").send(json);
    const { models: stored, broken } = list;
    const models = stored.filter(({ name }) => caller.seesModel(name));
    const damaged = broken
      .filter(({ name }) => caller.seesModel(name))
      .map(({ name, error }) => ({ name: displayModelName(name), error: error.message }));
    const patience = listPatience();
    const all = await Promise.all(
      models.map((model) =>
        entry(parts, model, patience.late).catch((error: unknown) => {
          if (!(error instanceof LocallmError)) throw error;
          damaged.push({ name: displayModelName(model.name), error: error.message });
          return null;
        }),
      ),
    );
    patience.end();
    const entries = all.filter((each) => each !== null);
    if (damaged.length === 0) {
      const answer = { models: entries };
      if (!patience.isOver() && caller.seesAllModels) known.set(list, JSON.stringify(answer));
      return answer;
    }
    request.logFields["damagedModels"] = damaged.map(({ name }) => name);
    return { models: entries, damaged };
  });
}

async function entry(parts: Parts, model: Model, late: Promise<void>) {
  const name = displayModelName(model.name);
  return {
    name,
    model: name,
    modified_at: model.modifiedAt.toISOString(),
    size: model.sizeBytes,
    digest: model.digest,
    ...remoteFields(model),
    details: await modelDetails(parts.store, model),
    capabilities: await modelCapabilities(parts, model, late),
  };
}
