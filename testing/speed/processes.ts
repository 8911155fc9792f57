import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";

/** /proc counts time in ticks of 10 ms on every Linux system that Node supports. */
const tickMs = 10;

/** Finds the local process that listens on a port, and all its descendants. */
export function processTree(port: number): number[] {
  const inode = listeningSocket(port);
  const root = pids().find((pid) => holdsSocket(pid, inode));
  if (root === undefined) throw new Error(`no process on this machine listens on port ${port}`);
  return descendants(root);
}

export function descendants(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const pid of pids()) {
    const parent = Number(statFields(pid)?.[1] ?? 0);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

/** User and system time of these processes so far, including their children that have exited. */
export function cpuMs(tree: readonly number[]): number {
  return tree.reduce((sum, pid) => {
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] =
      statFields(pid)?.slice(11, 15).map(Number) ?? [];
    return sum + (user + system + endedUser + endedSystem) * tickMs;
  }, 0);
}

/** CPU time that all processes of the machine have used so far. */
export function machineMs(): number {
  const [, user, nice, system, , , irq, softirq] = readFileSync("/proc/stat", "utf8")
    .split(/\s+/)
    .map(Number);
  return (user! + nice! + system! + irq! + softirq!) * tickMs;
}

/** Memory of these processes, and memory files that they hold. Pages that several of them share count once. */
export function pssBytes(tree: readonly number[]): number {
  return tree.reduce((sum, pid) => {
    const [, kibibytes] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
    return sum + Number(kibibytes ?? 0) * 1024;
  }, memoryFileBytes(tree));
}

/** Memory files of which these processes have a descriptor and no mapping, so that no PSS counts them. */
export function memoryFileBytes(tree: readonly number[]): number {
  const maps = tree.map((pid) => readFileSync(`/proc/${pid}/maps`, "utf8")).join("");
  const mapped = new Set(Array.from(maps.matchAll(/ (\d+) +\/memfd:/g), ([, inode]) => Number(inode)));
  const bytes = new Map<number, number>();
  for (const pid of tree)
    for (const fd of readdirSync(`/proc/${pid}/fd`)) {
      const path = `/proc/${pid}/fd/${fd}`;
      if (!linkOf(path).startsWith("/memfd:")) continue;
      const { ino, blocks } = statSync(path);
      if (!mapped.has(ino)) bytes.set(ino, blocks * 512);
    }
  return [...bytes.values()].reduce((sum, each) => sum + each, 0);
}

/** Where a link of /proc leads; empty if it is gone. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

/** Memory of a process by the file that is mapped, or by the system's name for memory without a file. */
export function pssByMapping(pid: number): Map<string, number> {
  const bytes = new Map<string, number>();
  let name = "";
  for (const line of readFileSync(`/proc/${pid}/smaps`, "utf8").split("\n")) {
    const mapping = /^[0-9a-f]+-[0-9a-f]+ (?:\S+ +){4}(.*)$/.exec(line);
    if (mapping !== null) name = mapping[1]?.split("/").at(-1) || "without a file";
    const pss = /^Pss:\s+(\d+) kB/.exec(line);
    if (pss !== null) bytes.set(name, (bytes.get(name) ?? 0) + Number(pss[1]) * 1024);
  }
  return bytes;
}

function pids(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** The fields after the command name in /proc/<pid>/stat: state, parent, … */
function statFields(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

function listeningSocket(port: number): string {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of readFileSync(table, "utf8").split("\n").slice(1)) {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
      if (local?.endsWith(`:${hex}`) && state === "0A" && inode !== undefined) return inode;
    }
  }
  return "";
}

function holdsSocket(pid: number, inode: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some(
      (fd) => linkOf(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`,
    );
  } catch {
    return false;
  }
}
