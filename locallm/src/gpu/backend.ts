import type { Hardware } from "./hardware.ts";
import { type Backend, enginePackages } from "./packages.ts";

/** What decides which build of the engine runs models. */
export interface BackendQuestion {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly hardware: readonly Hardware[];
  /** Folders of libraries, by the backends that are installed. */
  readonly installed: Readonly<Partial<Record<Backend, string>>>;
  /** `LOCALLM_INTEL_GPU`. */
  readonly intelGpu: boolean;
  /** `CUDA_VISIBLE_DEVICES`; null where it is not set. */
  readonly cudaVisibleDevices: string | null;
  /** `GGML_VK_VISIBLE_DEVICES`, its counterpart for Vulkan. */
  readonly vulkanVisibleDevices: string | null;
}

export interface BackendChoice {
  /** Null: the processor. */
  readonly backend: Backend | null;
  /** The backend's libraries. */
  readonly folder: string | null;
  /** Libraries of the next best backends, should that one's driver not work. */
  readonly furtherFolders: readonly string[];
  readonly why: string;
  /** What `locallm doctor --install` would fetch; null: nothing. */
  readonly wanted: Backend | null;
}

/**
 * The first backend that serves a GPU of this machine and is installed: CUDA for NVIDIA, Vulkan for AMD, NVIDIA and
 * (on Linux, when asked for) Intel, Metal on Apple Silicon; otherwise the processor.
 */
export function chooseBackend(question: BackendQuestion): BackendChoice {
  const served = servedBackends(question);
  const found =
    question.hardware.map(({ name }) => name).join(", ") ||
    (served.length > 0 ? "the devices of GGML_VK_VISIBLE_DEVICES" : "");
  const wanted = served[0] ?? null;
  const installed = served.filter((backend) => question.installed[backend] !== undefined);
  const [folder, ...furtherFolders] = installed.map((backend) => question.installed[backend]!);
  const backend = installed[0];
  if (backend !== undefined && folder !== undefined)
    return { backend, folder, furtherFolders, why: `${found}, by ${words[backend]}`, wanted };
  if (wanted !== null) {
    const why = `${found}; the build for ${words[wanted]} is not installed`;
    return { backend: null, folder: null, furtherFolders: [], why, wanted };
  }
  return { backend: null, folder: null, furtherFolders: [], why: whyNone(question, found), wanted: null };
}

const words: Readonly<Record<Backend, string>> = { cuda: "CUDA", vulkan: "Vulkan", metal: "Metal" };

/** What could serve the GPUs that may be used, best first. */
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
        // Whoever names devices knows that they are there: a software driver, a card that no file shows.
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

/** An empty list, or one that begins with -1 or "none". */
function hidesAll(list: string | null): boolean {
  return list !== null && /^\s*($|-1\b|none\b|NoDevFiles\b)/i.test(list);
}

function whyNone(question: BackendQuestion, found: string): string {
  const { platform, arch, hardware, intelGpu } = question;
  if (hardware.length === 0) return "no GPU found";
  if (enginePackages(platform, arch).length === 0)
    return `${found}; the engine has no build for GPUs on ${platform} ${arch}`;
  if (hardware.every(({ vendor }) => vendor === "intel") && !(intelGpu && platform === "linux"))
    return `${found}; LOCALLM_INTEL_GPU=1 would use it, by Vulkan, on Linux`;
  return `${found}; hidden by CUDA_VISIBLE_DEVICES or GGML_VK_VISIBLE_DEVICES`;
}
