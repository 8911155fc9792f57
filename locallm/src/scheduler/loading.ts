import { type Choice, type Needs, onProcessor, withFewerLayers } from "../gpu/placement.ts";
import type { Runner } from "../runner/handle.ts";
import { type ErrorCode, LocallmError } from "../wire/errors.ts";
import type { LeaseRequest } from "./lease.ts";
import type { SchedulerParts, SchedulerSettings } from "./parts.ts";
import type { Resident } from "./residency.ts";

/**
 * Starts a resident's process: where it was placed, and when the GPUs fail, once with fewer layers there, then on the
 * processor; `onRetry` says so. Refused with what the engine says of the model, with `model_load_failed` when nothing
 * moves for too long, or with the reason of `resident.abortLoad`.
 */
export async function loadRunner(
  settings: SchedulerSettings,
  parts: SchedulerParts,
  resident: Resident,
  request: LeaseRequest,
  { needs, choice, onRetry }: Placed & { onRetry: (why: string) => void },
): Promise<Runner> {
  const others = choice.deviceBytes === 0 ? [] : retries(choice, needs);
  for (let tried: Choice = choice; ; ) {
    resident.choice = tried;
    try {
      return await loadOnce(settings, parts, resident, request, tried);
    } catch (error) {
      const next = others.shift();
      if (next === undefined || !isOfTheEngine(error)) throw error;
      tried = { ...next, why: `${next.why}: ${error.message}` };
      onRetry(tried.why);
    }
  }
}

/** A model and its memory, and where it is to run. */
export interface Placed {
  readonly needs: Needs;
  readonly choice: Choice;
}

function retries(choice: Choice, needs: Needs): Choice[] {
  const fewer = withFewerLayers(choice, needs);
  const last = onProcessor(needs, "the processor in place of the GPU");
  return fewer === null ? [last] : [fewer, last];
}

const engineErrors: readonly ErrorCode[] = [
  "model_load_failed",
  "runner_died",
  "engine_missing",
  "engine_mismatch",
];

/** Whether another place could help; not where the load was given up or nobody waits any more. */
function isOfTheEngine(error: unknown): error is LocallmError {
  return (
    error instanceof LocallmError && engineErrors.includes(error.code) && !(error instanceof StalledLoad)
  );
}

/** A load that made no progress: trying again would keep everybody waiting as long once more. */
class StalledLoad extends LocallmError<"model_load_failed"> {}

async function loadOnce(
  settings: SchedulerSettings,
  parts: SchedulerParts,
  resident: Resident,
  { model, load }: LeaseRequest,
  { placement }: Choice,
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
 * Finds a place for the resident and sets its size to what it needs. Null: one of the `others` must leave first.
 * Throws `model_too_large` where waiting would not help.
 */
export async function placeResident(
  settings: SchedulerSettings,
  parts: SchedulerParts,
  { resident, request, others }: { resident: Resident; request: LeaseRequest; others: readonly Resident[] },
): Promise<Placed | null> {
  const { slots, kvCacheType, flashAttention } = settings;
  const { numBatch, numGpu, mainGpu } = request.load;
  const wanted = { numCtx: resident.numCtx, numBatch, slots, kvCacheType, flashAttention };
  const needs = await parts.needs(request.model, wanted);
  const choice = await parts.place(needs, { numGpu, mainGpu });
  resident.choice = choice;
  resident.hostBytes = choice.hostBytes;
  resident.sizeBytes = choice.hostBytes + choice.deviceBytes;
  const available = parts.availableBytes();
  // Another model on the GPU leaves this one too few layers there.
  const isCrowded = choice.isCut && others.some(({ runner }) => (runner?.info.devices.length ?? 0) > 0);
  if (choice.hostBytes <= available && !isCrowded) return { needs, choice };
  // Nobody leaves for a model that would not fit without them either. What they hold on a GPU makes no room here.
  const without = others.reduce((sum, { hostBytes }) => sum + hostBytes, available);
  if (others.length > 0 && choice.hostBytes <= without * clearlyMore) return null;
  throw new LocallmError("model_too_large", { needed: gib(choice.hostBytes), available: gib(without) });
}

/** A process gives back more than its model takes, so a model that nearly fits may try. */
const clearlyMore = 1.25;

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
