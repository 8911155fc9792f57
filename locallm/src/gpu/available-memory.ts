import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Bytes this process can still allocate, within its container's limit. Page cache counts as free because the kernel
 * reclaims it; otherwise a container that has just read a model file would look full.
 */
export function availableBytes(read: ReadText = readText): number {
  const host = /^MemAvailable: +(\d+) kB$/m.exec(read("/proc/meminfo") ?? "")?.[1];
  if (host === undefined) return process.availableMemory();
  return Math.min(Number(host) * 1024, ...cgroupAvailable(read));
}

/** Reads a text file. Returns null if the file cannot be read. */
export type ReadText = (path: string) => string | null;

/** Available bytes in this process's cgroup and each of its ancestors, for cgroup v1 and v2. */
function cgroupAvailable(read: ReadText): number[] {
  const available: number[] = [];
  for (const line of (read("/proc/self/cgroup") ?? "").split("\n")) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    const isV2 = controllers === "";
    if (!isV2 && !controllers.split(",").includes("memory")) continue;
    const names = isV2 ? v2Names : v1Names;
    // Inside a container the path is often the host's, while the container's own cgroup is mounted at the root.
    const parts = path.split("/").filter((part) => part !== "" && part !== "..");
    for (let depth = parts.length; depth >= 0; depth--) {
      const bytes = groupAvailable(join(names.root, ...parts.slice(0, depth)), names, read);
      if (bytes !== null) available.push(bytes);
    }
  }
  return available;
}

const v2Names = {
  root: "/sys/fs/cgroup",
  limit: "memory.max",
  used: "memory.current",
  cached: /^(?:inactive_file|active_file) (\d+)$/gm,
  mapped: /^file_mapped (\d+)$/m,
};
const v1Names = {
  root: "/sys/fs/cgroup/memory",
  limit: "memory.limit_in_bytes",
  used: "memory.usage_in_bytes",
  cached: /^(?:total_inactive_file|total_active_file) (\d+)$/gm,
  mapped: /^total_mapped_file (\d+)$/m,
};

function groupAvailable(folder: string, names: typeof v2Names, read: ReadText): number | null {
  const limit = Number(read(join(folder, names.limit)) ?? Number.NaN);
  const used = Number(read(join(folder, names.used)) ?? Number.NaN);
  // The text `max` means unlimited.
  if (!Number.isFinite(limit) || !Number.isFinite(used)) return null;
  const statistics = read(join(folder, "memory.stat")) ?? "";
  const cached = [...statistics.matchAll(names.cached)].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
  // Mapped pages are in use: they include the weights of loaded models.
  const mapped = Number(names.mapped.exec(statistics)?.[1] ?? 0);
  return Math.max(0, limit - used + Math.max(0, cached - mapped));
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trimEnd();
  } catch {
    return null;
  }
}
