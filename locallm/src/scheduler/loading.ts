import { type Choice, type Needs, onProcessor, withFewerLayers } from "../gpu/placement.ts";
import type { LoadedVocabulary, Runner } from "../runner/handle.ts";
import { type ErrorCode, LocallmError } from "../wire/errors.ts";
import type { LeaseRequest } from "./lease.ts";
import type { SchedulerParts, SchedulerSettings } from "./parts.ts";
import type { Resident } from "./residency.ts";

/**
 * Starts the runner at the chosen placement. If loading on a GPU fails, retries with fewer GPU layers, then on the
 * CPU, and reports each retry to `onRetry`. Rejects with the engine's error, with `model_load_failed` if the load
 * makes no progress, or with the reason of `resident.abortLoad`.
 */
export async function loadRunner(
  settings: SchedulerSettings,
  parts: SchedulerParts,
  resident: Resident,
  request: LeaseRequest,
  { needs, choice, onRetry, chooseWindow }: Placed & LoadCalls,
): Promise<Runner> {
  const fallbacks = choice.deviceBytes === 0 ? [] : fallbackChoices(choice, needs);
  for (let tried: Choice = choice; ; ) {
    resident.choice = tried;
    try {
      // Layers are divided between GPUs before the load, for the window that is known then.
      const choose = tried.deviceBytes === 0 ? chooseWindow : undefined;
      return await loadOnce(settings, parts, resident, request, { ...tried, choose });
    } catch (error) {
      const next = fallbacks.shift();
      if (next === undefined || !isEngineError(error)) throw error;
      tried = { ...next, why: `${next.why}: ${error.message}` };
      onRetry(tried.why);
    }
  }
}

interface LoadCalls {
  onRetry(why: string): void;
  /** Called when the vocabulary is loaded, and the model is on the CPU only. */
  readonly chooseWindow?: ChooseWindow | undefined;
}

type ChooseWindow = (vocabulary: LoadedVocabulary) => Promise<number>;

/** A model's memory needs and the devices chosen for it. */
export interface Placed {
  readonly needs: Needs;
  readonly choice: Choice;
}

function fallbackChoices(choice: Choice, needs: Needs): Choice[] {
  const fewer = withFewerLayers(choice, needs);
  const last = onProcessor(needs, "CPU instead of GPU");
  return fewer === null ? [last] : [fewer, last];
}

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
  { model, load }: LeaseRequest,
  { placement, hostBytes, choose }: Choice & { readonly choose?: ChooseWindow | undefined },
): Promise<Runner> {
  const stalled = new AbortController();
  let cancelTimer = () => {};
  const progressed = () => {
    cancelTimer();
    if (Number.isFinite(settings.loadTimeoutMs))
      cancelTimer = parts.clock.after(settings.loadTimeoutMs, () => stalled.abort());
  };
  progressed();
  try {
    parts.makeRoom?.(hostBytes);
    return await parts.startRunner(
      {
        modelPath: model.modelPath,
        ...(model.furtherPaths === undefined ? {} : { furtherPaths: model.furtherPaths }),
        adapters: model.adapters,
        numCtx: resident.numCtx,
        slots: settings.slots,
        numBatch: load.numBatch,
        numThread: load.numThread,
        placement,
        useMmap: load.useMmap,
        flashAttention: settings.flashAttention,
        kvCacheType: settings.kvCacheType,
      },
      {
        env: settings.environment,
        signal: AbortSignal.any([stalled.signal, resident.abortLoad.signal]),
        onProgress: progressed,
        ...(choose === undefined ? {} : { chooseWindow: choose }),
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

/**
 * Chooses devices for the resident and sets its size. Returns null if one of the `others` must be unloaded first.
 * Throws `model_too_large` if unloading them would not help.
 */
export async function placeResident(
  settings: SchedulerSettings,
  parts: SchedulerParts,
  { resident, request, others }: { resident: Resident; request: LeaseRequest; others: readonly Resident[] },
): Promise<Placed | null> {
  const { numGpu, mainGpu } = request.load;
  const needs = await needsOf(settings, parts, resident);
  const choice = await parts.place(needs, { numGpu, mainGpu });
  resident.place(choice);
  const available = parts.availableBytes();
  // Another model's GPU memory keeps some of this model's layers off the GPU.
  const isCrowded = choice.isCut && others.some(({ runner }) => (runner?.info.devices.length ?? 0) > 0);
  if (choice.hostBytes <= available && !isCrowded) return { needs, choice };
  // Do not unload others if the model would not fit even then. Count only host memory, because that is what
  // is missing.
  const availableAlone = others.reduce((sum, { hostBytes }) => sum + hostBytes, available);
  if (others.length > 0 && choice.hostBytes <= availableAlone * unloadTolerance) return null;
  throw new LocallmError("model_too_large", {
    needed: gib(choice.hostBytes),
    available: gib(availableAlone),
  });
}

/** Sets the size of a resident on the CPU to that of its new window, and makes room for it. */
export async function resize(
  settings: SchedulerSettings,
  parts: SchedulerParts,
  resident: Resident,
): Promise<void> {
  const needs = await needsOf(settings, parts, resident);
  const choice = onProcessor(needs, resident.choice?.why ?? "");
  resident.place(choice);
  parts.makeRoom?.(choice.hostBytes);
}

function needsOf(
  { slots, kvCacheType, flashAttention }: SchedulerSettings,
  parts: SchedulerParts,
  { model, numCtx, load: { numBatch } }: Resident,
): Promise<Needs> {
  return parts.needs(model, { numCtx, numBatch, slots, kvCacheType, flashAttention });
}

/**
 * The allowed excess over the memory that unloading frees. A process frees more memory than its model's size,
 * so a model that nearly fits is worth a try.
 */
const unloadTolerance = 1.25;

export function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
