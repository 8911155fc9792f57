import type { Machine } from "./hardware.ts";

/** A package of the Python index with libraries that the CUDA build needs besides the driver. */
export interface CudaPackage {
  readonly wanted: string;
  readonly files: readonly string[];
}

/** CUDA 13's runtime, as NVIDIA publishes it on the Python index. A download of 447 MB, 610 MB on disk. */
export function cudaPackages(platform: NodeJS.Platform): readonly CudaPackage[] {
  // A library comes after those that it needs, so that an interrupted installation leaves none that cannot load.
  const [runtime, blas] =
    platform === "win32"
      ? [["cudart64_13.dll"], ["cublasLt64_13.dll", "cublas64_13.dll"]]
      : [["libcudart.so.13"], ["libcublasLt.so.13", "libcublas.so.13"]];
  return [
    { wanted: "nvidia-cuda-runtime>=13,<14", files: runtime },
    { wanted: "nvidia-cublas>=13,<14", files: blas },
  ];
}

/** Whether the system has CUDA 13's runtime, so that the CUDA build can load. */
export function hasCudaRuntime(machine: Machine): boolean {
  if (machine.platform === "win32") {
    const toolkits = "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA";
    return machine.list(toolkits).some((name) => /^v13\./.test(name));
  }
  const cache = machine.readText("/etc/ld.so.cache") ?? "";
  return ["libcudart.so.13", "libcublas.so.13"].every((library) => cache.includes(library));
}
