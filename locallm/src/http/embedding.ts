/** The first `dimensions` numbers; all of them where it is not given or larger. */
export function shorten(vector: Float32Array, dimensions: number | undefined): Float32Array {
  return dimensions === undefined ? vector : vector.subarray(0, dimensions);
}

/** Length 1; a zero vector stays as it is. */
export function normalise(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const scale = sum > 0 ? 1 / Math.sqrt(sum) : 0;
  return vector.map((value) => value * scale);
}
