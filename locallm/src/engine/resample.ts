/** How many zeros of the sinc function a filter reaches on each side. */
const reachedZeros = 16;

/**
 * Returns sound at another rate: each sample is a sum of those around it, weighted by a windowed sinc that lets no
 * frequency through that the lower of the two rates cannot hold. Rates are whole numbers of samples a second.
 */
export function resampled(samples: Float32Array, from: number, to: number): Float32Array {
  if (from === to) return samples;
  const divisor = greatestDivisor(from, to);
  const [up, down] = [to / divisor, from / divisor];
  const cutoff = Math.min(1, to / from);
  const reach = Math.ceil(reachedZeros / cutoff);
  // The place between two samples repeats, and so does the filter for it.
  const filters: Float32Array[] = [];
  const result = new Float32Array(Math.ceil((samples.length * to) / from));
  for (let index = 0; index < result.length; index++) {
    const phase = (index * down) % up;
    filters[phase] ??= filterAt(phase / up, cutoff, reach);
    const filter = filters[phase];
    const first = (index * down - phase) / up - reach + 1;
    const last = Math.min(filter.length, samples.length - first);
    let sum = 0;
    for (let tap = Math.max(0, -first); tap < last; tap++) sum += filter[tap]! * samples[first + tap]!;
    result[index] = sum;
  }
  return result;
}

/** The weights of the `2 * reach` samples around a place that lies `offset` after the sample in their middle. */
function filterAt(offset: number, cutoff: number, reach: number): Float32Array {
  const weights = Float32Array.from({ length: 2 * reach }, (_, tap) => {
    const distance = tap - reach + 1 - offset;
    const x = Math.PI * cutoff * distance;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / reach);
    return Math.abs(distance) >= reach ? 0 : (x === 0 ? 1 : Math.sin(x) / x) * window;
  });
  // A constant stays what it is.
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return weights.map((weight) => weight / sum);
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
