/**
 * Adds up what the engine allocates for a context. It has no call for that which C can use, only its log:
 * lines such as `KV buffer size = 45.00 MiB`.
 */
export class Allocation {
  contextBytes = 0;
  computeBytes = 0;

  hear(line: string): void {
    const [, kind, mebibytes] = /(\w+) buffer size = +([\d.]+) MiB/.exec(line) ?? [];
    const bytes = Math.round(Number(mebibytes ?? 0) * 1024 * 1024);
    if (kind === "KV" || kind === "RS" || kind === "state") this.contextBytes += bytes;
    else if (kind === "compute" || kind === "output") this.computeBytes += bytes;
  }
}
