import type { Model } from "../library/model.ts";
import { modelPurpose } from "../library/model-details.ts";
import type { Parts } from "./parts.ts";

export type Capability = "completion" | "tools" | "insert" | "vision" | "embedding" | "thinking";

/**
 * Returns the model's capabilities: the purpose of its weights and what its template supports. Omits the
 * template's part if it is not known when `late` resolves.
 */
export async function modelCapabilities(
  parts: Parts,
  model: Model,
  late?: Promise<void>,
): Promise<Capability[]> {
  const purpose = await modelPurpose(parts.store, model);
  if (purpose === "embedding") return [purpose];
  const traits = await parts.dialogues.traits(model, late);
  return [
    purpose,
    ...(traits.tools ? (["tools"] as const) : []),
    ...(traits.insert ? (["insert"] as const) : []),
    ...(model.projectorPaths.length > 0 ? (["vision"] as const) : []),
    ...(traits.thinking ? (["thinking"] as const) : []),
  ];
}
