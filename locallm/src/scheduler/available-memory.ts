import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Memory that may still be taken, within what a container allows. The page cache counts as free, since the system gives
 * it up: a container that has just read a model's file would otherwise seem full.
 */
export function availableBytes(read: ReadText = readText): number {
  const host = /^MemAvailable: +(\d+) kB$/m.exec(read("/proc/meminfo") ?? "")?.[1];
  if (host === undefined) return process.availableMemory();
  return Math.min(Number(host) * 1024, ...groupRooms(read));
}

/** Null for a file that cannot be read. */
export type ReadText = (path: string) => string | null;

/** What the control group of this process, and each one above it, still allows; both versions of the interface. */
function groupRooms(read: ReadText): number[] {
  const rooms: number[] = [];
  for (const line of (read("/proc/self/cgroup") ?? "").split("\n")) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    const isSecond = controllers === "";
    if (!isSecond && !controllers.split(",").includes("memory")) continue;
    const names = isSecond ? secondNames : firstNames;
    // In a container the path is often that of the host, while its own group is mounted at the root.
    const parts = path.split("/").filter((part) => part !== "" && part !== "..");
    for (let depth = parts.length; depth >= 0; depth--) {
      const room = groupRoom(join(names.root, ...parts.slice(0, depth)), names, read);
      if (room !== null) rooms.push(room);
    }
  }
  return rooms;
}

const secondNames = {
  root: "/sys/fs/cgroup",
  limit: "memory.max",
  used: "memory.current",
  cached: /^(?:inactive_file|active_file) (\d+)$/gm,
  mapped: /^file_mapped (\d+)$/m,
};
const firstNames = {
  root: "/sys/fs/cgroup/memory",
  limit: "memory.limit_in_bytes",
  used: "memory.usage_in_bytes",
  cached: /^(?:total_inactive_file|total_active_file) (\d+)$/gm,
  mapped: /^total_mapped_file (\d+)$/m,
};

function groupRoom(folder: string, names: typeof secondNames, read: ReadText): number | null {
  const limit = Number(read(join(folder, names.limit)) ?? Number.NaN);
  const used = Number(read(join(folder, names.used)) ?? Number.NaN);
  // `max` is no limit.
  if (!Number.isFinite(limit) || !Number.isFinite(used)) return null;
  const statistics = read(join(folder, "memory.stat")) ?? "";
  const cached = [...statistics.matchAll(names.cached)].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
  // Pages that a process has mapped are in use: a loaded model's weights are such pages.
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
