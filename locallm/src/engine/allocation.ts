/**
 * Adds up what the engine allocates for a context, and on which device. The C interface has no call for that; the log
 * has lines such as `llama_kv_cache: size = 45.00 MiB (…)` and `Vulkan0 compute buffer size = 102.51 MiB`.
 */
export class Allocation {
  contextBytes = 0;
  computeBytes = 0;
  /** The vocabulary's longest token in bytes, which the C interface does not report either. */
  longestToken: number | null = null;
  readonly #byDevice = new Map<string, number>();

  hear(line: string): void {
    // A dry load allocates no cache, so only this line has its size.
    const [, cache] = /^llama_\w+: size = +([\d.]+) MiB \(/.exec(line) ?? [];
    this.contextBytes += bytesOf(cache);
    const [, device = "", kind, mebibytes] = /(\S+) +(\w+) buffer size = +([\d.]+) MiB/.exec(line) ?? [];
    const bytes = bytesOf(mebibytes);
    if (kind === "compute" || kind === "output") this.computeBytes += bytes;
    const longest = /max token length += (\d+)/.exec(line)?.[1];
    if (longest !== undefined) this.longestToken = Number(longest);
    if (kind !== undefined) this.#byDevice.set(device, (this.#byDevice.get(device) ?? 0) + bytes);
  }

  /** Includes weights. Host memory that a device only reads is logged under another name. */
  onDevice(name: string): number {
    return this.#byDevice.get(name) ?? 0;
  }
}

function bytesOf(mebibytes: string | undefined): number {
  return Math.round(Number(mebibytes ?? 0) * 1024 * 1024);
}
