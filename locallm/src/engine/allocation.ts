/**
 * Adds up what the engine allocates for a context, and on which device. The C interface has no call for that; the log
 * has lines such as `Vulkan0 KV buffer size = 45.00 MiB`.
 */
export class Allocation {
  contextBytes = 0;
  computeBytes = 0;
  readonly #byDevice = new Map<string, number>();

  hear(line: string): void {
    const [, device = "", kind, mebibytes] = /(\S+) +(\w+) buffer size = +([\d.]+) MiB/.exec(line) ?? [];
    const bytes = Math.round(Number(mebibytes ?? 0) * 1024 * 1024);
    if (kind === "KV" || kind === "RS" || kind === "state") this.contextBytes += bytes;
    else if (kind === "compute" || kind === "output") this.computeBytes += bytes;
    if (kind !== undefined) this.#byDevice.set(device, (this.#byDevice.get(device) ?? 0) + bytes);
  }

  /** Including weights. Host memory that a device only reads is logged under another name. */
  onDevice(name: string): number {
    return this.#byDevice.get(name) ?? 0;
  }
}
