import type { Hardware } from "./hardware.ts";
import { type Backend, enginePackages } from "./packages.ts";

/** The facts that determine which engine build runs models. */
export interface BackendQuestion {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly hardware: readonly Hardware[];
  /** Library folders of the installed backends. */
  readonly installed: Readonly<Partial<Record<Backend, string>>>;
  /** Whether the system has CUDA 13's runtime, without which the CUDA build cannot load. */
  readonly hasCudaRuntime: boolean;
  /** `LOCALLM_INTEL_GPU`. */
  readonly intelGpu: boolean;
  /** `CUDA_VISIBLE_DEVICES`; null if not set. */
  readonly cudaVisibleDevices: string | null;
  /** `GGML_VK_VISIBLE_DEVICES`, the same for Vulkan. */
  readonly vulkanVisibleDevices: string | null;
}

export interface BackendChoice {
  /** Null means the CPU. */
  readonly backend: Backend | null;
  /** The backend's library folder. */
  readonly folder: string | null;
  /** Library folders of the next best backends, tried if this one's driver does not work. */
  readonly furtherFolders: readonly string[];
  readonly why: string;
  /** The build that `locallm doctor --install` would download. Null if there is none. */
  readonly wanted: Backend | null;
}

/**
 * Returns the first installed backend that supports a GPU of this machine: CUDA for NVIDIA; Vulkan for AMD,
 * NVIDIA and (on Linux with LOCALLM_INTEL_GPU) Intel; Metal on Apple Silicon; otherwise the CPU.
 */
export function chooseBackend(question: BackendQuestion): BackendChoice {
  const served = servedBackends(question);
  const found =
    question.hardware.map(({ name }) => name).join(", ") ||
    (served.length > 0 ? "the devices of GGML_VK_VISIBLE_DEVICES" : "");
  const vulkanFirst = prefersVulkan(question, served);
  const wanted = vulkanFirst ? "vulkan" : (served[0] ?? null);
  const installed = served.filter((backend) => question.installed[backend] !== undefined);
  const [folder, ...furtherFolders] = installed.map((backend) => question.installed[backend]!);
  const backend = installed[0];
  if (backend !== undefined && folder !== undefined)
    return { backend, folder, furtherFolders, why: `${found}, using ${words[backend]}`, wanted };
  if (wanted !== null) {
    const reason = vulkanFirst
      ? " (it comes first because CUDA 13's runtime is missing; locallm doctor --install cuda downloads both)"
      : "";
    const why = `${found}; the ${words[wanted]} build is not installed${reason}`;
    return { backend: null, folder: null, furtherFolders: [], why, wanted };
  }
  return { backend: null, folder: null, furtherFolders: [], why: whyNone(question, found), wanted: null };
}

/**
 * The Vulkan build is 73 MB and needs only the driver. The CUDA build without CUDA's runtime on the system needs 590 MB of
 * downloads, so it is for users who ask for it.
 */
function prefersVulkan({ hasCudaRuntime, installed }: BackendQuestion, served: readonly Backend[]): boolean {
  return served[0] === "cuda" && served.includes("vulkan") && !hasCudaRuntime && installed.cuda === undefined;
}

const words: Readonly<Record<Backend, string>> = { cuda: "CUDA", vulkan: "Vulkan", metal: "Metal" };

/** Backends that support the usable GPUs, best first. */
function servedBackends(question: BackendQuestion): Backend[] {
  const offered = enginePackages(question.platform, question.arch).map(({ backend }) => backend);
  return offered.filter((backend) => {
    const has = (vendor: Hardware["vendor"]) => question.hardware.some((gpu) => gpu.vendor === vendor);
    switch (backend) {
      case "cuda":
        return has("nvidia") && !hidesAll(question.cudaVisibleDevices);
      case "metal":
        return has("apple");
      default:
        if (hidesAll(question.vulkanVisibleDevices)) return false;
        // If the user names devices, assume that they exist: they may use a software driver, or a card that
        // no device file shows.
        if (question.vulkanVisibleDevices !== null) return true;
        return (
          has("amd") || (has("nvidia") && !hidesAll(question.cudaVisibleDevices)) || mayUseIntel(question)
        );
    }
  });
}

function mayUseIntel({ platform, hardware, intelGpu }: BackendQuestion): boolean {
  return intelGpu && platform === "linux" && hardware.some(({ vendor }) => vendor === "intel");
}

/** True for an empty list and for one that starts with -1 or "none". */
function hidesAll(list: string | null): boolean {
  return list !== null && /^\s*($|-1\b|none\b|NoDevFiles\b)/i.test(list);
}

function whyNone(question: BackendQuestion, found: string): string {
  const { platform, arch, hardware, intelGpu } = question;
  if (hardware.length === 0) return "no GPU found";
  if (enginePackages(platform, arch).length === 0)
    return `${found}; the engine has no GPU build for ${platform} ${arch}`;
  if (hardware.every(({ vendor }) => vendor === "intel") && !(intelGpu && platform === "linux"))
    return `${found}; on Linux, set LOCALLM_INTEL_GPU=1 to use it with Vulkan`;
  return `${found}; hidden by CUDA_VISIBLE_DEVICES or GGML_VK_VISIBLE_DEVICES`;
}
