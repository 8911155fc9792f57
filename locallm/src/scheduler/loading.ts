import { type Choice, type Needs, onProcessor } from "../gpu/placement.ts";
import type { LoadedVocabulary, Runner, RunnerStart } from "../runner/handle.ts";
import { type ErrorCode, LocallmError } from "../wire/errors.ts";
import { filesOf, type LoadWish } from "./lease.ts";
import type { SchedulerParts, SchedulerSettings } from "./parts.ts";
import type { Resident } from "./residency.ts";
import { fitSlots } from "./sharing.ts";

/**
 * Starts the runner at the chosen placement. If loading on a GPU fails, retries with less of its memory, then on the
 * CPU, and reports each retry to `onRetry`. Rejects with the engine's error, with `model_load_failed` if the load
 * makes no progress, or with the reason of `resident.abortLoad`.
 */
export async function loadRunner(
  settings: SchedulerSettings,
  parts: SchedulerParts,
  resident: Resident,
  { placed, onRetry, onGrow, chooseWindow }: LoadCalls,
): Promise<Runner> {
  let { needs, choice } = placed;
  let isChosen = chooseWindow === undefined;
  const choose = async (vocabulary: LoadedVocabulary) => {
    ({ needs, choice } = await chooseWindow!(vocabulary));
    isChosen = true;
    const { numCtx, cells } = resident;
    return { numCtx, ...(cells === undefined ? {} : { cells }), placement: choice.placement };
  };
  for (let tries = 1; ; tries++) {
    resident.choice = choice;
    try {
      return await loadOnce(settings, parts, resident, choice, {
        onGrow,
        ...(isChosen ? {} : { chooseWindow: choose }),
      });
    } catch (error) {
      if (choice.smaller === null || !isEngineError(error)) throw error;
      const smaller = tries <= smallerTries ? await choice.smaller() : null;
      const next = smaller ?? onProcessor(needs, "CPU instead of GPU");
      choice = { ...next, why: `${next.why}: ${error.message}` };
      onRetry(choice.why);
    }
  }
}

interface LoadCalls {
  readonly placed: Placed;
  onRetry(why: string): void;
  /** Called when the loaded model needs so many of its spare bytes. Returns how many it may use. */
  onGrow(bytes: number): number;
  /** Called when the vocabulary is loaded. Returns the devices for the window that it chose. */
  readonly chooseWindow?: ((vocabulary: LoadedVocabulary) => Promise<Placed>) | undefined;
}

/** A model's memory needs and the devices chosen for it. */
export interface Placed {
  readonly needs: Needs;
  readonly choice: Choice;
}

/** So many smaller loads are tried on GPUs before the CPU. */
const smallerTries = 2;

const engineErrors: readonly ErrorCode[] = [
  "model_load_failed",
  "runner_died",
  "engine_missing",
  "engine_mismatch",
];

/** Whether other devices could help. False for stalled or aborted loads. */
function isEngineError(error: unknown): error is LocallmError {
  return (
    error instanceof LocallmError && engineErrors.includes(error.code) && !(error instanceof StalledLoad)
  );
}

/**
 * A load that made no progress. It is never retried, because each retry would block the queue for another
 * full timeout.
 */
class StalledLoad extends LocallmError<"model_load_failed"> {}

async function loadOnce(
  settings: SchedulerSettings,
  parts: SchedulerParts,
  resident: Resident,
  { placement, hostBytes }: Choice,
  calls: Pick<RunnerStart, "onGrow" | "chooseWindow">,
): Promise<Runner> {
  const { model, load } = resident;
  const stalled = new AbortController();
  let cancelTimer = () => {};
  const progressed = () => {
    cancelTimer();
    if (Number.isFinite(settings.loadTimeoutMs))
      cancelTimer = parts.clock.after(settings.loadTimeoutMs, () => stalled.abort());
  };
  progressed();
  try {
    parts.conversations?.makeRoom(hostBytes);
    return await parts.startRunner(
      {
        ...filesOf(model),
        adapters: model.adapters,
        numCtx: resident.numCtx,
        slots: settings.slots,
        ...(resident.cells === undefined ? {} : { cells: resident.cells }),
        numBatch: load.numBatch,
        numThread: load.numThread,
        placement,
        useMmap: load.useMmap,
        flashAttention: settings.flashAttention,
        kvCacheType: settings.kvCacheType,
        drafts: settings.drafts,
      },
      {
        env: settings.environment,
        signal: AbortSignal.any([stalled.signal, resident.abortLoad.signal]),
        onProgress: progressed,
        ...calls,
        onLog: (line) => parts.onLog?.(model.name, line),
      },
    );
  } catch (cause) {
    if (!stalled.signal.aborted) throw cause;
    const reason = `no progress for ${settings.loadTimeoutMs / 1000} s`;
    throw new StalledLoad("model_load_failed", { reason }, { cause });
  } finally {
    cancelTimer();
  }
}

/** A model to be loaded. */
export interface Loading {
  readonly resident: Resident;
  /** The other models in memory. */
  readonly others: readonly Resident[];
  /** The host memory that the load can use. */
  loadableBytes(): number;
}

/**
 * Chooses devices for the resident and sets its size. Returns null if one of the `others` must be unloaded first.
 * Throws `model_too_large` if unloading them would not help.
 */
export async function placeResident(
  settings: SchedulerSettings,
  parts: SchedulerParts,
  { resident, others, loadableBytes }: Loading,
): Promise<Placed | null> {
  const { model } = resident;
  const load = { ...resident.load, numCtx: resident.numCtx };
  const fits = (choice: Choice) => choice.hostBytes <= loadableBytes() && !isCrowded(choice, others);
  // A cramped cache is better than none, but not better than a loaded model that nobody uses.
  const fit = await fitSlots(settings, parts, { model, load, fits }, others.length === 0);
  const { choice } = fit;
  resident.place(fit);
  if (fit.fits) return fit;
  const available = loadableBytes();
  // Do not unload others if the model would not fit even then. Count only host memory, because that is what
  // is missing.
  const availableAlone = others.reduce((sum, { takenBytes }) => sum + takenBytes, available);
  if (others.length > 0 && choice.hostBytes <= availableAlone * unloadTolerance) return null;
  throw new LocallmError("model_too_large", {
    needed: gib(choice.hostBytes),
    available: gib(availableAlone),
  });
}

/** Whether another model's GPU memory keeps some of this model's layers off the GPU. */
function isCrowded(choice: Choice, others: readonly Resident[]): boolean {
  return choice.isCut && others.some(({ runner }) => (runner?.info.devices.length ?? 0) > 0);
}

/**
 * Gives a resident that is loading a larger window, and chooses devices for it. Changes nothing if another model would
 * have to leave the GPU first: the request then asks for the larger window once the model is loaded.
 */
export async function widen(
  settings: SchedulerSettings,
  parts: SchedulerParts,
  { resident, others, loadableBytes }: Loading,
  load: LoadWish,
  placed: Placed,
): Promise<Placed> {
  const { model } = resident;
  const fits = (choice: Choice) => choice.hostBytes <= loadableBytes();
  const where: SchedulerParts =
    // The weights are already in the host's memory.
    placed.choice.deviceBytes === 0
      ? { ...parts, place: async (needs) => onProcessor(needs, placed.choice.why) }
      : parts;
  const wish = { ...resident.load, numCtx: load.numCtx };
  const fit = await fitSlots(settings, where, { model, load: wish, fits }, true);
  // Kept states are of one kind of cache, and the runner has been told which.
  if (isCrowded(fit.choice, others) || (fit.cells === undefined) !== (resident.cells === undefined))
    return placed;
  resident.widen(load);
  resident.place(fit);
  parts.conversations?.makeRoom(fit.choice.hostBytes);
  return fit;
}

/**
 * The allowed excess over the memory that unloading frees. A process frees more memory than its model's size,
 * so a model that nearly fits is worth a try.
 */
const unloadTolerance = 1.25;

export function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
