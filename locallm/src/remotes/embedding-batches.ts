import { counted } from "../wire/counted.ts";
import { LocallmError } from "../wire/errors.ts";
import type { Embeddings } from "../wire/inference/embed.ts";
import type { RemoteCall, Upstream } from "./engine.ts";
import { hostOf } from "./failure.ts";

/** With this many vectors of 8,192 numbers, an answer can still be parsed without pausing the server. */
const batchSize = 16;
const batchesAtOnce = 4;
const maxBatchBytes = 8 * 1024 * 1024;

interface Batch {
  /** Null for a vector that is not a list of finite numbers. */
  readonly vectors: readonly (Float32Array | null)[];
  readonly tokens: number | null;
}

/**
 * Embeds inputs in batches. Engines count the tokens of a whole request: the first input of each batch gets
 * the whole count, and the others get 0.
 */
export async function inBatches(
  upstream: Upstream,
  inputs: readonly string[],
  call: RemoteCall,
  send: (batch: readonly string[], limitBytes: number, call: RemoteCall) => Promise<Batch>,
): Promise<Embeddings> {
  const starts = Array.from(
    { length: Math.ceil(inputs.length / batchSize) },
    (_, index) => index * batchSize,
  );
  const vectors: Float32Array[] = new Array(inputs.length);
  const tokens: number[] = new Array(inputs.length).fill(0);
  const stop = new AbortController();
  const stoppable = { ...call, signal: AbortSignal.any([call.signal, stop.signal]) };
  const work = async () => {
    for (let start = starts.shift(); start !== undefined; start = starts.shift()) {
      const batch = inputs.slice(start, start + batchSize);
      const answer = await send(batch, maxBatchBytes, stoppable);
      const found = answer.vectors.filter((vector) => vector !== null);
      if (found.length !== batch.length) {
        const reason = `it sent ${counted(found.length, "vector")} for ${counted(batch.length, "input")}`;
        throw new LocallmError("remote_failed", { host: hostOf(upstream), reason });
      }
      found.forEach((vector, at) => {
        vectors[start + at] = vector;
      });
      const bytes = batch.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      tokens[start] = answer.tokens ?? Math.ceil(bytes / 4);
    }
  };
  const workers = Array.from({ length: batchesAtOnce }, work);
  try {
    await Promise.all(workers);
  } catch (error) {
    // The request may go to another replica now, so this one must not go on computing.
    stop.abort();
    await Promise.allSettled(workers);
    throw error;
  } finally {
    // Node keeps a signal that follows others, with what waited for it, until it is aborted.
    stop.abort();
  }
  return { vectors, tokens };
}

/** Null if the value is not a list of finite numbers, or is empty. */
export function vectorOf(value: unknown): Float32Array | null {
  const isVector =
    Array.isArray(value) && value.length > 0 && value.every((each) => Number.isFinite(each as number));
  return isVector ? Float32Array.from(value as number[]) : null;
}
