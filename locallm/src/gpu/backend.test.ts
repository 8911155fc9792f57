import { describe, expect, it } from "vitest";
import { type BackendQuestion, chooseBackend } from "./backend.ts";
import type { Hardware, Vendor } from "./hardware.ts";

const gpu = (vendor: Vendor): Hardware => ({ vendor, name: `${vendor} card` });
const both = { cuda: "/cuda", vulkan: "/vulkan" };
const base: BackendQuestion = {
  platform: "linux",
  arch: "x64",
  hardware: [],
  installed: {},
  hasCudaRuntime: true,
  intelGpu: false,
  cudaVisibleDevices: null,
  vulkanVisibleDevices: null,
};

describe("chooseBackend", () => {
  it.each<[string, Partial<BackendQuestion>, string | null, string | null]>([
    ["no GPU", { installed: both }, null, null],
    ["NVIDIA, nothing installed", { hardware: [gpu("nvidia")] }, null, "cuda"],
    ["NVIDIA", { hardware: [gpu("nvidia")], installed: both }, "cuda", "cuda"],
    ["NVIDIA without CUDA's runtime", { hardware: [gpu("nvidia")], hasCudaRuntime: false }, null, "vulkan"],
    [
      "NVIDIA without CUDA's runtime, with the Vulkan build",
      { hardware: [gpu("nvidia")], hasCudaRuntime: false, installed: { vulkan: "/v" } },
      "vulkan",
      "vulkan",
    ],
    [
      "NVIDIA without CUDA's runtime, with the CUDA build, which has its own beside it",
      { hardware: [gpu("nvidia")], hasCudaRuntime: false, installed: both },
      "cuda",
      "cuda",
    ],
    [
      "NVIDIA with the Vulkan build alone",
      { hardware: [gpu("nvidia")], installed: { vulkan: "/v" } },
      "vulkan",
      "cuda",
    ],
    ["AMD, nothing installed", { hardware: [gpu("amd")] }, null, "vulkan"],
    ["AMD", { hardware: [gpu("amd")], installed: both }, "vulkan", "vulkan"],
    ["AMD with only the CUDA build", { hardware: [gpu("amd")], installed: { cuda: "/c" } }, null, "vulkan"],
    ["cards from two vendors", { hardware: [gpu("amd"), gpu("nvidia")], installed: both }, "cuda", "cuda"],
    ["Intel without LOCALLM_INTEL_GPU", { hardware: [gpu("intel")], installed: both }, null, null],
    [
      "Intel with LOCALLM_INTEL_GPU",
      { hardware: [gpu("intel")], installed: both, intelGpu: true },
      "vulkan",
      "vulkan",
    ],
    [
      "Intel with it, not on Linux",
      { hardware: [gpu("intel")], installed: both, intelGpu: true, platform: "win32" },
      null,
      null,
    ],
    ["Intel and AMD", { hardware: [gpu("intel"), gpu("amd")], installed: both }, "vulkan", "vulkan"],
    [
      "NVIDIA, one of its cards visible",
      { hardware: [gpu("nvidia")], installed: both, cudaVisibleDevices: "1" },
      "cuda",
      "cuda",
    ],
    [
      "NVIDIA hidden by -1",
      { hardware: [gpu("nvidia")], installed: both, cudaVisibleDevices: "-1" },
      null,
      null,
    ],
    [
      "NVIDIA hidden by an empty list",
      { hardware: [gpu("nvidia")], installed: both, cudaVisibleDevices: "" },
      null,
      null,
    ],
    [
      "NVIDIA hidden, AMD beside it",
      { hardware: [gpu("nvidia"), gpu("amd")], installed: both, cudaVisibleDevices: "-1" },
      "vulkan",
      "vulkan",
    ],
    ["AMD hidden", { hardware: [gpu("amd")], installed: both, vulkanVisibleDevices: "-1" }, null, null],
    [
      "a device that only the user's variable names",
      { installed: both, vulkanVisibleDevices: "0" },
      "vulkan",
      "vulkan",
    ],
    [
      "Apple Silicon",
      { platform: "darwin", arch: "arm64", hardware: [gpu("apple")], installed: { metal: "/m" } },
      "metal",
      "metal",
    ],
    ["a CPU architecture without a GPU build", { arch: "arm64", hardware: [gpu("nvidia")] }, null, null],
  ])("%s", (_, machine, backend, wanted) => {
    const choice = chooseBackend({ ...base, ...machine });
    expect([choice.backend, choice.wanted]).toEqual([backend, wanted]);
    expect(choice.folder).toBe(
      backend === null ? null : ({ ...base, ...machine }.installed[choice.backend!] ?? null),
    );
    expect(choice.furtherFolders).not.toContain(choice.folder);
    expect(choice.why).not.toMatch(/undefined|^,|^;/);
  });
});
