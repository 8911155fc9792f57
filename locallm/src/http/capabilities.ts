import type { Model } from "../library/model.ts";
import { modelPurpose } from "../library/model-details.ts";
import { type Capability, capabilities } from "../wire/api/library.ts";
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
  return [
    purpose,
    ...(traits.tools ? (["tools"] as const) : []),
    ...(traits.insert ? (["insert"] as const) : []),
    ...(model.projectorPaths.length > 0 ? (["vision"] as const) : []),
    ...(traits.thinking ? (["thinking"] as const) : []),
  ];
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
