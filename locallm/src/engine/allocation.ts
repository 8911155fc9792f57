/**
 * Adds up what the engine allocates for a context on each device. The C interface has no call for that, so
 * this class parses log lines such as `llama_kv_cache: size = 45.00 MiB (…)` and `Vulkan0 compute buffer size
 * = 102.51 MiB`.
 */
export class Allocation {
  contextBytes = 0;
  computeBytes = 0;
  /** Layers with a cache. Each has a buffer for keys and one for values. */
  cacheLayers = 0;
  /** The cells of one sequence in the layers with a sliding window, and the bytes of a cell. 0 without such layers. */
  slidingCells = 0;
  slidingCellBytes = 0;
  /** The size of one sequence's recurrent state. */
  stateBytes = 0;
  /** The length in bytes of the vocabulary's longest token, which the C interface does not report either. */
  longestToken: number | null = null;
  readonly #byDevice = new Map<string, number>();

  hear(line: string): void {
    // A dry load allocates no cache, so only this line has its size.
    const [, memory, size, cells, layers] =
      /^llama_(\w+): size = +([\d.]+) MiB \( *(\d+) cells(?:, +(\d+) layers)?/.exec(line) ?? [];
    this.contextBytes += bytesOf(size);
    this.cacheLayers += Number(layers ?? 0);
    const streams = Number(/(\d+) seqs/.exec(line)?.[1] ?? 1);
    if (memory === "memory_recurrent") this.stateBytes = bytesOf(size) / streams;
    else if (memory !== undefined && Number(cells) === this.slidingCells)
      this.slidingCellBytes = bytesOf(size) / streams / this.slidingCells;
    const sliding = /creating +SWA KV cache, size = (\d+) cells/.exec(line)?.[1];
    if (sliding !== undefined) this.slidingCells = Number(sliding);
    const [, device = "", kind, mebibytes] = /(\S+) +(\w+) buffer size = +([\d.]+) MiB/.exec(line) ?? [];
    const bytes = bytesOf(mebibytes);
    if (kind === "compute" || kind === "output") this.computeBytes += bytes;
    const longest = /max token length += (\d+)/.exec(line)?.[1];
    if (longest !== undefined) this.longestToken = Number(longest);
    if (kind !== undefined) this.#byDevice.set(device, (this.#byDevice.get(device) ?? 0) + bytes);
  }

  /**
   * Returns the memory on a device, including weights. Metal has several kinds, such as `MTL0_Mapped`. The engine logs
   * host memory that a device only reads under another name, such as `CUDA_Host`.
   */
  onDevice(name: string): number {
    let bytes = 0;
    for (const [buffer, size] of this.#byDevice)
      if (buffer === name || buffer.startsWith(`${name}_`)) bytes += size;
    return bytes;
  }
}

function bytesOf(mebibytes: string | undefined): number {
  return Math.round(Number(mebibytes ?? 0) * 1024 * 1024);
}
