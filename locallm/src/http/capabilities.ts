import { modelPurpose } from "../library/details.ts";
import type { Model } from "../library/model.ts";
import type { Parts } from "./parts.ts";

export type Capability = "completion" | "tools" | "insert" | "vision" | "embedding" | "thinking";

/**
 * What the model can do: what its weights are made for, and what its template can say. Where that is not known before
 * `late`, it is left out.
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
