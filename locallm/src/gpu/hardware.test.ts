import { describe, expect, it } from "vitest";
import { findHardware, type Machine } from "./hardware.ts";

/** A machine described by its files. */
function machine(files: Record<string, string>, more: Partial<Machine> = {}): Machine {
  const paths = Object.keys(files);
  return {
    platform: "linux",
    arch: "x64",
    readText: (path) => files[path] ?? null,
    list: (folder) => [
      ...new Set(
        paths
          .filter((path) => path.startsWith(`${folder}/`))
          .map((path) => path.slice(folder.length + 1).split("/")[0]!),
      ),
    ],
    exists: (path) => paths.includes(path),
    ...more,
  };
}

const nvidia = (slot: string, model: string) => ({
  "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04\n",
  [`/proc/driver/nvidia/gpus/${slot}/information`]: `Model: \t\t ${model}\nIRQ:   \t\t 44\n`,
});
const node = (number: number, vendor: string, device: string) => ({
  [`/dev/dri/renderD${number}`]: "",
  [`/sys/class/drm/renderD${number}/device/vendor`]: `${vendor}\n`,
  [`/sys/class/drm/renderD${number}/device/device`]: `${device}\n`,
});

describe("findHardware", () => {
  it.each<[string, Machine, string[]]>([
    ["none", machine({}), []],
    [
      "an NVIDIA driver on Windows",
      machine({ "C:\\Windows\\System32\\nvcuda.dll": "" }, { platform: "win32" }),
      ["nvidia NVIDIA GPU"],
    ],
    [
      "one NVIDIA card",
      machine(nvidia("0000:01:00.0", "NVIDIA H100 80GB HBM3")),
      ["nvidia NVIDIA H100 80GB HBM3"],
    ],
    [
      "two NVIDIA cards, not counted twice by their render nodes",
      machine({
        ...nvidia("0000:01:00.0", "NVIDIA A"),
        ...nvidia("0000:02:00.0", "NVIDIA B"),
        ...node(128, "0x10de", "0x2330"),
      }),
      ["nvidia NVIDIA A", "nvidia NVIDIA B"],
    ],
    [
      "an NVIDIA driver that lists no cards",
      machine({ "/proc/driver/nvidia/version": "x" }),
      ["nvidia NVIDIA GPU"],
    ],
    ["NVIDIA in WSL", machine({ "/usr/lib/wsl/lib/libcuda.so.1": "" }), ["nvidia NVIDIA GPU"]],
    ["NVIDIA with an open-source driver", machine(node(128, "0x10de", "0x1")), ["nvidia NVIDIA GPU 0x1"]],
    ["AMD", machine(node(128, "0x1002", "0x744c")), ["amd AMD GPU 0x744c"]],
    [
      "AMD beside Intel",
      machine({ ...node(128, "0x8086", "0x9a49"), ...node(129, "0x1002", "0x744c") }),
      ["intel Intel GPU 0x9a49", "amd AMD GPU 0x744c"],
    ],
    ["a virtual display", machine(node(128, "0x1af4", "0x1050")), []],
    [
      "a card whose node was not passed to the container",
      machine({ "/sys/class/drm/renderD128/device/vendor": "0x1002" }),
      [],
    ],
    ["Apple Silicon", machine({}, { platform: "darwin", arch: "arm64" }), ["apple Apple Silicon"]],
    ["an Intel Mac", machine({}, { platform: "darwin" }), []],
    ["Windows without the driver of a known vendor", machine({}, { platform: "win32" }), []],
  ])("%s", (_, described, expected) => {
    expect(findHardware(described).map(({ vendor, name }) => `${vendor} ${name}`)).toEqual(expected);
  });
});
