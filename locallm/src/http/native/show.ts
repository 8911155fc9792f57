import type { FastifyInstance } from "fastify";
import type { Model } from "../../library/model.ts";
import { showModel } from "../../library/show.ts";
import { showRequest } from "../../wire/api/library.ts";
import { displayModelName } from "../../wire/model-name.ts";
import { readBody } from "../body.ts";
import { modelCapabilities } from "../capabilities.ts";
import { requireModel } from "../known-model.ts";
import type { Parts } from "../parts.ts";
import { deviceText } from "./ps.ts";

/** `POST /api/show`: all information about a model. */
export function showRoute(app: FastifyInstance, parts: Parts): void {
  app.post("/api/show", async (request, reply) => {
    const body = readBody(request, reply, showRequest);
    const typed = body.model || body.name;
    const model = await requireModel(parts, request, typed);
    const shown = await showModel(parts.store, model, {
      verbose: body.verbose ?? false,
      capabilities: await modelCapabilities(parts, model),
      ...(body.system === undefined ? {} : { system: body.system }),
    });
    return { ...shown, ...whereLoaded(parts, model) };
  });
}

/** While the model is loaded: its device and the reason. Ollama has no such field. */
function whereLoaded(parts: Parts, model: Model) {
  const name = displayModelName(model.name);
  const resident = parts.scheduler
    .view()
    .residents.find(({ model: loaded, state }) => loaded.name === name && state === "ready");
  if (resident === undefined) return {};
  return {
    loaded: {
      device: deviceText(resident),
      size: resident.sizeBytes,
      size_vram: resident.devices.reduce((sum, { bytes }) => sum + bytes, 0),
      why: resident.whyThere,
    },
  };
}
