import { expect, it } from "vitest";
import { availableBytes } from "./available-memory.ts";

const mib = 2 ** 20;
const files = (list: Record<string, string>) => (path: string) => list[path] ?? null;
const host = { "/proc/meminfo": `MemTotal:  9999999 kB\nMemAvailable:  ${8 * 1024 * 1024} kB\n` };

it("equals the system's available memory if no cgroup limits it", () => {
  expect(availableBytes(files(host))).toBe(8192 * mib);
  const unlimited = {
    ...host,
    "/proc/self/cgroup": "0::/user.slice",
    "/sys/fs/cgroup/user.slice/memory.max": "max",
    "/sys/fs/cgroup/user.slice/memory.current": "1",
  };
  expect(availableBytes(files(unlimited))).toBe(8192 * mib);
});

it("counts a container's page cache as free, but not pages mapped by a process", () => {
  const container = {
    ...host,
    "/proc/self/cgroup": "0::/",
    "/sys/fs/cgroup/memory.max": String(1000 * mib),
    "/sys/fs/cgroup/memory.current": String(990 * mib),
    "/sys/fs/cgroup/memory.stat": `anon 5\nfile_mapped ${200 * mib}\ninactive_file ${500 * mib}\nactive_file ${300 * mib}\n`,
  };
  expect(availableBytes(files(container))).toBe(610 * mib);
});

it("applies the tightest limit of all parent cgroups, in cgroup v1 and v2", () => {
  const v2 = {
    ...host,
    "/proc/self/cgroup": "0::/a/b",
    "/sys/fs/cgroup/a/b/memory.max": "max",
    "/sys/fs/cgroup/a/memory.max": String(100 * mib),
    "/sys/fs/cgroup/a/memory.current": String(40 * mib),
  };
  expect(availableBytes(files(v2))).toBe(60 * mib);
  const v1 = {
    ...host,
    "/proc/self/cgroup": "3:cpu:/x\n9:memory,hugetlb:/docker/abc",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes": String(300 * mib),
    "/sys/fs/cgroup/memory/memory.usage_in_bytes": String(290 * mib),
    "/sys/fs/cgroup/memory/memory.stat": `total_inactive_file ${50 * mib}\ntotal_mapped_file ${90 * mib}\n`,
  };
  expect(availableBytes(files(v1))).toBe(10 * mib);
});

it("is never negative, and is positive on this machine", () => {
  const over = {
    ...host,
    "/proc/self/cgroup": "0::/",
    "/sys/fs/cgroup/memory.max": "5",
    "/sys/fs/cgroup/memory.current": "9",
  };
  expect(availableBytes(files(over))).toBe(0);
  expect(availableBytes()).toBeGreaterThan(mib);
});
