import { readdirSync, readFileSync, statSync } from "node:fs";

export type Vendor = "nvidia" | "amd" | "intel" | "apple";

/** A GPU as reported by the operating system, without loading a driver library. */
export interface Hardware {
  readonly vendor: Vendor;
  readonly name: string;
}

/** Access to the machine's device files; tests describe other machines. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  /** Null if the file cannot be read. */
  readText(path: string): string | null;
  /** File names in a folder; empty if the folder does not exist. */
  list(path: string): readonly string[];
  exists(path: string): boolean;
}

export const thisMachine: Machine = {
  platform: process.platform,
  arch: process.arch,
  readText: (path) => quietly(() => readFileSync(path, "utf8")) ?? null,
  list: (path) => quietly(() => readdirSync(path)) ?? [],
  exists: (path) => quietly(() => statSync(path)) !== undefined,
};

/**
 * Lists every GPU by reading a few small files. This takes about a millisecond, so every start can log the
 * result. On Windows it finds only the vendors, by the files of their drivers.
 */
export function findHardware(machine: Machine): Hardware[] {
  if (machine.platform === "darwin")
    return machine.arch === "arm64" ? [{ vendor: "apple", name: "Apple Silicon" }] : [];
  if (machine.platform === "win32") return windowsCards(machine);
  if (machine.platform !== "linux") return [];
  const nvidia = nvidiaCards(machine);
  const others = renderNodes(machine).filter(({ vendor }) => vendor !== "nvidia" || nvidia.length === 0);
  return [...nvidia, ...others];
}

function windowsCards(machine: Machine): Hardware[] {
  const drivers = { nvidia: "nvcuda.dll", amd: "amdvlk64.dll" } as const;
  const folder = "C:\\Windows\\System32";
  return (["nvidia", "amd"] as const)
    .filter((vendor) => machine.exists(`${folder}\\${drivers[vendor]}`))
    .map((vendor) => ({ vendor, name: vendorNames[vendor] }));
}

function nvidiaCards(machine: Machine): Hardware[] {
  const folder = "/proc/driver/nvidia/gpus";
  const cards = machine.list(folder).map((card): Hardware => {
    const text = machine.readText(`${folder}/${card}/information`) ?? "";
    return { vendor: "nvidia", name: /^Model:\s*(.+?)\s*$/m.exec(text)?.[1] ?? "NVIDIA GPU" };
  });
  if (cards.length > 0) return cards;
  const isThere =
    machine.exists("/proc/driver/nvidia/version") || machine.exists("/usr/lib/wsl/lib/libcuda.so.1");
  return isThere ? [{ vendor: "nvidia", name: "NVIDIA GPU" }] : [];
}

const vendors: Readonly<Record<string, Vendor>> = {
  "0x10de": "nvidia",
  "0x1002": "amd",
  "0x8086": "intel",
};
const vendorNames: Readonly<Record<Vendor, string>> = {
  nvidia: "NVIDIA GPU",
  amd: "AMD GPU",
  intel: "Intel GPU",
  apple: "Apple GPU",
};

/** Programs use a card through its render node; a container has only the nodes that were passed to it. */
function renderNodes(machine: Machine): Hardware[] {
  const nodes = machine.list("/dev/dri").filter((name) => /^renderD\d+$/.test(name));
  return nodes.flatMap((node) => {
    const device = `/sys/class/drm/${node}/device`;
    const vendor = vendors[(machine.readText(`${device}/vendor`) ?? "").trim()];
    if (vendor === undefined) return [];
    const id = (machine.readText(`${device}/device`) ?? "").trim();
    return [{ vendor, name: id === "" ? vendorNames[vendor] : `${vendorNames[vendor]} ${id}` }];
  });
}

function quietly<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
