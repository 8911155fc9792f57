import { modelPurpose, type Purpose, sensesOf } from "../library/abilities.ts";
import type { Model } from "../library/model.ts";
import { type Capability, capabilities } from "../wire/api/library.ts";
import { LocallmError } from "../wire/errors.ts";
import type { Parts } from "./parts.ts";

/**
 * Returns the model's capabilities: the purpose of its weights and what its template supports. Omits the
 * template's part if it is not known when `late` resolves.
 */
export async function modelCapabilities(
  parts: Parts,
  model: Model,
  late?: Promise<void>,
): Promise<Capability[]> {
  if (model.remotes !== null) return remoteCapabilities(model);
  const purpose = await modelPurpose(parts.store, model);
  if (purpose === null) return [];
  if (purpose !== "completion") return [purpose];
  const traits = await parts.dialogues.traits(model, late);
  const senses = await sensesOf(parts.store, model);
  return [
    purpose,
    ...(traits.tools ? (["tools"] as const) : []),
    ...(traits.insert ? (["insert"] as const) : []),
    ...(senses?.sees === true ? (["vision"] as const) : []),
    ...(senses?.hears === true ? (["audio"] as const) : []),
    ...(traits.thinking ? (["thinking"] as const) : []),
  ];
}

/**
 * How long a list waits for templates. Models whose template is not read by then appear with their capabilities in later
 * lists.
 */
export function listPatience() {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    resolve();
  }, longestMs);
  return { late, isOver: () => isOver, end: () => clearTimeout(timer) };
}

const longestMs = 500;

/** Rejects a model that is not made for what is asked, before it is loaded. `typed` is its name in the request. */
export async function requireMadeFor(
  parts: Parts,
  model: Model,
  { madeFor, asked }: { readonly madeFor: Purpose; readonly asked: string },
  typed: string,
): Promise<void> {
  const isMadeForIt =
    model.remotes === null
      ? (await modelPurpose(parts.store, model)) === madeFor
      : remoteCapability(model, madeFor);
  if (isMadeForIt) return;
  if (madeFor === "rerank") throw new LocallmError("not_for_reranking", { model: typed });
  if (madeFor === "embedding") throw new LocallmError("not_for_embedding", { model: typed });
  throw new LocallmError("unsupported_capability", { model: typed, capability: asked });
}

/** Whether the Modelfile of a remote model allows a capability. Without a list it allows all: the engine decides. */
export function remoteCapability({ config }: Model, capability: Capability): boolean {
  const { capabilities: said } = config;
  return !said || said.length === 0 || said.includes(capability);
}

/** What the Modelfile says; otherwise what most engines can do. */
function remoteCapabilities({ config }: Model): Capability[] {
  const said = capabilities.filter((each) => config.capabilities?.includes(each));
  return said.length > 0 ? said : ["completion", "tools"];
}
