import type { FastifyRequest } from "fastify";
import type { Caller } from "../keys/keys.ts";
import type { Model } from "../library/model.ts";
import { LocallmError } from "../wire/errors.ts";
import { displayModelName, type ModelName, requireModelName } from "../wire/model-name.ts";
import type { Parts } from "./parts.ts";

/** The name of a model that the caller may use. A model that the caller does not see is not found, like a missing one. */
export function visibleName({ caller }: FastifyRequest, typed: string | undefined): ModelName {
  const name = requireModelName(typed);
  if (!caller.seesModel(name)) throw new LocallmError("model_not_found", { model: typed ?? "" });
  return name;
}

/** The stored model that the caller asks for. */
export async function requireModel(
  parts: Parts,
  request: FastifyRequest,
  typed: string | undefined,
): Promise<Model> {
  return await parts.store.require(visibleName(request, typed), typed);
}

/** Throws unless the caller may give a model this name, whether or not it already exists. */
export function requireWritableName({ caller }: FastifyRequest, name: ModelName): void {
  if (!caller.seesModel(name))
    throw new LocallmError("key_model_forbidden", { model: displayModelName(name) });
}

/**
 * Throws unless the caller may use all models. Engines and their keys are shared by models: with a model of its own
 * for any of them, a limited key could use what it must not.
 */
export function requireAllModels(caller: Caller): void {
  if (!caller.seesAllModels) throw new LocallmError("key_limited_to_models", {});
}
