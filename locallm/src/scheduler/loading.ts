import type { Runner } from "../runner/handle.ts";
import { LocallmError } from "../wire/errors.ts";
import type { LeaseRequest } from "./lease.ts";
import type { SchedulerParts, SchedulerSettings } from "./parts.ts";
import type { Resident } from "./residency.ts";

/**
 * Starts a resident's process. Refused with what the engine says of the model, with `model_load_failed` when
 * nothing moves for too long, or with the reason of `resident.abortLoad`.
 */
export async function loadRunner(
  settings: SchedulerSettings,
  parts: SchedulerParts,
  resident: Resident,
  { model, load }: LeaseRequest,
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
        ...load,
        modelPath: model.modelPath,
        ...(model.furtherPaths === undefined ? {} : { furtherPaths: model.furtherPaths }),
        adapters: model.adapters,
        numCtx: resident.numCtx,
        slots: settings.slots,
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
    throw new LocallmError("model_load_failed", { reason }, { cause });
  } finally {
    cancelTimer();
  }
}

/**
 * Sets the resident's size to the estimate. False: one of the `others` must leave first. Throws
 * `model_too_large` where there are none, so that waiting would not help.
 */
export async function fitsInMemory(
  settings: SchedulerSettings,
  parts: SchedulerParts,
  { resident, request, others }: { resident: Resident; request: LeaseRequest; others: number },
): Promise<boolean> {
  const { slots, kvCacheType, flashAttention } = settings;
  const { numBatch } = request.load;
  const wanted = { numCtx: resident.numCtx, numBatch, slots, kvCacheType, flashAttention };
  const needed = await parts.estimate(request.model, wanted);
  resident.sizeBytes = needed;
  const available = parts.availableBytes();
  if (needed <= available) return true;
  if (others > 0) return false;
  throw new LocallmError("model_too_large", { needed: gib(needed), available: gib(available) });
}

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
