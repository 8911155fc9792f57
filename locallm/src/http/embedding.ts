import { LocallmError } from "../wire/errors.ts";

/** Rejects more texts than fit into an answer. V8's strings limit the JSON to half a GB. */
export function checkCount(texts: number, embeddingLength: number): void {
  const most = Math.floor(mostNumbers / Math.max(1, embeddingLength));
  if (texts <= most) return;
  throw new LocallmError("invalid_field", {
    field: "input",
    problem: `must have at most ${most} texts for this model; send the rest in further requests`,
  });
}

const mostNumbers = 2 ** 24;

/** The first `dimensions` numbers; all of them if it is missing or larger than the vector. */
export function shorten(vector: Float32Array, dimensions: number | undefined): Float32Array {
  return dimensions === undefined ? vector : vector.subarray(0, dimensions);
}

/** Scales to length 1. Leaves a zero vector unchanged. */
export function normalise(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const scale = sum > 0 ? 1 / Math.sqrt(sum) : 0;
  return vector.map((value) => value * scale);
}
