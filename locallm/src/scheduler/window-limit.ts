import { counted } from "../wire/counted.ts";
import { firstWindow } from "../wire/options.ts";
import type { LoadWish, RunnableModel, WindowLimit } from "./lease.ts";
import { gib } from "./loading.ts";
import type { SchedulerParts, SchedulerSettings } from "./parts.ts";
import { fitSlots } from "./sharing.ts";

interface Wanted {
  readonly model: RunnableModel;
  readonly load: LoadWish;
  /** The number of tokens. */
  readonly wanted: number;
  /** The window that the model is loaded with; 0 if it is not loaded. */
  readonly loaded: number;
  /** The memory that the model can use. */
  availableBytes(): number;
}

/**
 * Returns the first step with at least `wanted` tokens, or the largest step below it that fits into memory.
 */
export async function largestWindow(
  settings: SchedulerSettings,
  parts: SchedulerParts,
  { model, load, wanted, loaded, availableBytes }: Wanted,
): Promise<WindowLimit> {
  const steps = windowSteps(model.trainContext);
  const most = steps.at(-1)!;
  let why =
    model.trainContext === null
      ? "the model does not state the window that it was trained with"
      : `the model was trained with a window of ${counted(model.trainContext, "token")}`;
  const enough = steps.find((step) => step >= wanted) ?? most;
  for (const numCtx of steps.filter((step) => step <= enough && step > loaded).reverse()) {
    const available = availableBytes();
    const fits = ({ hostBytes }: { hostBytes: number }) => hostBytes <= available;
    const fit = await fitSlots(settings, parts, { model, load: { ...load, numCtx }, fits }, false);
    if (fit.fits) return { tokens: numCtx, why };
    const { hostBytes } = fit.choice;
    why = `a window of ${numCtx} tokens needs ${gib(hostBytes)} of memory, ${gib(available)} is available`;
  }
  return { tokens: loaded > 0 ? loaded : steps[0]!, why };
}

/**
 * Returns powers of two from the default window on. The last step is the context length that the model was
 * trained with.
 */
function windowSteps(trainContext: number | null): number[] {
  const most = trainContext ?? firstWindow;
  const steps: number[] = [];
  for (let step = firstWindow; step < most; step *= 2) steps.push(step);
  return [...steps, most];
}
